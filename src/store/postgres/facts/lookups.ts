/** Look-ups on PostgreSQL: those that arrive while others are in progress share one statement. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { StoreUnavailableFault } from '../../port/fault.ts'
import type { Lookup } from '../../port/store.ts'
import { LOOKUP_COLUMNS, type LookupRow, unpackLookup } from '../../shared/lookup.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import {
  addressPartitionSql,
  partitionOfName,
  partitionOfPackedAddress,
  slotPartitionSql,
} from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import { readForRows, rowStatement } from '../database/row-statements.ts'
import type { ShardParts } from '../database/shards.ts'
import { nameStatement, shardedReader } from './observations.ts'

/** Maximum reads of a name that is written again and again. The fields may then be of several moments. */
const MAX_READS = 5

/** `addresses`: JSON array in hexadecimal. */
type ShardRow = [name: DomainName, ...lookup: LookupRow, version: number, addresses: string | null]

type UnpackedRow = ReturnType<typeof unpackShardRow>

const READ_LOOKUPS_IN_SHARD = {
  ...nameStatement(
    'facts.lookups-in-shard',
    `${LOOKUP_COLUMNS}, t.sources as redirects, null::bigint as neighbours, v.version,
      (select json_agg(encode(x, 'hex')) from unnest(f.addresses) x)::text as addresses`,
    ({ inShard }) =>
      `left join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}
      left join redirect_count t on t.part = v.part and t.target = v.name and ${inShard('t.part')}`,
  ),
  rowMode: 'array' as const,
}

/**
 * The names on an address without one of them. The list of the address is in the same shard as its counter, so the
 * number is that of the rows of /reverseip, also while the shard has not yet committed what the shard of the name has.
 */
const READ_COUNTERS = rowStatement<NameOnAddress>(
  'facts.counters',
  { part: 'smallint', address: 'bytes', name: 'word' },
  ({ rows, inShard }) =>
    `select k.name, a.names - (select count(*) from presence p
        where p.part = a.part and p.address = a.address and p.name = k.name and ${inShard('p.part')}) as others
    from ${rows} join address_count a on a.part = k.part and a.address = k.address and ${inShard('a.part')}`,
)
type NameOnAddress = { part: number; address: Uint8Array; name: DomainName }

type LookupDatabase = Pick<Database, 'read' | 'shards'>

/** Reads the rows of names at one moment. Omits unknown names. */
export type ReadLookups = (names: readonly DomainName[]) => Promise<Map<DomainName, LookupRow>>

/** Statements of a process in progress: one for each connection for short reads. */
const MAX_STATEMENTS = 2
/** Names of a statement: a millisecond of the server. */
const MAX_NAMES = 32

const READ_LOOKUPS = {
  name: 'facts.lookups',
  rowMode: 'array' as const,
  text: `select v.name, ${LOOKUP_COLUMNS},
      (select sources from redirect_count t where t.part = v.part and t.target = v.name) as redirects,
      (select sum(a.names - 1)::bigint from unnest(f.addresses) x
        join address_count a on a.part = ${addressPartitionSql('x')} and a.address = x) as neighbours
    from unnest($1::integer[], $2::text[]) as k(slot, name)
    join crawl_state v on v.part = ${slotPartitionSql('k.slot')} and v.slot = k.slot and v.name = k.name
    left join facts f on f.part = v.part and f.id = v.id`,
}
type NamedLookupRow = [name: DomainName, ...LookupRow]

/** Concurrent look-ups of a name share its promise. */
type Waiting = Map<DomainName, PromiseWithResolvers<Lookup | null>>

/** Looks up in a database without shards, each name in one statement. */
export function postgresLookups(read: ReadStatement): (name: DomainName) => Promise<Lookup | null> {
  return sharedLookups(async (names) => {
    const rows = await read<NamedLookupRow>(READ_LOOKUPS, [plainArray(names.map(slotOf)), plainArray(names)])
    return new Map(rows.map(([name, ...row]) => [name, row]))
  })
}

