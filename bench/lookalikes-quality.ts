/**
 * `npm run bench:lookalikes-quality`: how many of dnstwist's permutations of brands are found among known names, and how
 * many of 500 lookalikes among the real names of `--list FILES` (separated by commas) are imitations by the rules of
 * docs/performance.md. `--brands FILE`: a list of domains, the best known first. Files may be compressed by gzip.
 */

import { readFileSync, rmSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type Brand, parseBrand } from '../src/lookalikes/brand.ts'
import { BrandLookalikes, type Lookalike } from '../src/lookalikes/lookalikes.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import { type DomainName, parseName } from '../src/values/domain-name.ts'
import { lookalikePages } from '../test/store/lookalike-pages.ts'
import { type Permutations, permutationsOf } from './lookalikes/dnstwist.ts'
import { imitationRules } from './lookalikes/labels.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'
import { addNamesUpTo } from './search/name-store.ts'
import { randomInt, seededRandom } from './world/random.ts'
import { storeFilesIn } from './world/store.ts'

const options = readTexts({ brands: '', list: '', count: '200', rows: '500', seed: '1' })
/** dnstwist makes tens of thousands of permutations of longer labels. */
const LABEL_LENGTHS = { min: 4, max: 15 }
const SUFFIXES = [
  'com',
  'net',
  'org',
  'info',
  'co',
  'io',
  'de',
  'ru',
  'co.uk',
  'com.br',
  'shop',
  'xyz',
  'online',
  'top',
]
const MIN_RECALL = 0.99
/** The scores of each band, the second excluded. */
const BANDS = [
  [85, 101],
  [70, 85],
  [60, 70],
  [50, 60],
  [40, 50],
  [11, 40],
] as const
const PAGE_ROWS = 500
/** The brands without a list. */
const BRANDS = ['google.com', 'paypal.com', 'wikipedia.org', 'github.com', 'dropbox.com', 'spiegel.de', 'bbc.co.uk']

const folder = makeTemporaryFolder()
try {
  const real = options.list === '' ? [] : options.list.split(',').flatMap(readNames)
  const brands = readBrands()
  const files = storeFilesIn(folder)
  const open = () => openStore(files.url, { access: 'write', ledger: 'own', secret: null })
  let store = await open()
  await add(store, real)
  const rows = real.length === 0 ? [] : await sampledRows(store, brands)
  const metrics: Metric[] = rows.length === 0 ? [] : precisionOf(rows, real)
  const permutations = permutationsOf(
    brands.map(({ domain }) => domain),
    SUFFIXES,
  )
  for (const { byFuzzer } of permutations ?? []) await add(store, [...new Set(Object.values(byFuzzer).flat())])
  await store.close()
  await measureCommand(['index'], { env: files.env })
  store = await open()
  if (permutations !== null) metrics.push(...(await recallOf(store, permutations)))
  await store.close()
  report(
    'lookalikes-quality',
    metrics,
    [`${brands.length} brands, ${real.length.toLocaleString('en')} real names`],
    rows,
  )
} finally {
  rmSync(folder, { recursive: true })
}

function readNames(path: string): DomainName[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text.split('\n').flatMap((line) => parseName(line) ?? [])
}

function readBrands(): Brand[] {
  const brands = (options.brands === '' ? BRANDS.map((text) => parseName(text)!) : readNames(options.brands)).flatMap(
    (name) => {
      const brand = parseBrand(name)
      if (typeof brand === 'string' || brand.domain !== name) return []
      const { length } = brand.text
      return length < LABEL_LENGTHS.min || length > LABEL_LENGTHS.max ? [] : [brand]
    },
  )
  const firsts = new Map(brands.toReversed().map((brand) => [brand.label, brand]))
  return brands.filter((brand) => firsts.get(brand.label) === brand).slice(0, Number(options.count))
}

async function add(store: Store, names: readonly DomainName[]): Promise<void> {
  await addNamesUpTo(store, { count: names.length, nameAt: (index) => names[index]! })
}

