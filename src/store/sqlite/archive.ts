/** Upkeep on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Name, slotOf } from '../../words/name.ts'
import type { Archive } from '../store.ts'
import { checkFacts } from './check/facts.ts'
import { checkAddresses, checkPresence, checkRedirects, checkTargets } from './check/shared.ts'
import type { Slice } from './check/slice.ts'
import { checkVisits } from './check/visits.ts'
import { logBytes, snapshot } from './connection.ts'

/** A part of the check: looks at the rows after a key, and says where it stopped (null at the end of the part). */
export type Check = (database: DatabaseSync, after: string | null) => Slice

/** Every part, in the order it is done; its name begins the place to resume at. */
const PARTS: readonly [string, Check][] = [
  ['visit', checkVisits],
  ['facts', checkFacts],
  ['presence', checkPresence],
  ['address', checkAddresses],
  ['redirect', checkRedirects],
  ['target', checkTargets],
]

export function archiveOf(database: DatabaseSync, path: string): Archive {
  database.function('slot', { deterministic: true }, (name) => slotOf(name as Name))
  return {
    async check(resume) {
      const [name, after] = split(resume ?? PARTS[0]![0])
      const place = PARTS.findIndex(([part]) => part === name)
      const { faults, checked, last } = snapshot(database, () => PARTS[place]![1](database, after))
      const following = PARTS[place + 1]?.[0]
      const next = last !== null ? `${name} ${last}` : following === undefined ? null : following
      return { faults, checked, next }
    },
    sizes: async () => ({ facts: statSync(path).size, log: logBytes(path) }),
  }
}

function split(resume: string): [string, string | null] {
  const space = resume.indexOf(' ')
  return space < 0 ? [resume, null] : [resume.slice(0, space), resume.slice(space + 1)]
}
