/**
 * The SQLite ledger under the conformance suite, with each kind of writer: this thread, another thread, the primary.
 */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openSqliteLedger, type SqliteLedgerOptions } from '../../../src/store/sqlite/ledger/ledger.ts'
import { inForm, isLong } from '../../long.ts'
import { type LedgerAndCrawlRequests, type LedgerEngine, NOW } from './engine.ts'
import { sqliteLeasedUnits } from './leased-units.ts'
import { endWorkers, workerLedger } from './sqlite/worker-ledger.ts'
import { budgetConformance, ledgerConformance } from './suite.ts'

type Closable = LedgerAndCrawlRequests & { close(): Promise<void> }

after(endWorkers)

let created: Promise<string> | undefined
after(async () => {
  if (created !== undefined) await rm(await created, { recursive: true })
})

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'domaindex-ledger-'))

/** An empty ledger, which the tests copy. It has no secret yet, because each ledger generates its own. */
async function create(): Promise<string> {
  const folder = await newFolder()
  const options = { ledger: 'own', secret: null, now: () => NOW } as const
  await openSqliteLedger(join(folder, 'ledger.db'), options).close()
  return folder
}

function engine(mode: SqliteLedgerOptions['ledger']): LedgerEngine {
  return {
    name: `SQLite, ${mode}`,
    runs: mode === 'own' ? 25 : inForm(2, 5), // the rules are the same, only the way to the writer differs
    async open(clock, secret) {
      created ??= create()
      const folder = await newFolder()
      await cp(await created, folder, { recursive: true })
      const path = join(folder, 'ledger.db')
      const opened: Closable[] = []
      const close = async (): Promise<void> => {
        for (const each of opened.toReversed()) await each.close()
        await rm(folder, { recursive: true })
      }
      const another = async (ledger = mode): Promise<Closable> => {
        if (ledger === 'primary') opened.push(await workerLedger(path, secret))
        else opened.push(openSqliteLedger(path, { ledger, secret, now: () => clock.now }))
        return opened.at(-1)!
      }
      try {
        if (mode === 'primary') await another('thread')
        return { ledger: await another(), another, leasedUnits: sqliteLeasedUnits(path), close }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

for (const mode of ['own', 'primary'] as const) ledgerConformance(engine(mode))
// The writer of the primary is in a thread, so every call passes through one.
if (isLong) ledgerConformance(engine('thread'))
else budgetConformance(engine('thread'))
