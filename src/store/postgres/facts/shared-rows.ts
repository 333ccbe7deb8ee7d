/** The rows that names share: presence on addresses and redirects to targets, each list with its counter. */

import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { hexArray, plainArray } from '../database/arrays.ts'
import type { Statement } from '../database/connection.ts'
import { partitionOfAddress, partitionOfName } from '../database/partition.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'

/** A row of a name under a key: an address in hexadecimal, or a redirect target. */
type SharedRow = { part: number; key: string; name: DomainName; since: string }
/** By how much the counter of a key changes. */
type CounterChange = { part: number; key: string; change: number }

/** A list and its statements. The last parameter of each is the partitions of its shard. */
type SharedTable = {
  keyArray: (keys: readonly string[]) => string
  /** Whether a row has the time since which it exists. */
  hasTimes: boolean
  remove: Statement
  add: Statement
  count: Statement
  removeEmpty: Statement
}

const PRESENCE: SharedTable = {
  keyArray: hexArray,
  hasTimes: true,
  remove: {
    name: 'presence.remove',
    text: `delete from presence p using unnest($1::smallint[], $2::bytea[], $3::text[]) as k(part, address, name)
      where p.part = k.part and p.address = k.address and p.name = k.name and ${inShardSql('p.part', 4)}
      returning encode(p.address, 'hex') as key`,
  },
  add: {
    name: 'presence.add',
    text: `insert into presence (part, address, name, since) select a.part, k.address, k.name, k.since
      from unnest($1::smallint[], $2::bytea[], $3::text[], $4::text[]) as k(part, address, name, since)
      join anchor a on a.part = k.part where ${inShardSql('a.part', 5)}
      on conflict do nothing returning encode(address, 'hex') as key`,
  },
  count: {
    name: 'address-count.add',
    text: `insert into address_count (part, address, names) select a.part, k.address, k.names
      from unnest($1::smallint[], $2::bytea[], $3::bigint[]) as k(part, address, names)
      join anchor a on a.part = k.part where ${inShardSql('a.part', 4)}
      on conflict (part, address) do update set names = address_count.names + excluded.names`,
  },
  removeEmpty: {
    name: 'address-count.remove-empty',
    text: `delete from address_count a using unnest($1::smallint[], $2::bytea[]) as k(part, address)
      where a.part = k.part and a.address = k.address and a.names = 0 and ${inShardSql('a.part', 3)}`,
  },
}
const REDIRECTS: SharedTable = {
  keyArray: plainArray,
  hasTimes: false,
  remove: {
    name: 'redirect.remove',
    text: `delete from redirect r using unnest($1::smallint[], $2::text[], $3::text[]) as k(part, target, source)
      where r.part = k.part and r.target = k.target and r.source = k.source and ${inShardSql('r.part', 4)}
      returning r.target as key`,
  },
  add: {
    name: 'redirect.add',
    text: `insert into redirect (part, target, source) select a.part, k.target, k.source
      from unnest($1::smallint[], $2::text[], $3::text[]) as k(part, target, source)
      join anchor a on a.part = k.part where ${inShardSql('a.part', 4)}
      on conflict do nothing returning target as key`,
  },
  count: {
    name: 'redirect-count.add',
    text: `insert into redirect_count (part, target, sources) select a.part, k.target, k.sources
      from unnest($1::smallint[], $2::text[], $3::bigint[]) as k(part, target, sources)
      join anchor a on a.part = k.part where ${inShardSql('a.part', 4)}
      on conflict (part, target) do update set sources = redirect_count.sources + excluded.sources`,
  },
  removeEmpty: {
    name: 'redirect-count.remove-empty',
    text: `delete from redirect_count t using unnest($1::smallint[], $2::text[]) as k(part, target)
      where t.part = k.part and t.target = k.target and t.sources = 0 and ${inShardSql('t.part', 3)}`,
  },
}

