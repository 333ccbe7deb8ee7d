/**
 * `npm run bench:inverse`: measures the inverse index of a SQLite store: its size, merging, look-ups beside those of
 * /reverseip, and one value that very many names have.
 */

import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { BlockWriter, startEvent } from '../src/inverse/entries/block.ts'
import { addressKey } from '../src/inverse/entries/value-key.ts'
import { openStore } from '../src/store/open.ts'
import type { InverseQuery } from '../src/store/port/inverse.ts'
import type { Store } from '../src/store/port/store.ts'
import { compareBytewise } from '../src/values/bytewise-order.ts'
import type { IpAddress } from '../src/values/ip-address.ts'
import { type BenchOptions, exitIfHelp, readOptions } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { median, runInterleaved } from './measure/rounds.ts'
import { importWorld } from './world/imported-world.ts'
import { type StoreFiles, storeFilesIn } from './world/store.ts'
import { firstProbeRound, HOT_ADDRESS, observationAt, type World } from './world/world.ts'

exitIfHelp('--names N (300000), --rounds N (5), --folder PATH')
const LOOKUPS = 2_000
const PAGE_ROWS = 1_000
const HUGE_VALUE_NAMES = 5_000_000
const [FEW, MANY] = ['198.51.100.1', '198.51.100.2'] as [IpAddress, IpAddress]
/** Names of a value that has few. */
const FEW_NAMES = 10

