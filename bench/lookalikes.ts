/**
 * `npm run bench:lookalikes`: measures the lookalikes of brands in a SQLite store of names: the candidates, reading them
 * from the index, merged and beside 10 and 150 runs that are not merged, and whole pages. Brands are labels of the names,
 * or those of `--brands FILE`. With `--folder PATH`, it uses the store that an earlier bench left there.
 */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type Brand, parseBrand } from '../src/lookalikes/brand.ts'
import { BrandLookalikes } from '../src/lookalikes/lookalikes.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import { parseName } from '../src/values/domain-name.ts'
import { lookalikePages } from '../test/store/lookalike-pages.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { quantile } from './measure/rounds.ts'
import { addNamesUpTo, NAME_OPTIONS, nameSource } from './search/name-store.ts'
import { randomInt, seededRandom } from './world/random.ts'
import { storeFilesIn } from './world/store.ts'

const options = readTexts({ ...NAME_OPTIONS, count: '200', brands: '' })
const names = nameSource(options)
/** Names of a run that is not merged, and how many such runs there are in each state. */
const NAMES_PER_RUN = 500
const UNMERGED_RUNS = [10, 150]
const MAX_MILLISECONDS = 50
const WARM_UPS = 50
/** Names that no earlier bench has left in the store. */
const RUN_PREFIX = Date.now().toString(36)

const folder = options.folder || makeTemporaryFolder()
try {
  const files = storeFilesIn(folder)
  if (!existsSync(files.facts)) {
    const store = await openStore(files.url, { access: 'write', ledger: 'own', secret: null })
    await addNamesUpTo(store, names)
    await store.close()
  }
  await measureCommand(['index'], { env: files.env })
  const store = await openStore(files.url, { access: 'write', ledger: 'own', secret: null })
  const brands = readBrands()
  const metrics = [...(await timePages(store, brands, 'merged')), ...(await sizesOf(store, brands))]
  let runs = 0
  for (const wanted of UNMERGED_RUNS) {
    for (; runs < wanted; runs++) await addRun(store, runs)
    const published = (await store.inverseIndex.runs()).length
    metrics.push(
      ...(await timePages(store, brands, `beside ${wanted} runs of ${NAMES_PER_RUN} names, ${published} in all`)),
    )
  }
  await store.close()
  report('lookalikes', metrics, [`${names.count.toLocaleString('en')} names, ${brands.length} brands`], {})
} finally {
  if (options.folder === '') rmSync(folder, { recursive: true })
}

/** Brands with labels of 4 characters or more. */
function readBrands(): Brand[] {
  const random = seededRandom(names.seed, 17, 17)
  const texts =
    options.brands === ''
      ? Array.from({ length: 20 * Number(options.count) }, () => names.nameAt(randomInt(random, names.count)))
      : gunzipSync(readFileSync(options.brands)).toString().split('\n')
  const brands = texts.flatMap((text) => {
    const name = parseName(text)
    const brand = name === null ? '' : parseBrand(name)
    return typeof brand === 'string' || brand.label.length < 4 ? [] : [brand]
  })
  return [...new Map(brands.map((brand) => [brand.domain, brand])).values()].slice(0, Number(options.count))
}

async function addRun(store: Store, run: number): Promise<void> {
  await addNamesUpTo(store, {
    count: NAMES_PER_RUN,
    nameAt: (index) => parseName(`${RUN_PREFIX}-${run}-${names.nameAt(index)}`)!,
  })
}

/** The times of the candidates, of reading them, and of the first page. */
async function timePages(store: Store, brands: readonly Brand[], state: string): Promise<Metric[]> {
  const pageOf = lookalikePages(store)
  for (const { domain } of brands.slice(0, WARM_UPS)) await pageOf({ of: domain })
  const times = { candidates: [] as number[], read: [] as number[], page: [] as number[] }
  for (const brand of brands) {
    const found = timed(times.candidates, () => new BrandLookalikes(brand))
    const start = process.cpuUsage()
    await store.inverse.namesOfParts(found.parts)
    if (found.halves !== null) await store.inverse.namesOfParts(found.halves)
    times.read.push(millisecondsSince(start))
    const startOfPage = process.cpuUsage()
    await pageOf({ of: brand.domain })
    times.page.push(millisecondsSince(startOfPage))
  }
  return [
    metric(`${state}: candidates, median`, quantile(times.candidates, 0.5), 'ms'),
    metric(`${state}: reading them, median`, quantile(times.read, 0.5), 'ms'),
    metric(`${state}: reading them, 99 of 100`, quantile(times.read, 0.99), 'ms'),
    metricWithMax(`${state}: first page of 100, median`, quantile(times.page, 0.5), 'ms', MAX_MILLISECONDS),
    metricWithMax(`${state}: first page, 99 of 100`, quantile(times.page, 0.99), 'ms', MAX_MILLISECONDS),
  ]
}

function timed<Result>(times: number[], work: () => Result): Result {
  const start = process.cpuUsage()
  const result = work()
  times.push(millisecondsSince(start))
  return result
}

function millisecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

async function sizesOf(store: Store, brands: readonly Brand[]): Promise<Metric[]> {
  const parts: number[] = []
  const read: number[] = []
  const rows: number[] = []
  for (const brand of brands) {
    const found = new BrandLookalikes(brand)
    const { names: known } = await store.inverse.namesOfParts(found.parts)
    parts.push(found.parts.starts.length)
    read.push(known.length)
    rows.push(known.filter((name) => found.judge(name) !== null).length)
  }
  return [
    metric('candidates of a brand, median', quantile(parts, 0.5), 'candidates'),
    metric('candidates of a brand, 99 of 100', quantile(parts, 0.99), 'candidates'),
    metric('names read for a brand, median', quantile(read, 0.5), 'names'),
    metric('names read for a brand, 99 of 100', quantile(read, 0.99), 'names'),
    metric('lookalikes of a brand, median', quantile(rows, 0.5), 'names'),
  ]
}
