/** The facts on SQLite: every query is a look-up by key or a range of one key. */

import type { DatabaseSync } from 'node:sqlite'
import { slotOf } from '../../../values/domain-name.ts'
import { unpackHex } from '../../../values/ip-address.ts'
import type { FactsReader } from '../../port/store.ts'
import { type ClockRow, type LookupRow, lastObservedOf, partClocksOf, unpackLookup } from '../../shared/lookup.ts'
import type { BeginRead } from '../database/read-turn.ts'
import { sqliteHistory, sqliteInterruptions } from './history.ts'
import type { LongPages } from './pages/long-pages.ts'
import { sqlitePages } from './pages/pages.ts'
import { LOOKUP_COLUMNS, sqliteProfiles } from './profiles.ts'

/** `beginRead`: called before each read. */
export function sqliteFacts(database: DatabaseSync, beginRead: BeginRead, longPages: LongPages): FactsReader {
  const lookup = database.prepare(
    `select ${LOOKUP_COLUMNS} from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  lookup.setReturnArrays(true)
  const clocks = database.prepare('select clock, other_clocks from crawl_state where slot = ? and name = ?')
  const addresses = database.prepare(
    'select f.addresses from crawl_state v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  return {
    async lookup(name) {
      beginRead()
      const row = lookup.get(slotOf(name), name) as unknown as LookupRow | undefined
      return row ? unpackLookup(row) : null
    },
    async clocks(name) {
      beginRead()
      const row = clocks.get(slotOf(name), name) as ClockRow | undefined
      return row ? lastObservedOf(row) : { dns: null, web: null }
    },
    async partClocks(names) {
      beginRead()
      return names.map((name) => partClocksOf(clocks.get(slotOf(name), name) as ClockRow | undefined))
    },
    async addresses(name) {
      beginRead()
      const row = addresses.get(slotOf(name), name) as { addresses: string | null } | undefined
      return (JSON.parse(row?.addresses ?? '[]') as string[]).map(unpackHex)
    },
    ...sqliteProfiles(database, beginRead),
    ...sqlitePages(database, beginRead, longPages),
    history: sqliteHistory(database),
    interruptions: sqliteInterruptions(database),
  }
}