const options = readOptions(300_000)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
try {
  const world: World = { seed: 1, names: options.names, text: false }
  const files = storeFilesIn(folder)
  await importWorld(folder, files, world)
  const metrics: Metric[] = []
  const store = await openStore(files.url, { access: 'read', ledger: 'own', secret: null })
  try {
    const before = await measureLookups(store, world, options)
    metrics.push(...sizeMetrics(files, world, 'as imported'))
    metrics.push(...lookupMetrics('not merged: ', before))
    const merge = await measureCommand(['index'], { env: files.env })
    metrics.push(metric('merging, processor time', (merge.usage.cpuSeconds / world.names) * 1e6, 'µs per name'))
    metrics.push(...sizeMetrics(files, world, 'merged'))
    metrics.push(...lookupMetrics('merged: ', await measureLookups(store, world, options)))
  } finally {
    await store.close()
  }
  metrics.push(...(await measureHugeValue(files, options)))
  report('inverse', metrics, notes(world), {})
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes({ names, seed }: World): string[] {
  return [
    `${names.toLocaleString('en')} synthetic names of seven record types, seed ${seed}, imported by domaindex import`,
    `look-ups at the port of the store, in one process, in turn with those of /reverseip; median of ${options.rounds}`,
    `the huge value: ${HUGE_VALUE_NAMES.toLocaleString('en')} names on one address, whose records are gone`,
  ]
}

function sizeMetrics({ facts }: StoreFiles, { names }: World, state: string): Metric[] {
  const database = new DatabaseSync(facts, { readOnly: true })
  const { bytes } = database
    .prepare(`select sum(pgsize) as bytes from dbstat where name = 'inverse_block' and aggregate = true`)
    .get() as { bytes: number }
  const { runs } = database.prepare(`select count(*) as runs from inverse_run where state = 'published'`).get() as {
    runs: number
  }
  database.close()
  return [
    metric(`runs, ${state}`, runs, ''),
    state === 'merged'
      ? metricWithMax(`size, ${state}`, bytes / names, 'bytes per name', 400)
      : metric(`size, ${state}`, bytes / names, 'bytes per name'),
  ]
}

type Lookups = { reverse: number; few: number; host: number; reversePage: number; page: number; lastPage: number }

/** Microseconds of a look-up of each kind. Every address is asked in both ways, and the rows are compared. */
async function measureLookups(store: Store, world: World, { rounds }: BenchOptions): Promise<Lookups> {
  const addresses = sampleAddresses(world)
  for (const address of addresses.slice(0, 200)) await requireSameRows(store, address)
  const hosts = sampleHosts(world)
  const byAddress = (address: IpAddress): InverseQuery => ({ by: 'addresses', first: address, last: address })
  const hot = byAddress(HOT_ADDRESS as IpAddress)
  const last = await lastFullPage(store, hot)
  const figures = await runInterleaved(rounds, {
    reverse: () => timeEach(addresses, (address) => store.facts.neighbours([address], null, null, FEW_NAMES)),
    few: () => timeEach(addresses, (address) => store.inverse.spans(byAddress(address), {}, null, FEW_NAMES)),
    host: () =>
      timeEach(hosts, (host) =>
        store.inverse.spans({ by: 'hosts', host, match: 'exact', types: ['NS'] }, {}, null, FEW_NAMES),
      ),
    reversePage: () =>
      timeEach(repeated(100), () => store.facts.neighbours([HOT_ADDRESS as IpAddress], null, null, PAGE_ROWS)),
    page: () => timeEach(repeated(100), () => store.inverse.spans(hot, {}, null, PAGE_ROWS)),
    lastPage: () => timeEach(repeated(100), () => store.inverse.spans(hot, {}, last, PAGE_ROWS)),
  })
  return Object.fromEntries(Object.entries(figures).map(([name, each]) => [name, median(each)])) as Lookups
}

function lookupMetrics(state: string, { reverse, few, host, reversePage, page, lastPage }: Lookups): Metric[] {
  return [
    metric(`${state}/reverseip of an address, up to ${FEW_NAMES} rows`, reverse, 'µs'),
    metric(`${state}spans of an address, up to ${FEW_NAMES}`, few, 'µs'),
    metricWithMax(`${state}  above /reverseip`, few - reverse, 'µs', 15),
    metric(`${state}spans of a name server, up to ${FEW_NAMES}`, host, 'µs'),
    metric(`${state}/reverseip, page of ${PAGE_ROWS} rows`, reversePage, 'µs'),
    metric(`${state}spans, page of ${PAGE_ROWS}`, page, 'µs'),
    metricWithMax(`${state}  times /reverseip`, page / reversePage, '×', 1.3),
    metric(`${state}spans, the last full page`, lastPage, 'µs'),
  ]
}

/** Addresses of a sample of the names, the hot one left out. */
function sampleAddresses(world: World): IpAddress[] {
  return sampleOf(world, (dns) => (dns.A ?? []).filter((address) => address !== HOT_ADDRESS)) as IpAddress[]
}

function sampleHosts(world: World): string[] {
  return sampleOf(world, (dns) => (dns.NS as string[] | undefined) ?? [])
}

type Dns = ReturnType<typeof observationAt>['dns']

function sampleOf(world: World, values: (dns: Dns) => readonly string[]): string[] {
  const step = Math.max(1, Math.floor(world.names / (2 * LOOKUPS)))
  const found = new Set<string>()
  for (let index = 0; index < world.names && found.size < LOOKUPS; index += step)
    for (const value of values(observationAt(world, index, firstProbeRound()).dns)) found.add(value)
  return [...found]
}

async function requireSameRows(store: Store, address: IpAddress): Promise<void> {
  const query: InverseQuery = { by: 'addresses', first: address, last: address }
  const { spans } = await store.inverse.spans(query, {}, null, PAGE_ROWS)
  const { rows } = await store.facts.neighbours([address], null, null, PAGE_ROWS)
  const present = (
    JSON.parse(Buffer.concat(rows.map((row) => Buffer.from(row))).toString()) as { target: string }[]
  ).map(({ target }) => target)
  assert.deepEqual(spans.map(({ name }) => name as string).sort(compareBytewise), present)
}

async function lastFullPage(store: Store, query: InverseQuery): Promise<Uint8Array | null> {
  let position: Uint8Array | null = null
  for (;;) {
    const page: Awaited<ReturnType<Store['inverse']['spans']>> = await store.inverse.spans(
      query,
      {},
      position,
      PAGE_ROWS,
    )
    if (page.position === null || page.spans.length < PAGE_ROWS) return position
    const following = await store.inverse.spans(query, {}, page.position, PAGE_ROWS)
    if (following.spans.length < PAGE_ROWS) return position
    position = page.position
  }
}

function repeated(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Microseconds of one call, the mean over all. */
async function timeEach<Item>(items: readonly Item[], call: (item: Item) => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  for (const item of items) {
    await call(item)
    await new Promise<void>((resolve) => setImmediate(resolve)) // each call in a turn of its own, as in a server
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / items.length
}

/** Adds a run with two values, of few and of very many names, and compares pages of both. */
async function measureHugeValue(files: StoreFiles, { rounds }: BenchOptions): Promise<Metric[]> {
  writeHugeRun(files.facts)
  const store = await openStore(files.url, { access: 'read', ledger: 'own', secret: null })
  const page = (address: IpAddress, position: Uint8Array | null) => () =>
    timeEach(repeated(500), () =>
      store.inverse.spans({ by: 'addresses', first: address, last: address }, {}, position, FEW_NAMES),
    )
  try {
    let thousandth: Uint8Array | null = null
    const query: InverseQuery = { by: 'addresses', first: MANY, last: MANY }
    for (let number = 1; number < 1000; number++)
      thousandth = (await store.inverse.spans(query, {}, thousandth, PAGE_ROWS)).position
    const figures = await runInterleaved(rounds, {
      few: page(FEW, null),
      many: page(MANY, null),
      thousandth: page(MANY, thousandth),
    })
    return [
      metric(`a value of ${FEW_NAMES} names, page of ${FEW_NAMES}`, median(figures.few), 'µs'),
      metric('a value of 5 million names, first page', median(figures.many), 'µs'),
      metric('a value of 5 million names, after 1,000 pages of 1,000', median(figures.thousandth), 'µs'),
    ]
  } finally {
    await store.close()
  }
}

function writeHugeRun(path: string): void {
  const database = new DatabaseSync(path)
  const run = database
    .prepare(`insert into inverse_run (state, fence, bytes) values ('published', 0, 0) returning number`)
    .get()!.number as number
  const insert = database.prepare(
    'insert into inverse_block (run, last_position, entries, checksum) values (?, ?, ?, 0)',
  )
  const writer = new BlockWriter()
  const at = firstProbeRound().at
  database.exec('begin')
  for (const [address, names] of [
    [FEW, FEW_NAMES],
    [MANY, HUGE_VALUE_NAMES],
  ] as const) {
    for (let index = 0; index < names; index++) {
      const key = Buffer.from(`${addressKey(address)}n${String(index).padStart(9, '0')}.example`, 'latin1')
      writer.add(key, key.length, [startEvent(at), startEvent(at) + 1], 2)
      if (index % 1000 === 999) for (const { last, bytes } of writer.take(false)) insert.run(run, last, bytes)
    }
  }
  for (const { last, bytes } of writer.take(true)) insert.run(run, last, bytes)
  database.exec('commit')
  database.close()
}
