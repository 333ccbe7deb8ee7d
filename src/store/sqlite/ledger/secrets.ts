/** The installation's secrets: those that the operator gave, or those that the store makes for itself. */

import { createHash, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../words/time.ts'
import { StoreFault } from '../../fault.ts'
import type { Secret } from '../../ledger.ts'

const SECRET_BYTES = 32
const LEAST_CHARACTERS = 32
const UNSETTLED = 10 // seconds for which a replaced secret still signs, so that every process knows the new one before it is used
const HONOURED = 86_400 // seconds for which a replaced secret still counts

/** The secrets in a text, `NEW` or `NEW,FORMER`. Throws StoreFault. */
export function givenSecrets(text: string): Secret[] {
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.length > 2)
    throw new StoreFault(
      'DOMAINDEX_SECRET holds more than two secrets: give the new one and, behind a comma, the former one',
    )
  for (const { length } of secrets) {
    if (length < LEAST_CHARACTERS)
      throw new StoreFault(
        `DOMAINDEX_SECRET holds a secret of ${length} characters: give at least ${LEAST_CHARACTERS}, such as "openssl rand -hex 32" prints`,
      )
  }
  return secrets.map((secret) => numbered(Buffer.from(secret)))
}

/** Those that the store made and that still count, the one to sign with first. */
export function secretReads(database: DatabaseSync) {
  const read = database.prepare(
    `select number, bytes from secret where replaced is null or replaced > ?
     order by coalesce(replaced > ?, 0) desc, coalesce(replaced, 9e15) desc, number`,
  )
  return {
    secrets: (now: Instant): Secret[] =>
      (read.all(now - HONOURED, now - UNSETTLED) as Secret[]).map((row) => ({ ...row })),
  }
}

export function secretWrites(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into secret (number, bytes) select ?, ? where not exists (select 1 from secret where replaced is null)`,
  )
  const replace = database.prepare('update secret set replaced = ? where replaced is null')
  const remove = database.prepare('delete from secret where replaced <= ?')
  /** Makes one where there is none. */
  const makeSecret = (): void => {
    const { number, bytes } = numbered(randomBytes(SECRET_BYTES))
    insert.run(number, bytes)
  }
  return {
    makeSecret,
    rotateSecret(now: Instant): void {
      remove.run(now - HONOURED)
      replace.run(now)
      makeSecret()
    },
  }
}

/** The number, 32 bits, follows from the secret itself, so that every process and machine finds the same one. */
function numbered(bytes: Buffer): Secret {
  const digest = createHash('sha256').update('domaindex: number of a secret\n').update(bytes).digest()
  return { number: digest.readUInt32BE(0), bytes }
}
