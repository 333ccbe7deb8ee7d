/** The conformance suite of the ledger, for every engine and every kind of writer. */

import { accounts } from './accounts.ts'
import { audit } from './audit.ts'
import { budgets } from './budgets.ts'
import { crawlRequests } from './crawl-requests.ts'
import { downloads } from './downloads.ts'
import type { LedgerEngine } from './engine.ts'
import { interleavings } from './interleavings.ts'
import { operators } from './operators/operators.ts'
import { pruning } from './operators/pruning.ts'
import { placeMarks } from './place-marks.ts'
import { secrets } from './secrets.ts'
import { signIns } from './sign-ins.ts'
import { tokens } from './tokens.ts'
import { usage } from './usage.ts'

/** What concurrent processes decide together. */
const CONCURRENT = [budgets, downloads, interleavings, crawlRequests]
const OTHERS = [accounts, audit, tokens, usage, secrets, placeMarks, signIns, operators, pruning]

export function ledgerConformance(engine: LedgerEngine): void {
  for (const part of [...CONCURRENT, ...OTHERS]) part(engine)
}

/** The budgets of concurrent processes, for an engine whose way to the writer is a part of the way of another one. */
export function budgetConformance(engine: LedgerEngine): void {
  for (const part of [budgets, interleavings]) part(engine)
}
