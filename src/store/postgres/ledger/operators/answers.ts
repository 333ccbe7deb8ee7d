/** The answers to requests with an Idempotency-Key, on PostgreSQL. */

import type { Instant } from '../../../../values/time.ts'
import { ANSWER_SECONDS, type AnswerClaim, type AnswerKey, type OperatorLedger } from '../../../port/operator.ts'
import type { Database } from '../../database/database.ts'
import type { Session } from '../../database/transaction.ts'

/** Old answers that one write removes. */
const MAX_REMOVED = 100

/** Skips rows that another process removes. */
const REMOVE_OLD_ANSWERS = {
  name: 'answer.old',
  text: `delete from idempotent_answer where (holder, key) in
    (select holder, key from idempotent_answer where created <= $1 limit ${MAX_REMOVED} for update skip locked)`,
}
const REMOVE_OWN_ANSWER = {
  name: 'answer.own',
  text: 'delete from idempotent_answer where holder = $1 and key = $2 and created <= $3',
}
/** Waits for another process that claims the same key. */
const CLAIM_ANSWER = {
  name: 'answer.claim',
  text: `insert into idempotent_answer (holder, key, request, created)
    select $1, $2, $3, $4::bigint where (select count(*) from idempotent_answer where holder = $1) < $5::bigint
    on conflict (holder, key) do nothing`,
}
const READ_ANSWER = {
  name: 'answer.read',
  text: 'select request, status, body from idempotent_answer where holder = $1 and key = $2',
}
const STORE_ANSWER = {
  name: 'answer.store',
  text: 'update idempotent_answer set status = $3, body = $4 where holder = $1 and key = $2',
}
const RELEASE_ANSWER = {
  name: 'answer.release',
  text: 'delete from idempotent_answer where holder = $1 and key = $2 and status is null',
}

type AnswerRow = { request: Uint8Array; status: number | null; body: string | null }

export function idempotentAnswers({ transaction }: Pick<Database, 'transaction'>) {
  return {
    async claimAnswer(max, key, request, now) {
      await transaction(({ run }) => run(REMOVE_OLD_ANSWERS, [now - ANSWER_SECONDS]))
      return transaction((session) => claimAnswer(session, max, key, request, now))
    },
    storeAnswer: ({ holder, key }, { status, body }) =>
      transaction(async ({ run }) => void (await run(STORE_ANSWER, [holder, key, status, body]))),
    releaseAnswer: ({ holder, key }) => transaction(async ({ run }) => void (await run(RELEASE_ANSWER, [holder, key]))),
  } satisfies Partial<OperatorLedger>
}

async function claimAnswer(
  { run, rows }: Session,
  max: number,
  { holder, key }: AnswerKey,
  request: Uint8Array,
  now: Instant,
): Promise<AnswerClaim> {
  await run(REMOVE_OWN_ANSWER, [holder, key, now - ANSWER_SECONDS])
  if ((await run(CLAIM_ANSWER, [holder, key, request, now, max])) === 1) return 'claimed'
  const [row] = await rows<AnswerRow>(READ_ANSWER, [holder, key])
  if (row === undefined) return 'too_many'
  const { status, body } = row
  if (Buffer.compare(row.request, request) !== 0) return 'other_request'
  return status === null || body === null ? 'unanswered' : { status, body }
}
