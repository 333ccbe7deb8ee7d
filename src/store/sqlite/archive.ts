/** Upkeep on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Name, slotOf } from '../../words/name.ts'
import { checkOf } from '../check/parts.ts'
import type { Slice } from '../check/slice.ts'
import type { Archive } from '../store.ts'
import { checkFacts } from './check/facts.ts'
import { checkArrivals, checkKnown, checkListed } from './check/listing.ts'
import { checkAddresses, checkPresence, checkRedirects, checkTargets, checkWordings } from './check/shared.ts'
import { checkVisits } from './check/visits.ts'
import { logBytes, snapshot } from './connection.ts'

const PARTS: readonly [string, (database: DatabaseSync, after: string | null) => Slice][] = [
  ['visit', checkVisits],
  ['facts', checkFacts],
  ['presence', checkPresence],
  ['address', checkAddresses],
  ['redirect', checkRedirects],
  ['target', checkTargets],
  ['wording', checkWordings],
  ['known', checkKnown],
  ['listed', checkListed],
  ['arrival', checkArrivals],
]

export function archiveOf(database: DatabaseSync, path: string): Archive {
  database.function('slot', { deterministic: true }, (name) => slotOf(name as Name))
  return {
    check: checkOf(PARTS.map(([name, check]) => [name, (after) => snapshot(database, () => check(database, after))])),
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
