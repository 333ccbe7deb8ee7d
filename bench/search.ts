/**
 * `npm run bench:search`: measures the search of a SQLite store of names: adding them, the size of the keys, and random
 * patterns, whose names are compared with those that a scan of all names finds. With `--list FILE`, names are drawn from
 * the sequences of characters in that list, otherwise they are those of the other benches. With `--folder PATH`, the store
 * stays there, and the bench uses one that is there already.
 */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type NameSearch, parseSearch } from '../src/search/pattern.ts'
import { openStore } from '../src/store/open.ts'
import type { InverseReader } from '../src/store/port/inverse.ts'
import { isFoundBy } from '../test/store/found-names.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { quantile } from './measure/rounds.ts'
import { addNamesUpTo, NAME_OPTIONS, nameSource } from './search/name-store.ts'
import { randomInt, seededRandom } from './world/random.ts'
import { type StoreFiles, storeFilesIn } from './world/store.ts'

const options = readTexts({ ...NAME_OPTIONS, patterns: '1000', compared: '100' })
const { count: COUNT, seed: SEED, nameAt: nextName } = nameSource(options)
const PAGE_ROWS = 100

const folder = options.folder || makeTemporaryFolder()
try {
  const files = storeFilesIn(folder)
  const metrics: Metric[] = []
  const isNew = !existsSync(files.facts)
  const store = await openStore(files.url, { access: 'write', ledger: 'own', secret: null })
  const searches = randomSearches()
  if (isNew) {
    const start = process.cpuUsage()
    await addNamesUpTo(store, { count: COUNT, nameAt: nextName })
    metrics.push(metric('adding names, processor time', cpuSince(start) / COUNT, 'µs per name'))
    metrics.push(...(await timeSearches(store.inverse, searches, 'not merged: ')))
  }
  const merge = await measureCommand(['index'], { env: files.env })
  if (isNew) metrics.push(metric('merging, processor time', (merge.usage.cpuSeconds / COUNT) * 1e6, 'µs per name'))
  metrics.push(...(await timeSearches(store.inverse, searches, 'merged: ')))
  await compareWithScan(store.inverse, searches.slice(0, Number(options.compared)))
  await store.close()
  metrics.push(...sizeMetrics(files))
  report(
    'search',
    metrics,
    [`${COUNT.toLocaleString('en')} names, seed ${SEED}${options.list && ', drawn from a list'}`],
    {},
  )
} finally {
  if (options.folder === '') rmSync(folder, { recursive: true })
}

/** Parts of 4 to 8 characters of names, at their start, in the middle, with a wildcard, or as an expression. */
function randomSearches(): NameSearch[] {
  const random = seededRandom(SEED, 7, 7)
  const searches: NameSearch[] = []
  while (searches.length < Number(options.patterns)) {
    const name = nextName(randomInt(random, COUNT)).split('.')[0]!
    const length = 4 + randomInt(random, 5)
    if (name.length < length + 1) continue
    const at = randomInt(random, name.length - length)
    const part = name.slice(at, at + length)
    const forms = [
      `*${part}*`,
      `${name.slice(0, length)}*`,
      `*${part.slice(0, 4)}*${part.slice(4)}*.*`,
      `/${part}[a-z0-9]/`,
    ]
    const search = parseSearch(forms[searches.length % forms.length]!)
    if (typeof search !== 'string') searches.push(search)
  }
  return searches
}

/** Milliseconds of the first page of each search. */
async function timeSearches(inverse: InverseReader, searches: readonly NameSearch[], state: string): Promise<Metric[]> {
  const times: number[] = []
  for (const { query, filter } of searches) {
    const start = process.cpuUsage()
    await inverse.names(query, filter, null, PAGE_ROWS)
    times.push(cpuSince(start) / 1000)
  }
  return [
    metricWithMax(`${state}first page of ${PAGE_ROWS}, median`, quantile(times, 0.5), 'ms', 20),
    metricWithMax(`${state}first page, 99 of 100`, quantile(times, 0.99), 'ms', 200),
    metric(`${state}first page, slowest`, Math.max(...times), 'ms'),
  ]
}

async function compareWithScan(inverse: InverseReader, searches: readonly NameSearch[]): Promise<void> {
  const expected = searches.map(() => new Set<string>())
  for (let index = 0; index < COUNT; index++) {
    const name = nextName(index)
    for (const [number, { query, filter }] of searches.entries()) {
      if (isFoundBy(query, name) && (filter === null || filter(name))) expected[number]!.add(name)
    }
  }
  for (const [number, { query, filter }] of searches.entries()) {
    const found: string[] = []
    let position: Uint8Array | null = null
    do {
      const page: Awaited<ReturnType<InverseReader['names']>> = await inverse.names(query, filter, position, 10_000)
      found.push(...page.names)
      position = page.position
    } while (position !== null)
    assert.equal(found.length, new Set(found).size, 'each name once')
    assert.deepEqual(found.sort(), [...expected[number]!].sort(), JSON.stringify(query))
  }
}

function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return user + system
}

function sizeMetrics({ facts }: StoreFiles): Metric[] {
  const database = new DatabaseSync(facts, { readOnly: true })
  const sizes = database.prepare(
    `select sum(pgsize) as bytes from dbstat where name like 'inverse%' and aggregate = true`,
  )
  const { bytes } = sizes.get() as { bytes: number }
  database.close()
  return [metric('size of all keys of names, merged', bytes / COUNT, 'bytes per name')]
}
