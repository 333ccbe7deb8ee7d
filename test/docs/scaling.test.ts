/** Tests the projection of scripts/store-sizes.ts, and that the tables of docs/scaling.md are in its format. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  ASSUMPTIONS,
  GROWING_TABLES,
  type MeasuredStore,
  planTable,
  sizeTable,
} from '../../scripts/store-sizes/projection.ts'
import { DISTRIBUTED_TABLES } from '../../src/store/postgres/database/distribution.ts'
import { readPage, sections, tableOf } from './markdown.ts'

const SCHEMA = `${import.meta.dirname}/../../src/store/postgres/schema`
const GROWING: string[] = [...GROWING_TABLES.workers, ...GROWING_TABLES.coordinator]
/** Tables with few rows, whatever the number of names. */
const SMALL = [
  'inverse_run',
  'dns_interruption',
  ...['watch', 'watch_removal', 'watch_version', 'event', 'event_count'],
  ...['webhook', 'delivery', 'delivery_count', 'digest', 'feed'],
  ...['metadata', 'commit_marker', 'slot_lease', 'crawler', 'probe_outcome', 'named_lock', 'job_run', 'anchor'],
  ...['segment', 'orphan_document', 'document_tombstone', 'secret', 'audit', 'lookup_request_count', 'crawl_request'],
  ...[
    'account',
    'token',
    'period',
    'addon',
    'budget',
    'usage',
    'paid_file',
    'place_mark',
    'account_password',
    'session',
    'one_time_link',
    'attempt',
    'operator_token',
    'idempotent_answer',
    'closed_usage',
    'release_request',
    'token_lease',
    'lease_holder',
    'expired_lease',
    'certificate_log',
  ],
]

/** A store with one row of 100 bytes and 50 bytes of indexes per name in each table. */
const STORE: MeasuredStore = {
  names: 1_000,
  tables: GROWING.map((name) => ({ name, rows: 1_000, tableBytes: 100_000, indexBytes: 50_000 })),
  createdPerSecond: 1_000,
  crawledPerSecond: 2_000,
  crawledLogBytes: 300,
  indexedPerSecond: 1_000,
  snapshotPerSecond: 10_000,
}

/** The rows of the table that is the output of a function, as those of a document. */
const rowsOf = (table: string): string[][] => tableOf(`${table}\n`, table.slice(2, table.indexOf(' |')))
/** A cell without its figures, so that figures of another run compare as equal. */
const formOf = (cell: string): string =>
  /^(< )?[\d.,]+ (GB|TB)$/.test(cell) || /^[\d.,]+ (min|h|days)$/.test(cell)
    ? cell.replace(/^(< )?[\d.,]+ \w+$/, 'figure with a unit')
    : cell.replace(/< (?=\d)/, '').replace(/[\d.,]+/g, '0')

test('the projection multiplies the bytes of a row by the rows of a name, and history by an assumption', () => {
  const rows = new Map(rowsOf(sizeTable(STORE)).map(([name, ...cells]) => [name, cells]))
  assert.deepEqual(rows.get('`facts`'), ['workers', '1.00', '100 + 50', '150', '2 GB', '45 GB', '150 GB'])
  const { statesPerName } = ASSUMPTIONS
  assert.equal(rows.get('`dns_state`')![3], String(150 * statesPerName))
  const workers = 150 * (GROWING_TABLES.workers.length - 1 + statesPerName)
  assert.equal(rows.get('**all on the workers**')![3], workers.toLocaleString('en'))
  const plan = new Map(rowsOf(planTable(STORE)).map(([name, ...cells]) => [name, cells]))
  assert.deepEqual(plan.get('nightly snapshots, both editions'), ['17 min', '8.3 h', '27.8 h'])
  assert.deepEqual(plan.get('probes per second, each name within 30 days'), ['3.86', '116', '386'])
  assert.deepEqual(plan.get('workers with at most 2 TB of data'), ['1', '1', '2'])
  assert.equal(plan.get('write-ahead log of the crawl per day')![2], '10 GB')
})

test('the projection has the tables on the workers that the store distributes', () => {
  const growing = DISTRIBUTED_TABLES.filter((name) => !SMALL.includes(name))
  assert.deepEqual([...GROWING_TABLES.workers].toSorted(), growing.toSorted())
})

test('the projection has every table of the schema that grows with the names', () => {
  const schema = globSync(`${SCHEMA}/*/*.sql`).map((path) => readFileSync(path, 'utf8'))
  const tables = schema.flatMap((text) => [...text.matchAll(/^create table (\w+)/gm)].map(([, name]) => name!))
  assert.deepEqual(
    tables.filter((name) => !GROWING.includes(name) && !SMALL.includes(name)),
    [],
    'a new table: say in scripts/store-sizes/projection.ts where it is, or that it is small',
  )
  assert.deepEqual(
    GROWING.filter((name) => !tables.includes(name)),
    [],
  )
})

for (const [title, table] of [
  ['Bytes of each table', sizeTable(STORE)],
  ['Machines and times', planTable(STORE)],
] as const)
  test(`docs/scaling.md: the table of "${title}" is in the format of the script's output`, () => {
    const section = sections(readPage('scaling.md'), 2).get(title)!
    const [header] = table.split('\n')
    assert.ok(section.includes(`${header}\n`), `not the header ${header}`)
    const [found, expected] = [tableOf(section, header!.split(' | ')[0]!.slice(2)), rowsOf(table)]
    const cells = (rows: string[][]): string[][] => rows.map(([name = '', ...rest]) => [name, ...rest.map(formOf)])
    assert.deepEqual(cells(found), cells(expected))
  })
