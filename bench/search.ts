/**
 * `npm run bench:search`: measures the search of a SQLite store of names: adding them, the size of the keys, and random
 * patterns, whose names are compared with those that a scan of all names finds. With `--list FILE`, names are drawn from
 * the sequences of characters in that list, otherwise they are those of the other benches.
 */

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { addNames } from '../src/registrations/add-names.ts'
import { type NameSearch, parseSearch } from '../src/search/pattern.ts'
import { openStore } from '../src/store/open.ts'
import type { InverseReader } from '../src/store/port/inverse.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { isFoundBy } from '../test/store/found-names.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { quantile } from './measure/rounds.ts'
import { type RandomSource, randomInt, seededRandom } from './world/random.ts'
import { type StoreFiles, storeFilesIn } from './world/store.ts'
import { domainNameAt } from './world/world.ts'

const options = readTexts({ names: '1000000', patterns: '1000', compared: '100', list: '', seed: '1' })
const COUNT = Number(options.names)
const SEED = Number(options.seed)
const BATCH = 100_000
const PAGE_ROWS = 100
/** Characters that decide about the next one. */
const CONTEXT = 3
const START = '\n'.repeat(CONTEXT)

const nextName =
  options.list === ''
    ? (index: number) => domainNameAt({ seed: SEED, names: COUNT, text: false }, index)
    : modelOf(options.list)
const folder = makeTemporaryFolder()
try {
  const files = storeFilesIn(folder)
  const metrics: Metric[] = []
  const store = await openStore(files.url, { access: 'write', ledger: 'own', secret: null })
  const start = process.cpuUsage()
  await addNames(
    batches(),
    { insertsUnknown: true, makesDue: false },
    { store, signal: new AbortController().signal, onAdded: () => {} },
  )
  metrics.push(metric('adding names, processor time', cpuSince(start) / COUNT, 'µs per name'))
  const searches = randomSearches()
  metrics.push(...(await timeSearches(store.inverse, searches, 'not merged: ')))
  const merge = await measureCommand(['index'], { env: files.env })
  metrics.push(metric('merging, processor time', (merge.usage.cpuSeconds / COUNT) * 1e6, 'µs per name'))
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
  rmSync(folder, { recursive: true })
}

/** The names whose characters follow each other as in a list, by their number. */
function modelOf(path: string): (index: number) => DomainName {
  const following = new Map<string, string>()
  for (const line of readFileSync(path, 'latin1').split('\n').slice(0, 300_000)) {
    const text = `${START}${line}\n`
    for (let at = CONTEXT; at < text.length; at++) {
      const context = text.slice(at - CONTEXT, at)
      const known = following.get(context) ?? ''
      if (known.length < 2_000) following.set(context, known + text[at])
    }
  }
  return (index) => {
    for (let attempt = 0; ; attempt++) {
      const name = drawName(following, seededRandom(SEED, index, attempt))
      if (/^[a-z0-9-]{2,63}(\.[a-z0-9-]{2,20}){1,3}$/.test(name)) return name as DomainName
    }
  }
}

function drawName(following: ReadonlyMap<string, string>, random: RandomSource): string {
  let text = START
  for (;;) {
    const choices = following.get(text.slice(-CONTEXT))!
    const next = choices[randomInt(random, choices.length)]!
    if (next === '\n' || text.length > 80) return text.slice(CONTEXT)
    text += next
  }
}

async function* batches(): AsyncGenerator<DomainName[]> {
  for (let from = 0; from < COUNT; from += BATCH) yield [...new Set(namesBetween(from, Math.min(COUNT, from + BATCH)))]
}

function* namesBetween(from: number, to: number): Generator<DomainName> {
  for (let index = from; index < to; index++) yield nextName(index)
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
