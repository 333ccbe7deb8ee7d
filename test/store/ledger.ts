/** The conformance suite of the ledger, for every engine and every kind of writer. */

import { accounts } from './ledger/accounts.ts'
import { audit } from './ledger/audit.ts'
import { budgets } from './ledger/budgets.ts'
import { crawlRequests } from './ledger/crawl-requests.ts'
import { downloads } from './ledger/downloads.ts'
import type { LedgerEngine } from './ledger/engine.ts'
import { interleavings } from './ledger/interleavings.ts'
import { secrets } from './ledger/secrets.ts'
import { tokens } from './ledger/tokens.ts'
import { usage } from './ledger/usage.ts'

export function ledgerConformance(engine: LedgerEngine): void {
  for (const part of [accounts, audit, tokens, budgets, downloads, interleavings, usage, crawlRequests, secrets])
    part(engine)
}