/** Queues moves and writes them at the end of a transaction. */
export class PostgresSharedRows {
  readonly #leaving: SharedRow[] = []
  readonly #arriving: SharedRow[] = []
  readonly #removedRedirects: SharedRow[] = []
  readonly #addedRedirects: SharedRow[] = []

  arrive(address: IpAddress, name: DomainName, since: string): void {
    this.#arriving.push({ part: partitionOfAddress(address), key: packToHex(address), name, since })
  }

  leave(address: IpAddress, name: DomainName): void {
    this.#leaving.push({ part: partitionOfAddress(address), key: packToHex(address), name, since: '' })
  }

  addRedirect(target: DomainName, source: DomainName): void {
    this.#addedRedirects.push({ part: partitionOfName(target), key: target, name: source, since: '' })
  }

  removeRedirect(target: DomainName, source: DomainName): void {
    this.#removedRedirects.push({ part: partitionOfName(target), key: target, name: source, since: '' })
  }

  async write(session: Session, shards: Shards): Promise<void> {
    await Promise.all([
      moveRows(session, shards, PRESENCE, this.#leaving, this.#arriving),
      moveRows(session, shards, REDIRECTS, this.#removedRedirects, this.#addedRedirects),
    ])
  }
}

/** Every writer updates counters in the order of their shards and keys, so that no two wait for each other. */
async function moveRows(
  session: Session,
  shards: Shards,
  table: SharedTable,
  removed: SharedRow[],
  added: SharedRow[],
): Promise<void> {
  const send = async (statement: Statement, rows: SharedRow[]): Promise<{ key: string }[]> => {
    const isTimed = table.hasTimes && statement === table.add
    const results = shards.batches(rows.sort(compareRows), partOf).map(({ rows, parts }) => {
      const times = isTimed ? [plainArray(rows.map(({ since }) => since))] : []
      const columns = [...keyColumns(table, rows), plainArray(rows.map(({ name }) => name)), ...times, parts]
      return session.rows<{ key: string }>(statement, columns)
    })
    return (await Promise.all(results)).flat()
  }
  const moved = await Promise.all([send(table.remove, removed), send(table.add, added)])
  const partOfKey = new Map([...removed, ...added].map(({ key, part }) => [key, part]))
  const changes = counterChanges(partOfKey, ...moved)
  const counts = shards.batches(changes, partOf).map(({ rows, parts }) => {
    const amounts = plainArray(rows.map(({ change }) => change))
    return session.run(table.count, [...keyColumns(table, rows), amounts, parts])
  })
  const decreased = changes.filter(({ change }) => change < 0)
  const removals = shards
    .batches(decreased, partOf)
    .map(({ rows, parts }) => session.run(table.removeEmpty, [...keyColumns(table, rows), parts]))
  await Promise.all([...counts, ...removals])
}

function partOf({ part }: { part: number }): number {
  return part
}

function keyColumns({ keyArray }: SharedTable, rows: readonly { part: number; key: string }[]): string[] {
  return [plainArray(rows.map(partOf)), keyArray(rows.map(({ key }) => key))]
}

/**
 * A counter changes by the number of rows that were really removed or added. Leaves out those that do not change.
 * `partOfKey`: the partition of each key.
 */
function counterChanges(
  partOfKey: ReadonlyMap<string, number>,
  removed: readonly { key: string }[],
  added: readonly { key: string }[],
): CounterChange[] {
  const changes = new Map<string, number>()
  for (const { key } of removed) changes.set(key, (changes.get(key) ?? 0) - 1)
  for (const { key } of added) changes.set(key, (changes.get(key) ?? 0) + 1)
  return [...changes]
    .filter(([, change]) => change !== 0)
    .map(([key, change]) => ({ part: partOfKey.get(key)!, key, change }))
    .sort((a, b) => a.part - b.part || compareTexts(a.key, b.key))
}

function compareRows(a: SharedRow, b: SharedRow): number {
  return a.part - b.part || compareTexts(a.key, b.key) || compareTexts(a.name, b.name)
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
