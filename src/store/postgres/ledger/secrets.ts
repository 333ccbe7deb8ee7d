/** The installation's secrets on PostgreSQL: made by the store, or given to every process and known here by a digest. */

import { createHash } from 'node:crypto'
import type { Actor } from '../../../accounts/audit.ts'
import type { Instant } from '../../../values/time.ts'
import { StoreFault } from '../../port/fault.ts'
import type { LedgerChanges, Secret } from '../../port/ledger.ts'
import { STORE_ACTOR } from '../../shared/actor.ts'
import {
  FORMER_SECRET_SECONDS,
  GIVEN_SECRET_MESSAGE,
  generateSecret,
  SIGNING_DELAY_SECONDS,
} from '../../shared/secrets.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { writeInstallationAudit } from './audit.ts'

/** `bytes` null: the secret is given, and only its digest is kept. */
type SecretRow = { number: number; bytes: Buffer | null }

const READ_SECRETS = {
  name: 'secret.read',
  text: `select number, bytes from secret where replaced_at is null or replaced_at > $1
    order by coalesce(replaced_at > $2, false) desc, coalesce(replaced_at, 9e15) desc, number`,
}
const INSERT_SECRET = {
  name: 'secret.insert',
  text: 'insert into secret (number, bytes, digest) values ($1, $2, $3) on conflict do nothing',
}
const READ_SECRET_DIGEST = { name: 'secret.digest', text: 'select digest from secret where replaced_at is null' }
const LOCK_SECRET_IN_FORCE = { name: 'secret.in_force', text: `${READ_SECRET_DIGEST.text} for update` }
const REPLACE_GIVEN_SECRET = {
  name: 'secret.replace-given',
  text: 'update secret set number = $1, digest = $2 where replaced_at is null',
}
const MARK_SECRET_REPLACED = {
  name: 'secret.replace',
  text: 'update secret set replaced_at = $1 where replaced_at is null',
}
const DELETE_OLD_SECRETS = { name: 'secret.delete-old', text: 'delete from secret where replaced_at <= $1' }

const SECRET_DOC_HINT = 'docs/postgresql.md says how to replace it'
const WRONG_SECRET_MESSAGE = `DOMAINDEX_SECRET is not the secret of this installation: give every process the same one (${SECRET_DOC_HINT})`
const STORE_SECRET_MESSAGE = `this installation has made a secret for itself, and DOMAINDEX_SECRET gives another one: unset it (${SECRET_DOC_HINT})`
const SECRET_UNSET_MESSAGE =
  'the secret of this installation is given by DOMAINDEX_SECRET: set it here too, to what the others have'

/** With `given` null the secret is the store's own. */
export function postgresSecrets({ read, transaction }: Pick<Database, 'read' | 'transaction'>, given: Secret[] | null) {
  const readSecrets = async (now: Instant): Promise<Secret[]> =>
    (await read<SecretRow>(READ_SECRETS, [now - FORMER_SECRET_SECONDS, now - SIGNING_DELAY_SECONDS])).map(
      ({ number, bytes }) => {
        if (bytes === null) throw new StoreFault(SECRET_UNSET_MESSAGE)
        return { number, bytes }
      },
    )
  return {
    async secrets(now: Instant): Promise<Secret[]> {
      if (given !== null) return given
      const made = await readSecrets(now)
      if (made.length > 0) return made
      await transaction((session) => addSecret(session, generateSecret(), null, secretAuditEntry('secret.create', now)))
      return readSecrets(now)
    },
  }
}

export function postgresSecretWrites(
  { transaction }: Pick<Database, 'transaction'>,
  given: Secret[] | null,
  actor: Actor,
): Pick<LedgerChanges, 'rotateSecret'> {
  return {
    async rotateSecret(now) {
      if (given !== null) throw new StoreFault(GIVEN_SECRET_MESSAGE)
      await transaction(async (session) => {
        const [inForce] = await session.rows<{ digest: Buffer | null }>(LOCK_SECRET_IN_FORCE)
        if (inForce?.digest) throw new StoreFault(SECRET_UNSET_MESSAGE)
        await session.run(DELETE_OLD_SECRETS, [now - FORMER_SECRET_SECONDS])
        await session.run(MARK_SECRET_REPLACED, [now])
        await addSecret(session, generateSecret(), null, { actor, action: 'secret.rotate', now })
      })
    },
  }
}

/** Compares given secrets with the installation's; the first of them is its secret from now on. Throws StoreFault. */
export async function acceptGiven(
  { read, transaction }: Pick<Database, 'read' | 'transaction'>,
  given: readonly Secret[],
): Promise<void> {
  const digests = given.map(({ bytes }) => secretDigest(bytes))
  const [current] = await read<{ digest: Buffer | null }>(READ_SECRET_DIGEST)
  if (current?.digest?.equals(digests[0]!)) return
  await transaction(async (session) => {
    await addSecret(session, given[0]!, digests[0]!, secretAuditEntry('secret.give', null))
    const [inForce] = await session.rows<{ digest: Buffer | null }>(LOCK_SECRET_IN_FORCE)
    const index = digests.findIndex((digest) => inForce?.digest?.equals(digest))
    if (index < 0) throw new StoreFault(inForce?.digest ? WRONG_SECRET_MESSAGE : STORE_SECRET_MESSAGE)
    if (index === 0) return
    await session.run(REPLACE_GIVEN_SECRET, [given[0]!.number, digests[0]])
    await writeInstallationAudit(session, STORE_ACTOR, null, 'secret.give', { number: given[0]!.number })
  })
}

function secretDigest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update('domaindex: digest of a secret\n').update(bytes).digest()
}

/** How a secret that is added shows in the audit log; `now` null: at the server's time. */
type SecretAuditEntry = { actor: Actor; action: 'secret.create' | 'secret.rotate' | 'secret.give'; now: Instant | null }

const secretAuditEntry = (action: SecretAuditEntry['action'], now: Instant | null): SecretAuditEntry => ({
  actor: STORE_ACTOR,
  action,
  now,
})

/** Adds a secret where none is in force: a given one by its digest, otherwise whole. */
async function addSecret(
  session: Session,
  { number, bytes }: Secret,
  digest: Uint8Array | null,
  { actor, action, now }: SecretAuditEntry,
): Promise<void> {
  const added = await session.run(INSERT_SECRET, [number, digest === null ? bytes : null, digest])
  if (added === 1) await writeInstallationAudit(session, actor, now, action, { number })
}
