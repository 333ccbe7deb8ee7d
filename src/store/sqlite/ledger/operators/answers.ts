/** The answers to requests with an Idempotency-Key, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../../values/time.ts'
import { ANSWER_SECONDS, type AnswerClaim, type AnswerKey, type StoredAnswer } from '../../../port/operator.ts'

/** Old answers that one write removes. */
const MAX_REMOVED = 100

type AnswerRow = { request: string; status: number | null; body: string | null }

export function idempotentAnswerWrites(database: DatabaseSync) {
  const removeOld = database.prepare(
    `delete from idempotent_answer where (holder, key) in
       (select holder, key from idempotent_answer where created <= ? limit ${MAX_REMOVED})`,
  )
  const removeOwn = database.prepare('delete from idempotent_answer where holder = ? and key = ? and created <= ?')
  const count = database.prepare('select count(*) as keys from idempotent_answer where holder = ?')
  const read = database.prepare(
    'select lower(hex(request)) as request, status, body from idempotent_answer where holder = ? and key = ?',
  )
  const insert = database.prepare(
    'insert into idempotent_answer (holder, key, request, created) values (?, ?, unhex(?), ?)',
  )
  const store = database.prepare('update idempotent_answer set status = ?, body = ? where holder = ? and key = ?')
  const release = database.prepare('delete from idempotent_answer where holder = ? and key = ? and status is null')
  return {
    claimAnswer(now: Instant, max: number, { holder, key }: AnswerKey, request: string): AnswerClaim {
      removeOld.run(now - ANSWER_SECONDS)
      removeOwn.run(holder, key, now - ANSWER_SECONDS)
      const row = read.get(holder, key) as AnswerRow | undefined
      if (row === undefined) {
        if ((count.get(holder) as { keys: number }).keys >= max) return 'too_many'
        insert.run(holder, key, request, now)
        return 'claimed'
      }
      const { status, body } = row
      if (row.request !== request) return 'other_request'
      return status === null || body === null ? 'unanswered' : { status, body }
    },
    storeAnswer(_now: Instant, { holder, key }: AnswerKey, { status, body }: StoredAnswer): void {
      store.run(status, body, holder, key)
    },
    releaseAnswer(_now: Instant, { holder, key }: AnswerKey): void {
      release.run(holder, key)
    },
  }
}
