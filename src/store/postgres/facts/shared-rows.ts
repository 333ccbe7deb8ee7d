/** The rows that names share: presence on addresses and redirects to targets, each list with its counter. */

import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { partitionOfAddress, partitionOfName } from '../database/partition.ts'
import {
  type RowColumnsOf,
  type RowStatement,
  readForRows,
  rowStatement,
  runForRows,
} from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'

/** A row of a name under a key: an address in hexadecimal, or a redirect target. */
type SharedRow = { part: number; key: string; name: DomainName; since: string }
/** By how much the counter of a key changes. */
type CounterChange = { part: number; key: string; change: number }
type SharedKey = Pick<SharedRow, 'part' | 'key'>

/** A list and its statements. */
type SharedTable = {
  remove: RowStatement<Omit<SharedRow, 'since'>>
  add: RowStatement<SharedRow>
  count: RowStatement<CounterChange>
  removeEmpty: RowStatement<SharedKey>
}

const PRESENCE = sharedTable({
  table: 'presence',
  key: 'address',
  keyType: 'hex',
  name: 'name',
  counter: 'address_count',
  count: 'names',
  hasTimes: true,
})
const REDIRECTS = sharedTable({
  table: 'redirect',
  key: 'target',
  keyType: 'word',
  name: 'source',
  counter: 'redirect_count',
  count: 'sources',
  hasTimes: false,
})

/** `key`, `name` and `count`: the columns. `hasTimes`: whether a row has the time since which it exists. */
function sharedTable({
  table,
  key,
  keyType,
  name,
  counter,
  count,
  hasTimes,
}: {
  table: string
  key: string
  keyType: 'hex' | 'word'
  name: string
  counter: string
  count: string
  hasTimes: boolean
}): SharedTable {
  const keyColumns = { part: 'smallint', key: keyType } as const
  const keyText = (column: string): string => (keyType === 'hex' ? `encode(${column}, 'hex')` : column)
  return {
    remove: rowStatement<Omit<SharedRow, 'since'>>(
      `${table}.remove`,
      { ...keyColumns, name: 'word' },
      ({ rows, inShard }) =>
        `delete from ${table} t using ${rows} where t.part = k.part and t.${key} = k.key and t.${name} = k.name
          and ${inShard('t.part')} returning ${keyText(`t.${key}`)} as key`,
    ),
    add: rowStatement<SharedRow>(
      `${table}.add`,
      { ...keyColumns, name: 'word', ...(hasTimes && { since: 'word' as const }) } as RowColumnsOf<SharedRow>,
      ({ rows, inShard }) =>
        `insert into ${table} (part, ${key}, ${name}${hasTimes ? ', since' : ''})
        select a.part, k.key, k.name${hasTimes ? ', k.since' : ''} from ${rows} join anchor a on a.part = k.part
        where ${inShard('a.part')} on conflict do nothing returning ${keyText(key)} as key`,
    ),
    count: rowStatement<CounterChange>(
      `${counter}.add`,
      { ...keyColumns, change: 'bigint' },
      ({ rows, inShard }) =>
        `insert into ${counter} (part, ${key}, ${count}) select a.part, k.key, k.change
        from ${rows} join anchor a on a.part = k.part where ${inShard('a.part')}
        on conflict (part, ${key}) do update set ${count} = ${counter}.${count} + excluded.${count}`,
    ),
    removeEmpty: rowStatement<SharedKey>(
      `${counter}.remove-empty`,
      keyColumns,
      ({ rows, inShard }) =>
        `delete from ${counter} t using ${rows}
        where t.part = k.part and t.${key} = k.key and t.${count} = 0 and ${inShard('t.part')}`,
    ),
  }
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
  const send = <Row extends SharedKey>(statement: RowStatement<Row>, rows: readonly Row[]) =>
    readForRows<{ key: string }, Row>(session.rows, shards, statement, rows)
  const moved = await Promise.all([
    send(table.remove, removed.toSorted(compareRows)),
    send(table.add, added.toSorted(compareRows)),
  ])
  const partOfKey = new Map([...removed, ...added].map(({ key, part }) => [key, part]))
  const changes = counterChanges(partOfKey, ...moved)
  const decreased = changes.filter(({ change }) => change < 0)
  await Promise.all([
    runForRows(session.run, shards, table.count, changes),
    runForRows(session.run, shards, table.removeEmpty, decreased),
  ])
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