/**
 * Returns the function that looks a name up. A look-up is sent at once, unless many are in progress. All its fields are
 * from one moment after the call.
 */
export function sharedLookups(readRows: ReadLookups): (name: DomainName) => Promise<Lookup | null> {
  let inProgress = 0
  let waiting: Waiting = new Map()

  const sendWaiting = async (): Promise<void> => {
    const batch = waiting
    waiting = new Map()
    inProgress++
    try {
      const rows = await readRows([...batch.keys()])
      for (const [name, { resolve }] of batch) {
        const row = rows.get(name)
        resolve(row ? unpackLookup(row) : null)
      }
    } catch (error) {
      // look-ups that arrived meanwhile would wait as long again
      const rest = error instanceof StoreUnavailableFault ? waiting : new Map()
      if (rest === waiting) waiting = new Map()
      for (const { reject } of [...batch.values(), ...rest.values()]) reject(error)
    }
    inProgress--
    if (waiting.size > 0) void sendWaiting()
  }

  return (name) => {
    const known = waiting.get(name)
    if (known !== undefined) return known.promise
    const lookup = Promise.withResolvers<Lookup | null>()
    waiting.set(name, lookup)
    if (inProgress < MAX_STATEMENTS || waiting.size === MAX_NAMES) void sendWaiting()
    return lookup.promise
  }
}

function unpackShardRow(row: ShardRow) {
  const lookup = row.slice(1, -2) as unknown as LookupRow
  const [version, addresses] = row.slice(-2) as [number, string | null]
  return { name: row[0], lookup, version, addresses: JSON.parse(addresses ?? '[]') as string[] }
}

/** As `postgresLookups`. Look-ups wait only for others of their shard. */
export function shardedLookups(database: LookupDatabase): (name: DomainName) => Promise<Lookup | null> {
  const lookups = new Map<ShardParts, (name: DomainName) => Promise<Lookup | null>>()
  return async (name) => {
    const { parts } = (await database.shards()).batches([name], partitionOfName)[0]!
    const lookup = lookups.get(parts) ?? sharedLookups((names) => readInShard(database, names))
    lookups.set(parts, lookup)
    return lookup(name)
  }
}

async function readInShard(database: LookupDatabase, names: readonly DomainName[]) {
  const readRows = async (some: readonly DomainName[]) =>
    (await shardedReader(database)<ShardRow>(READ_LOOKUPS_IN_SHARD, some)).map(unpackShardRow)
  const found = new Map<DomainName, LookupRow>()
  let rows = await readRows(names)
  for (let reads = 1; rows.length > 0; reads++) {
    const neighbours = await countNeighbours(database, rows)
    for (const { name, lookup } of rows)
      found.set(name, [...lookup.slice(0, -1), neighbours.get(name) ?? 0] as unknown as LookupRow)
    const uncertain = rows.filter(({ addresses }) => addresses.length > 0)
    if (uncertain.length === 0 || reads === MAX_READS) break
    const versions = new Map(uncertain.map(({ name, version }) => [name, version]))
    rows = (await readRows([...versions.keys()])).filter(({ name, version }) => version !== versions.get(name))
  }
  return found
}

/** The number of other names on the addresses of each name. */
async function countNeighbours(
  { read, shards }: LookupDatabase,
  rows: readonly UnpackedRow[],
): Promise<Map<DomainName, number>> {
  const keys = rows.flatMap(({ name, addresses }) =>
    addresses.map((hex): NameOnAddress => {
      const address = Buffer.from(hex, 'hex')
      return { part: partitionOfPackedAddress(address), address, name }
    }),
  )
  type Count = { name: DomainName; others: number }
  const counts = new Map<DomainName, number>()
  for (const { name, others } of await readForRows<Count, NameOnAddress>(read, await shards(), READ_COUNTERS, keys))
    counts.set(name, (counts.get(name) ?? 0) + others)
  return counts
}
