/** The secrets that the store generates, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../accounts/audit.ts'
import type { Instant } from '../../../values/time.ts'
import type { Secret } from '../../port/ledger.ts'
import { FORMER_SECRET_SECONDS, generateSecret, SIGNING_DELAY_SECONDS } from '../../shared/secrets.ts'
import { auditWrites } from './audit.ts'

/** The generated secrets that are still accepted; the first one signs. */
export function secretReads(database: DatabaseSync) {
  const read = database.prepare(
    `select number, bytes from secret where replaced_at is null or replaced_at > ?
     order by coalesce(replaced_at > ?, 0) desc, coalesce(replaced_at, 9e15) desc, number`,
  )
  return {
    secrets: (now: Instant): Secret[] =>
      (read.all(now - FORMER_SECRET_SECONDS, now - SIGNING_DELAY_SECONDS) as Secret[]).map((row) => ({ ...row })),
  }
}

export function sqliteSecretWrites(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into secret (number, bytes) select ?, ? where not exists (select 1 from secret where replaced_at is null)`,
  )
  const replace = database.prepare('update secret set replaced_at = ? where replaced_at is null')
  const remove = database.prepare('delete from secret where replaced_at <= ?')
  const { ofInstallation } = auditWrites(database)
  /** Creates one if there is none. */
  const addSecret = (now: Instant, actor: Actor, action: 'secret.create' | 'secret.rotate'): void => {
    const { number, bytes } = generateSecret()
    if (insert.run(number, bytes).changes === 1) ofInstallation(now, actor, action, { number })
  }
  return {
    makeSecret: (now: Instant, actor: Actor): void => addSecret(now, actor, 'secret.create'),
    rotateSecret(now: Instant, actor: Actor): void {
      remove.run(now - FORMER_SECRET_SECONDS)
      replace.run(now)
      addSecret(now, actor, 'secret.rotate')
    },
  }
}
