/** Upkeep on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Name, slotOf } from '../../words/name.ts'
import { checkOf } from '../check/parts.ts'
import type { Archive } from '../store.ts'
import { afterNumber, afterSlot, afterTexts, goingOn, type Part } from './check/damaged.ts'
import { checkFacts } from './check/facts.ts'
import { checkLeases } from './check/leases.ts'
import { checkLedger } from './check/ledger.ts'
import { checkArrivals, checkKnown, checkListed } from './check/listing.ts'
import { schemaFaults } from './check/schema.ts'
import { checkAddresses, checkPresence, checkRedirects, checkTargets, checkWordings } from './check/shared.ts'
import { afterNumbers, checkFrequencies, checkPostings, checkStates } from './check/summed.ts'
import { checkVisits } from './check/visits.ts'
import { logBytes } from './connection.ts'
import type { StoreFiles } from './files.ts'
import { FACTS_SCHEMA } from './migrate.ts'

const oneText = afterTexts(1)

const PARTS: readonly Part[] = [
  { name: 'visit', check: checkVisits, beyond: afterSlot },
  { name: 'facts', check: checkFacts, beyond: afterNumber },
  { name: 'state', check: checkStates, beyond: afterNumbers(3) },
  { name: 'presence', check: checkPresence, beyond: afterTexts(2, true) },
  { name: 'address', check: checkAddresses, beyond: afterTexts(1, true) },
  { name: 'redirect', check: checkRedirects, beyond: afterTexts(2) },
  { name: 'target', check: checkTargets, beyond: oneText },
  { name: 'wording', check: checkWordings, beyond: afterNumbers(1) },
  { name: 'posting', check: checkPostings, beyond: afterNumbers(3) },
  { name: 'frequency', check: checkFrequencies, beyond: afterNumbers(2) },
  { name: 'known', check: checkKnown, beyond: afterSlot },
  {
    name: 'listed',
    check: checkListed,
    beyond: (after, n) => plainText(oneText(after === null ? null : JSON.stringify([after]), n)),
  },
  { name: 'arrival', check: checkArrivals, beyond: afterNumber },
  { name: 'lease', check: checkLeases, beyond: () => null },
]

function plainText(key: string | null): string | null {
  return key === null ? null : (JSON.parse(key) as [string])[0]
}

export function archiveOf(database: DatabaseSync, { facts: path, ledger }: StoreFiles): Archive {
  database.function('slot', { deterministic: true }, (name) => slotOf(name as Name))
  return {
    check: checkOf([
      ['schema', () => ({ faults: schemaFaults(database, FACTS_SCHEMA, 'schema'), checked: 0, last: null })],
      ...PARTS.map((part) => [part.name, goingOn(database, part)] as const),
      ['ledger', checkLedger(ledger)],
    ]),
    progress: async (job) => {
      const row = database.prepare('select value from mark where name = ?').get(`job:${job}`)
      return (row?.value as string | undefined) ?? null
    },
    async keepProgress(job, progress) {
      const sql =
        progress === null
          ? database.prepare('delete from mark where name = ?')
          : database.prepare('insert or replace into mark (name, value) values (?, ?)')
      sql.run(`job:${job}`, ...(progress === null ? [] : [progress]))
    },
    sizes: async () => ({ facts: statSync(path).size, log: logBytes(path) }),
  }
}
