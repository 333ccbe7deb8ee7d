/** The ledger on PostgreSQL, and the wishes beside it: every process writes for itself, exact by the locks of rows. */

import type { Instant } from '../../words/time.ts'
import type { Ledger } from '../ledger.ts'
import { givenSecrets } from '../secrets.ts'
import type { Wishes } from '../wishes.ts'
import type { Database } from './database.ts'
import { accountReads, accountWrites } from './ledger/accounts.ts'
import { auditOf } from './ledger/audit.ts'
import { budgetReads, type Call, carefulWriter } from './ledger/budget.ts'
import { downloadReads } from './ledger/downloads.ts'
import { durable } from './ledger/durable.ts'
import { penOf } from './ledger/pen.ts'
import { acceptGiven, secretsOf, secretWrites } from './ledger/secrets.ts'
import { standingOf } from './ledger/standing.ts'
import { tokensOf, tokenWrites } from './ledger/tokens.ts'
import { usageOf } from './ledger/usage.ts'
import { wishesOf } from './ledger/wishes.ts'

export const LEDGER_SCHEMA = new URL('./schema/ledger/', import.meta.url)

export type LedgerOptions = {
  /** `NEW` or `NEW,FORMER`; null: the secret that the store makes. */
  secret: string | null
  /** The server's clock by default. */
  now?: (() => Instant) | undefined
}

/** Opens the ledger of a database whose tables are there; closing it leaves the database open. Throws StoreFault. */
export async function openLedger(
  opened: Database,
  { secret, now }: LedgerOptions,
): Promise<Ledger & Wishes & { close(): Promise<void> }> {
  const database = { ...opened, transaction: durable(opened) }
  const given = secret === null ? null : givenSecrets(secret)
  if (given !== null) await acceptGiven(database, given)
  const { send, idle } = penOf<Call>(carefulWriter(database))
  return {
    ...accountReads(database),
    ...tokensOf(database),
    ...standingOf(database),
    ...budgetReads(database),
    ...downloadReads(database),
    ...budgetWrites((call, at = now?.() ?? null) => send(call, at)),
    ...usageOf(database),
    ...auditOf(database),
    ...secretsOf(database, given),
    ...wishesOf(database),
    as: (actor) => ({
      ...accountWrites(database, actor, () => now?.() ?? null),
      ...tokenWrites(database, actor),
      ...secretWrites(database, given, actor),
    }),
    close: idle,
  }
}

function budgetWrites(write: (call: Call, now?: Instant | null) => Promise<unknown>) {
  return {
    take: (ask) => write({ kind: 'take', ask }),
    pay: (purchase) => write({ kind: 'pay', purchase }),
    settle: (settlements) => write({ kind: 'settle', settlements }),
    giveBack: (account, day) => write({ kind: 'giveBack', account, day }),
    beat: (holder, now) => write({ kind: 'beat', holder }, now),
  } as Pick<Ledger, 'take' | 'pay' | 'settle' | 'giveBack' | 'beat'>
}