/** All rows of a brand but those that only contain it. */
async function rowsOf(store: Store, brand: string): Promise<Lookalike[]> {
  const pageOf = lookalikePages(store)
  const rows: Lookalike[] = []
  let next: string | null = null
  do {
    const page = await pageOf({ of: brand, limit: PAGE_ROWS, next })
    const scored = page.result.filter(({ reasons }) => reasons[0] !== 'contains')
    rows.push(...scored)
    next = scored.length === PAGE_ROWS ? page.meta.next : null
  } while (next !== null)
  return rows
}

/** Asks for the permutations, which are among the known names. */
async function recallOf(store: Store, permutations: readonly Permutations[]): Promise<Metric[]> {
  const counts = new Map<string, { all: number; found: number }>()
  const lacking: string[] = []
  let beyond = 0
  for (const { brand, byFuzzer } of permutations) {
    const all = new Set(Object.values(byFuzzer).flat())
    const found = new Set<string>((await rowsOf(store, brand)).map(({ name }) => name))
    for (const [fuzzer, names] of [...Object.entries(byFuzzer), ['all', [...all]] as const]) {
      const count = counts.get(fuzzer) ?? { all: 0, found: 0 }
      counts.set(fuzzer, count)
      count.all += names.length
      count.found += names.filter((name) => found.has(name)).length
    }
    lacking.push(...[...all].filter((name) => !found.has(name)).slice(0, 3))
    const labels = [...generatedLabels(brand)].filter((label) => !all.has(`${label}.${suffixOf(brand)}` as DomainName))
    beyond += labels.length
  }
  console.log(`lacking, for example: ${lacking.slice(0, 40).join(' ')}`)
  const share = ({ all, found }: { all: number; found: number }) => found / Math.max(1, all)
  return [
    metricWithMin("dnstwist's permutations that are found", share(counts.get('all')!), '', MIN_RECALL),
    ...[...counts].flatMap(([fuzzer, count]) => [
      metric(`${fuzzer}: permutations`, count.all, 'names'),
      metric(`${fuzzer}: found`, share(count), ''),
    ]),
    metric(
      'candidates of a brand under its own suffix that dnstwist lacks, mean',
      beyond / permutations.length,
      'names',
    ),
  ]
}

function generatedLabels(brand: string): Set<string> {
  const parsed = parseBrand(parseName(brand)!) as Brand
  const { starts } = new BrandLookalikes(parsed).parts
  return new Set(starts.filter((start) => start.endsWith('.')).map((start) => start.slice(0, -1)))
}

function suffixOf(domain: string): string {
  return domain.slice(domain.indexOf('.') + 1)
}

type LabelledRow = Lookalike & { brand: Brand }

/** Rows of all brands: as many of each band of scores as there are, at most its share of the rows, drawn with the seed. */
async function sampledRows(store: Store, brands: readonly Brand[]): Promise<LabelledRow[]> {
  const rows: LabelledRow[] = []
  for (const brand of brands) for (const row of await rowsOf(store, brand.domain)) rows.push({ ...row, brand })
  const random = seededRandom(Number(options.seed), 23, 23)
  const shuffled = rows.map((row) => ({ row, at: randomInt(random, 2 ** 30) })).sort((a, b) => a.at - b.at)
  let left = Number(options.rows)
  return BANDS.toReversed().flatMap(([bottom, top], index) => {
    const share = Math.ceil(left / (BANDS.length - index))
    const drawn = shuffled.filter(({ row: { score } }) => score >= bottom && score < top).slice(0, share)
    left -= drawn.length
    return drawn.map(({ row }) => row)
  })
}

/** The share of imitations by score. */
function precisionOf(rows: readonly LabelledRow[], real: readonly DomainName[]): Metric[] {
  const isImitation = imitationRules(real)
  const labelled = rows.map((row) => ({ ...row, isGood: isImitation(row.name, row.brand) }))
  for (const { name, score, reasons, brand, isGood } of labelled)
    console.log(`${isGood ? '+' : '-'} ${score} ${name} of ${brand.domain}: ${reasons.join()}`)
  return BANDS.flatMap(([bottom, top]) => {
    const inBand = labelled.filter(({ score }) => score >= bottom && score < top)
    const share = inBand.filter(({ isGood }) => isGood).length / inBand.length
    return inBand.length === 0
      ? []
      : [metric(`score ${bottom} to ${top - 1}: imitations of ${inBand.length}`, share, '')]
  })
}
