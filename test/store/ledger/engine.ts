/** The interface of a ledger's engine for the tests, and how a test gets a ledger from it. */

import { test } from 'node:test'
import type { Account, NewAccount } from '../../../src/accounts/account.ts'
import type { QuotaGrant } from '../../../src/accounts/budget-arithmetic.ts'
import type { NewToken } from '../../../src/accounts/token.ts'
import type { CrawlRequests } from '../../../src/store/port/crawl-requests.ts'
import type { Ledger, QuotaRequest } from '../../../src/store/port/ledger.ts'
import type { Day, Instant } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import type { LeasedUnits } from './leased-units.ts'

/** The ledger's clock, set by the test. */
export type Clock = { now: Instant }

/** The ledger, and the crawl requests that are stored with it. */
export type LedgerAndCrawlRequests = Ledger & CrawlRequests

export type OpenedLedger = {
  ledger: LedgerAndCrawlRequests
  /** Opens another ledger on the same data, as another process does. */
  another(): Promise<LedgerAndCrawlRequests>
  /** The units of all leases of an account's day, read from the tables. */
  leasedUnits: LeasedUnits
  /** Closes all of them and removes the data. */
  close(): Promise<void>
}

export type LedgerEngine = {
  name: string
  /** The number of random histories to run. */
  runs: number
  /** Opens an empty ledger. `secret` as in DOMAINDEX_SECRET, null for the store's own. */
  open(clock: Clock, secret: string | null): Promise<OpenedLedger>
}

export type World = Omit<OpenedLedger, 'close'> & {
  clock: Clock
  /** Takes units. Also returns how many units are leased afterwards. */
  take(request: QuotaRequest): Promise<QuotaGrant & { leased: number }>
}

/** Noon of TODAY. */
export const NOW = 1_795_176_000
export const TODAY = '2026-11-20' as Day

/** A test on a new ledger. */
export function on(
  engine: LedgerEngine,
  sentence: string,
  operation: (world: World) => Promise<void>,
  secret: string | null = null,
): void {
  test(`${engine.name}: ${sentence}`, async () => {
    const clock = { now: NOW }
    const { close, ...opened } = await engine.open(clock, secret)
    const take: World['take'] = async (request) => {
      const grant = await opened.ledger.takeQuota(request)
      return { ...grant, leased: await opened.leasedUnits(request.account, request.day) }
    }
    try {
      await operation({ ...opened, clock, take })
    } finally {
      await close()
    }
  })
}

export const ANN: NewAccount = { email: 'ann@example.com', role: 'user', plan: 'free', periods: [], addons: [] }

export const newToken = (name: string, byte: number, expires: Instant | null = null): NewToken => ({
  name,
  hint: 'dxt_abcd',
  hash: new Uint8Array(32).fill(byte),
  expires,
})

/** Creates an account that must not exist yet. */
export async function made(ledger: Ledger, account: Partial<NewAccount> = {}): Promise<Account> {
  const result = await ledger.as(TESTER).createAccount({ ...ANN, ...account }, NOW)
  if (result === null) throw new Error('the account is there already')
  return result
}
