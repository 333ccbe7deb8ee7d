/** The facts on PostgreSQL: every query is a look-up by key or a range of one key, in one statement per shard. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { unpackHex } from '../../../values/ip-address.ts'
import type { FactsReader } from '../../port/store.ts'
import { type ClockRow, lastObservedOf, partClocksOf } from '../../shared/lookup.ts'
import type { Database } from '../database/database.ts'
import { partitionOfName } from '../database/partition.ts'
import { inShardSql } from '../database/shards.ts'
import { postgresHistory, postgresInterruptions } from './history.ts'
import { postgresLookups } from './lookups.ts'
import { CRAWL_STATE_KEYS, CRAWL_STATE_OF_KEY, shardedReader } from './observations.ts'
import { postgresNeighbours, postgresRedirects } from './pages.ts'
import { postgresAddressProfile, postgresDomainProfile } from './profiles.ts'
import { shardedLookups } from './sharded-lookups.ts'
import { shardedDomainProfile } from './sharded-profiles.ts'

const CRAWL_STATE_OF_NAME = 'v.part = $1 and v.slot = $2 and v.name = $3'
const READ_CLOCKS = {
  name: 'facts.clocks',
  text: `select clock, other_clocks from crawl_state v where ${CRAWL_STATE_OF_NAME}`,
}
const READ_PART_CLOCKS = {
  name: 'facts.part-clocks',
  text: `select v.name, v.clock, v.other_clocks
    from ${CRAWL_STATE_KEYS} join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${inShardSql('v.part', 4)}`,
}
const READ_ADDRESSES = {
  name: 'facts.addresses',
  text: `select (select json_agg(encode(a, 'hex')) from unnest(f.addresses) a)::text as hexes
    from crawl_state v join facts f on f.part = v.part and f.id = v.id where ${CRAWL_STATE_OF_NAME}`,
}

export function postgresFacts(database: Database): FactsReader {
  const { read } = database
  const readByShard = shardedReader(database)
  return {
    lookup: database.hasCitus ? shardedLookups(database) : postgresLookups(read),
    domainProfile: database.hasCitus ? shardedDomainProfile(database) : postgresDomainProfile(read),
    addressProfile: postgresAddressProfile(read),
    async clocks(name) {
      const [row] = await read<ClockRow>(READ_CLOCKS, crawlStateKey(name))
      return row ? lastObservedOf(row) : { dns: null, web: null }
    },
    async partClocks(names) {
      const rows = await readByShard<ClockRow & { name: DomainName }>(READ_PART_CLOCKS, names)
      const byName = new Map(rows.map((row) => [row.name, row]))
      return names.map((name) => partClocksOf(byName.get(name)))
    },
    async addresses(name) {
      const [row] = await read<{ hexes: string | null }>(READ_ADDRESSES, crawlStateKey(name))
      return (JSON.parse(row?.hexes ?? '[]') as string[]).map(unpackHex)
    },
    redirects: postgresRedirects(database),
    neighbours: postgresNeighbours(database),
    history: postgresHistory(read),
    interruptions: postgresInterruptions(read),
  }
}

/** The key of a name's crawl state. */
export function crawlStateKey(name: DomainName): [part: number, slot: number, name: DomainName] {
  return [partitionOfName(name), slotOf(name), name]
}
