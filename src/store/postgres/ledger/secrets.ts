/** The secrets that the operator sets for every process, of which PostgreSQL stores a digest. */

import { createHash } from 'node:crypto'
import type { Instant } from '../../../values/time.ts'
import { auditInstallation } from '../../ledger/audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from '../../ledger/session.ts'
import { StoreFault } from '../../port/fault.ts'
import type { Secret } from '../../port/ledger.ts'
import { STORE_ACTOR } from '../../shared/actor.ts'

const DIGESTS = ledgerStatements('digest', {
  read: 'select digest from secret where replaced_at is null',
  lock: 'select digest from secret where replaced_at is null for update',
  add: 'insert into secret (number, digest) values ($1, $2) on conflict do nothing',
  replace: 'update secret set number = $1, digest = $2 where replaced_at is null',
})

type DigestRow = { digest: Buffer | null }

const SECRET_DOC_HINT = 'docs/postgresql.md says how to replace it'
const WRONG_SECRET_MESSAGE = `DOMAINDEX_SECRET is not the secret of this installation: give every process the same one (${SECRET_DOC_HINT})`
const STORE_SECRET_MESSAGE = `this installation has generated its own secret, but DOMAINDEX_SECRET sets another one: unset it (${SECRET_DOC_HINT})`

/**
 * Compares the operator's secrets with the installation's. The first one becomes the installation's secret. Throws
 * StoreFault.
 */
export async function acceptConfiguredSecrets(
  read: LedgerRead,
  transaction: (work: () => Transaction<void>) => Promise<void>,
  configured: readonly Secret[],
  now: Instant,
): Promise<void> {
  const digests = configured.map(({ bytes }) => secretDigest(bytes))
  const [current] = await read<DigestRow>(DIGESTS.read)
  if (current?.digest?.equals(digests[0]!)) return
  await transaction(() => acceptDigests(now, configured[0]!.number, digests))
}

/** `number`: that of the first secret. */
function* acceptDigests(now: Instant, number: number, digests: readonly Buffer[]): Transaction<void> {
  if ((yield* run(DIGESTS.add, [number, digests[0]])) === 1)
    yield* auditInstallation(now, STORE_ACTOR, 'secret.give', { number })
  const active = yield* row<DigestRow>(DIGESTS.lock, [])
  const index = digests.findIndex((digest) => active?.digest?.equals(digest))
  if (index < 0) throw new StoreFault(active?.digest ? WRONG_SECRET_MESSAGE : STORE_SECRET_MESSAGE)
  if (index === 0) return
  yield* run(DIGESTS.replace, [number, digests[0]])
  yield* auditInstallation(now, STORE_ACTOR, 'secret.give', { number })
}

function secretDigest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update('domaindex: digest of a secret\n').update(bytes).digest()
}
