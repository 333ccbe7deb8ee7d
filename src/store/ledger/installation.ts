/** What belongs to the installation: its secrets, and the marks of the places where it keeps files. */

import type { Actor } from '../../accounts/audit.ts'
import type { Instant } from '../../values/time.ts'
import { StoreFault } from '../port/fault.ts'
import type { PlaceName, Secret } from '../port/ledger.ts'
import { FORMER_SECRET_SECONDS, generateSecret, SIGNING_DELAY_SECONDS } from '../shared/secrets.ts'
import { auditInstallation } from './audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from './session.ts'

export const INSTALLATION = ledgerStatements('installation', {
  secrets: `select number, bytes from secret where replaced_at is null or replaced_at > $1
    order by case when replaced_at > $2 then 1 else 0 end desc, coalesce(replaced_at, 9000000000000000) desc, number`,
  addSecret: `insert into secret (number, bytes) select $1, $2
    where not exists (select 1 from secret where replaced_at is null) on conflict do nothing`,
  lockSecret: 'select bytes from secret where replaced_at is null for update',
  replaceSecret: 'update secret set replaced_at = $1 where replaced_at is null',
  removeSecrets: 'delete from secret where replaced_at <= $1',
  placeMark: 'select mark from place_mark where place = $1',
  claimPlace: `insert into place_mark (place, mark) values ($1, $2)
    on conflict (place) do update set mark = excluded.mark where place_mark.mark = $3`,
})

/** `bytes` null: the operator has set the secret, and the store has only its digest. */
type SecretRow = { number: number; bytes: Uint8Array | null }

const SECRET_UNSET_MESSAGE =
  'the secret of this installation is set by DOMAINDEX_SECRET: set it for this process to the same value'

export function installationReads(read: LedgerRead) {
  return {
    placeMark: async (place: PlaceName) =>
      (await read<{ mark: string }>(INSTALLATION.placeMark, [place]))[0]?.mark ?? null,
    /**
     * The generated secrets that are still accepted; the first one signs. Throws StoreFault if the operator has set it.
     */
    async generatedSecrets(now: Instant): Promise<Secret[]> {
      const values = [now - FORMER_SECRET_SECONDS, now - SIGNING_DELAY_SECONDS]
      return (await read<SecretRow>(INSTALLATION.secrets, values)).map(({ number, bytes }) => {
        if (bytes === null) throw new StoreFault(SECRET_UNSET_MESSAGE)
        return { number, bytes }
      })
    },
  }
}

export const installationTransactions = {
  *makeSecret(now: Instant, actor: Actor): Transaction<void> {
    yield* addSecret(now, actor, 'secret.create')
  },
  *rotateSecret(now: Instant, actor: Actor): Transaction<void> {
    const active = yield* row<{ bytes: Uint8Array | null }>(INSTALLATION.lockSecret, [])
    if (active?.bytes === null) throw new StoreFault(SECRET_UNSET_MESSAGE)
    yield* run(INSTALLATION.removeSecrets, [now - FORMER_SECRET_SECONDS])
    yield* run(INSTALLATION.replaceSecret, [now])
    yield* addSecret(now, actor, 'secret.rotate')
  },
  *claimPlace(_now: Instant, place: PlaceName, mark: string, former: string | null): Transaction<string> {
    yield* run(INSTALLATION.claimPlace, [place, mark, former])
    return (yield* row<{ mark: string }>(INSTALLATION.placeMark, [place]))!.mark
  },
}

/** Adds a secret if none is active. */
function* addSecret(now: Instant, actor: Actor, action: 'secret.create' | 'secret.rotate'): Transaction<void> {
  const { number, bytes } = generateSecret()
  if ((yield* run(INSTALLATION.addSecret, [number, bytes])) === 1)
    yield* auditInstallation(now, actor, action, { number })
}
