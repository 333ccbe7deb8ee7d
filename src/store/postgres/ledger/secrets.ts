/** The installation's secrets on PostgreSQL: made by the store, or given to every process and known here by a digest. */

import { createHash } from 'node:crypto'
import type { Actor } from '../../../accounts/audit.ts'
import type { Instant } from '../../../words/time.ts'
import { OWN_ACTOR } from '../../actor.ts'
import { StoreFault } from '../../fault.ts'
import type { Changes, Secret } from '../../ledger.ts'
import { GIVEN, HONOURED, makeSecret, UNSETTLED } from '../../secrets.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'
import { logInstallation } from './audit.ts'

/** `bytes` null: the secret is given, and only its digest is kept. */
type Row = { number: number; bytes: Buffer | null }

const READ = {
  name: 'secret.read',
  text: `select number, bytes from secret where replaced is null or replaced > $1
    order by coalesce(replaced > $2, false) desc, coalesce(replaced, 9e15) desc, number`,
}
const INSERT = {
  name: 'secret.insert',
  text: 'insert into secret (number, bytes, digest) values ($1, $2, $3) on conflict do nothing',
}
const KNOWN = { name: 'secret.known', text: 'select digest from secret where replaced is null' }
const IN_FORCE = { name: 'secret.in_force', text: `${KNOWN.text} for update` }
const FOLLOW = { name: 'secret.follow', text: 'update secret set number = $1, digest = $2 where replaced is null' }
const REPLACE = { name: 'secret.replace', text: 'update secret set replaced = $1 where replaced is null' }
const FORGET = { name: 'secret.forget', text: 'delete from secret where replaced <= $1' }

const HOW = 'docs/operating.md says how to change over'
const ANOTHER = `DOMAINDEX_SECRET is not the secret of this installation: give every process the same one (${HOW})`
const MADE = `this installation has made a secret for itself, and DOMAINDEX_SECRET gives another one: unset it (${HOW})`
const UNSET = 'the secret of this installation is given by DOMAINDEX_SECRET: set it here too, to what the others have'

/** With `given` null the secret is the store's own. */
export function secretsOf({ read, transaction }: Pick<Database, 'read' | 'transaction'>, given: Secret[] | null) {
  const kept = async (now: Instant): Promise<Secret[]> =>
    (await read<Row>(READ, [now - HONOURED, now - UNSETTLED])).map(({ number, bytes }) => {
      if (bytes === null) throw new StoreFault(UNSET)
      return { number, bytes }
    })
  return {
    async secrets(now: Instant): Promise<Secret[]> {
      if (given !== null) return given
      const made = await kept(now)
      if (made.length > 0) return made
      await transaction((session) => add(session, makeSecret(), null, entry('secret.create', now)))
      return kept(now)
    },
  }
}

export function secretWrites(
  { transaction }: Pick<Database, 'transaction'>,
  given: Secret[] | null,
  actor: Actor,
): Pick<Changes, 'rotateSecret'> {
  return {
    async rotateSecret(now) {
      if (given !== null) throw new StoreFault(GIVEN)
      await transaction(async (session) => {
        const [inForce] = await session.rows<{ digest: Buffer | null }>(IN_FORCE)
        if (inForce?.digest) throw new StoreFault(UNSET)
        await session.run(FORGET, [now - HONOURED])
        await session.run(REPLACE, [now])
        await add(session, makeSecret(), null, { actor, action: 'secret.rotate', now })
      })
    },
  }
}

/** Compares given secrets with the installation's; the first of them is its secret from now on. Throws StoreFault. */
export async function acceptGiven(
  { read, transaction }: Pick<Database, 'read' | 'transaction'>,
  given: readonly Secret[],
): Promise<void> {
  const digests = given.map(({ bytes }) => digestOf(bytes))
  const [known] = await read<{ digest: Buffer | null }>(KNOWN)
  if (known?.digest?.equals(digests[0]!)) return
  await transaction(async (session) => {
    await add(session, given[0]!, digests[0]!, entry('secret.give', null))
    const [inForce] = await session.rows<{ digest: Buffer | null }>(IN_FORCE)
    const place = digests.findIndex((digest) => inForce?.digest?.equals(digest))
    if (place < 0) throw new StoreFault(inForce?.digest ? ANOTHER : MADE)
    if (place === 0) return
    await session.run(FOLLOW, [given[0]!.number, digests[0]])
    await logInstallation(session, OWN_ACTOR, null, 'secret.give', { number: given[0]!.number })
  })
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update('domaindex: digest of a secret\n').update(bytes).digest()
}

/** How a secret that is added shows in the audit log; `now` null: at the server's time. */
type Entry = { actor: Actor; action: 'secret.create' | 'secret.rotate' | 'secret.give'; now: Instant | null }

const entry = (action: Entry['action'], now: Instant | null): Entry => ({ actor: OWN_ACTOR, action, now })

/** Adds a secret where none is in force: a given one by its digest, otherwise whole. */
async function add(
  session: Session,
  { number, bytes }: Secret,
  digest: Uint8Array | null,
  { actor, action, now }: Entry,
): Promise<void> {
  const added = await session.run(INSERT, [number, digest === null ? bytes : null, digest])
  if (added === 1) await logInstallation(session, actor, now, action, { number })
}
