/**
 * Statements for many rows at once. Each column of the rows is one array parameter, and the last parameter is the
 * partitions of their shard: the only place that numbers these parameters and routes a statement to one shard of Citus.
 */

import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { type ColumnType, columnTypes, type FactTable } from '../../shared/tables.ts'
import { bytesArray, hexArray, plainArray, textArray } from './arrays.ts'
import { inRunSql } from './citus/part-runs.ts'
import type { Statement } from './connection.ts'
import { inShardSql, type Shards } from './shards.ts'

/** `hex`: bytes in hexadecimal. */
type RowColumnType = ColumnType | 'hex'
type RowColumns = Readonly<Record<string, RowColumnType>>
/** The types of the columns that are sent of a row. */
export type RowColumnsOf<Row> = Record<keyof Row & string, RowColumnType>

/** The type of the elements of an array, and its literal. */
const ARRAYS: Record<RowColumnType, [element: string, encode: (values: never[]) => string]> = {
  smallint: ['smallint', plainArray],
  integer: ['integer', plainArray],
  bigint: ['bigint', plainArray],
  word: ['text', plainArray],
  text: ['text', textArray],
  bytes: ['bytea', bytesArray],
  hex: ['bytea', hexArray],
  addresses: ['text', (lists: (readonly IpAddress[])[]) => textArray(lists.map(addressList))],
}

function addressList(addresses: readonly IpAddress[]): string | null {
  return addresses.length > 0 ? addresses.map((address) => `\\x${packToHex(address)}`).join(',') : null
}

/** The cast of a text to an array of bytes would depend on settings, so that Citus would refuse it. */
export const ADDRESSES_SQL = `string_to_array(k.addresses, ',')::bytea[]`

/** Rows to send. `part`: the partition of a row. */
export type PartRow = { readonly part: number }

/** A statement for rows. */
export type RowStatement<Row extends PartRow> = Statement & {
  /** The parameters of rows: an array literal for each column. */
  valuesOf(rows: readonly Row[]): string[]
}

/** The parts of the text of a statement for rows. */
export type RowSql = {
  /** The rows as a table `k`. */
  rows: string
  /** The same with their `position`, from 1. */
  numberedRows: string
  /** That the row of a distributed table is in the shard of the rows. Each distributed table needs this condition. */
  inShard(column: string): string
  /** A parameter after the partitions, from 1. */
  parameter(index: number): string
}

/** `columns`: of the rows, and their types. */
export function rowStatement<Row extends PartRow>(
  name: string,
  columns: RowColumnsOf<Row>,
  textOf: (sql: RowSql) => string,
): RowStatement<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[]
  const arrays = names.map((column) => ARRAYS[columns[column]])
  const list = `unnest(${arrays.map(([element], index) => `$${index + 1}::${element}[]`).join(', ')})`
  const partsParameter = names.length + 1
  const text = textOf({
    rows: `${list} as k(${names.join(', ')})`,
    numberedRows: `${list} with ordinality as k(${names.join(', ')}, position)`,
    inShard: (column) => inShardSql(column, partsParameter),
    parameter: (index) => `$${partsParameter + index}`,
  })
  return {
    name,
    text,
    valuesOf: (rows) => arrays.map(([, encode], index) => encode(rows.map((row) => row[names[index]!]) as never[])),
  }
}

/** The key of a crawl state. */
export type NameKey = { part: number; slot: number; name: DomainName }
export const NAME_KEY = { part: 'smallint', slot: 'integer', name: 'word' } as const
/** The condition of crawl states `v`. */
export const CRAWL_STATE_OF_KEY = 'v.part = k.part and v.slot = k.slot and v.name = k.name'

/** The rows of a table with their partition. */
export function tableRows<Table extends FactTable>(table: Table) {
  return { part: 'smallint' as const, ...columnTypes(table) }
}

/** Inserts rows into a table with the same columns. `suffix`: what follows the condition. */
export function insertStatement<Row extends PartRow>(
  name: string,
  table: string,
  columns: RowColumnsOf<Row>,
  suffix = '',
): RowStatement<Row> {
  const values = Object.keys(columns).map((column) => (column === 'part' ? 'a.part' : writtenValue(column, columns)))
  return rowStatement<Row>(
    name,
    columns,
    ({ rows, inShard }) =>
      `insert into ${table} (${Object.keys(columns).join(', ')}) select ${values.join(', ')}
      from ${rows} join anchor a on a.part = k.part where ${inShard('a.part')} ${suffix}`,
  )
}

/** Updates the rows of a table that have the same `key`. */
export function updateStatement<Row extends PartRow>(
  name: string,
  table: string,
  columns: RowColumnsOf<Row>,
  key: readonly (keyof Row & string)[],
): RowStatement<Row> {
  const changes = Object.keys(columns).filter((column) => !(key as readonly string[]).includes(column))
  return rowStatement<Row>(
    name,
    columns,
    ({ rows, inShard }) =>
      `update ${table} t set ${changes.map((column) => `${column} = ${writtenValue(column, columns)}`).join(', ')}
      from ${rows} where ${key.map((column) => `t.${column} = k.${column}`).join(' and ')} and ${inShard('t.part')}`,
  )
}

function writtenValue(column: string, columns: RowColumns): string {
  return columns[column] === 'addresses' ? ADDRESSES_SQL : `k.${column}`
}

/** Runs a statement once for each shard of its rows, and returns all results. `more`: the parameters after the rows. */
export async function readForRows<Result, Row extends PartRow>(
  read: (statement: Statement, values: readonly unknown[]) => Promise<Result[]>,
  shards: Shards,
  statement: RowStatement<Row>,
  rows: readonly Row[],
  ...more: readonly unknown[]
): Promise<Result[]> {
  const batches = shards.batches(rows, partOf)
  const results = batches.map(({ rows: batch, parts }) =>
    read(statement, [...statement.valuesOf(batch), parts, ...more]),
  )
  return (await Promise.all(results)).flat()
}

/** As readForRows, for a statement that returns positions of `numberedRows`: each result with its row. */
export async function matchRows<Result extends { position: number }, Row extends PartRow>(
  read: (statement: Statement, values: readonly unknown[]) => Promise<Result[]>,
  shards: Shards,
  statement: RowStatement<Row>,
  rows: readonly Row[],
): Promise<{ row: Row; result: Result }[]> {
  const matches = shards.batches(rows, partOf).map(async ({ rows: batch, parts }) => {
    const results = await read(statement, [...statement.valuesOf(batch), parts])
    return results.map((result) => ({ row: batch[result.position - 1]!, result }))
  })
  return (await Promise.all(matches)).flat()
}

function partOf({ part }: PartRow): number {
  return part
}

/** As readForRows, for a statement that returns the number of changed rows. */
export async function runForRows<Row extends PartRow>(
  run: (statement: Statement, values: readonly unknown[]) => Promise<number>,
  shards: Shards,
  statement: RowStatement<Row>,
  rows: readonly Row[],
): Promise<void> {
  await readForRows(async (prepared, values) => [await run(prepared, values)], shards, statement, rows)
}

/**
 * A statement that reads a range of partitions within one shard (`readRuns`). `parameters`: how many come before those
 * of the run.
 */
export function runStatement(
  name: string,
  parameters: number,
  textOf: (sql: { inRun(column: string): string; inShard(column: string): string }) => string,
): Statement {
  const text = textOf({
    inRun: (column) => inRunSql(column, parameters + 1),
    inShard: (column) => inShardSql(column, parameters + 3),
  })
  return { name, text }
}
