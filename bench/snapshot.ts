/**
 * `npm run bench:snapshot`: measures the speed and memory of snapshots of a store in use, compares the list with `pigz
 * -6` on as many threads, and measures lookups during a build.
 */

import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SnapshotEdition } from '../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../src/jobs/file-store/folder.ts'
import { buildEdition } from '../src/jobs/snapshot.ts'
import { openStore } from '../src/store/open.ts'
import type { NameListing } from '../src/store/port/listing.ts'
import { dayOf } from '../src/values/time.ts'
import type { OpenLoad, OpenLoadResult } from './load/open-loop.ts'
import { runOpenLoad, startDomaindex } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { type GzipRun, requirePigz, runPigz } from './measure/pigz.ts'
import { domaindexCommand, makeTemporaryFolder, measureCommand, startProcess, stopProcess } from './measure/process.ts'
import { timeWork } from './measure/processor-time.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { createListedStore, listedName } from './world/listed-store.ts'
import { randomInt, seededRandom } from './world/random.ts'
import { createTokens, type StoreFiles, storeFilesIn } from './world/store.ts'

const RATE = 2000
const ACCOUNTS = 32
const QUERY_COUNT = 20_000
const NICE = 10

requirePigz()
const { names: nameCount, rounds, seconds, folder: givenFolder, only } = readOptions(20_000_000, 10, 3)
const folder = givenFolder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const files = join(folder, 'files')
const listPath = join(folder, 'names.txt')
const threads = availableParallelism()
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}
try {
  const store = await storeOf(nameCount)
  const names = await measureSorting(store)
  if (only === null || only === 'speed') await measureSpeed(store, names)
  if (only === null || only === 'memory') await measureMemory(store)
  if (only === null || only === 'lookups') await measureLookupsDuringBuilds(store)
} finally {
  if (givenFolder === null) rmSync(folder, { recursive: true })
}
report('snapshot', metrics, notes(), raw)

function notes(): string[] {
  return [
    `${nameCount.toLocaleString('en')} random synthetic names, ${threads} threads, interleaved, median of ${rounds}; written, hashed and synced as a build does`,
    `pigz -p${threads} -6 of the same list from a file, output discarded; /lookup at ${RATE} requests/s, ${seconds} s per round, builds at nice ${NICE} one after another`,
  ]
}

async function storeOf(names: number): Promise<StoreFiles> {
  const store = storeFilesIn(folder, `listed-${names}`)
  if (existsSync(store.facts)) return store
  const startedAt = performance.now()
  const created = await createListedStore(store, names)
  console.error(
    `  created ${created.toLocaleString('en')} names in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  )
  return store
}

/** Runs `work` with a listing of the store, as a build does. */
async function withListing<Result>(
  { url }: StoreFiles,
  work: (listing: NameListing) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const listing = await store.listing.start({ signal: new AbortController().signal })
  try {
    return await work(listing)
  } finally {
    await listing.close()
    await store.close()
  }
}

/**
 * Starts the first listing, which sorts all names, and writes them to the list that pigz reads. Returns their number.
 */
async function measureSorting(store: StoreFiles): Promise<number> {
  const startedAt = performance.now()
  return withListing(store, async (listing) => {
    const seconds = (performance.now() - startedAt) / 1000
    if (seconds > 1) metrics.push(metric('the first time: names sorted', listing.estimatedNames! / seconds, 'names/s'))
    await pipeline(Readable.from(textOf(listing)), createWriteStream(listPath))
    return listing.estimatedNames!
  })
}

async function* textOf(listing: NameListing): AsyncGenerator<Uint8Array> {
  for await (const { text } of listing.names()) yield text
}

async function measureSpeed(store: StoreFiles, names: number): Promise<void> {
  const runs = await runInterleaved(rounds, {
    pigz: () => runPigz(listPath, threads),
    snapshot: () => runBuild(store, 'snapshot'),
    enriched: () => runBuild(store, 'enriched'),
  })
  raw.speed = runs
  type Kind = keyof typeof runs
  const rate = (kind: Kind): number => names / medianOf(runs[kind], (run) => run.seconds)
  const cost = (kind: Kind): number => (1e6 * medianOf(runs[kind], (run) => run.cpuSeconds)) / names
  const bytes = (kind: Kind): number => runs[kind][0]!.bytes
  metrics.push(
    metric(`pigz -p${threads} -6`, rate('pigz'), 'names/s'),
    metric('  processor time', cost('pigz'), 'µs per name'),
    metric('the list', rate('snapshot'), 'names/s'),
    metric('  processor time', cost('snapshot'), 'µs per name'),
    metricWithMin('  speed to pigz', rate('snapshot') / rate('pigz'), '×', 1.3),
    metricWithMax('  size to pigz', bytes('snapshot') / bytes('pigz'), 'times', 1.03),
    metric('  bytes per name', bytes('snapshot') / names, 'bytes'),
    metricWithMin('the edition with columns', rate('enriched'), 'rows/s', 200_000),
    metric('  processor time', cost('enriched'), 'µs per row'),
    metric('  bytes per row', bytes('enriched') / names, 'bytes'),
  )
}

async function runBuild(store: StoreFiles, edition: SnapshotEdition): Promise<GzipRun> {
  const fileStore = openFolderFileStore(files)
  const run = { signal: new AbortController().signal, requireLock: async () => {}, onRows: () => {}, threads }
  return withListing(store, async (listing) => {
    const { result, ...time } = await timeWork(() =>
      buildEdition(edition, dayOf(listing.startedAt), { fileStore, listing }, run),
    )
    return { ...time, bytes: result.manifest.bytes }
  })
}

/** Measures the whole command with both editions. */
async function measureMemory({ env }: StoreFiles): Promise<void> {
  const { seconds, usage } = await measureCommand(['build', 'snapshot'], { env: { ...env, DOMAINDEX_FILES: files } })
  raw.command = { seconds, usage }
  metrics.push(
    metric('both editions by the command', seconds, 's'),
    metric('  processor time', usage.cpuSeconds, 's'),
    metricWithMax('  peak resident memory', usage.peakBytes / 1e6, 'MB', 300),
  )
}

async function measureLookupsDuringBuilds(store: StoreFiles): Promise<void> {
  const tokens = await createTokens(store, ACCOUNTS, 1)
  const server = await startDomaindex(store)
  const load = loadOf(server.origin, tokens)
  await runOpenLoad(folder, { ...load, seconds: 3 })
  const figures = await runInterleaved(rounds, {
    without: () => runOpenLoad(folder, load),
    during: () => loadDuringBuilds(store, load),
  })
  await stopProcess(server.running)
  raw.lookups = figures
  const [without, during] = [figures.without, figures.during].map((ofKind) => medianOf(ofKind, ({ p99 }) => p99))
  metrics.push(
    metric('/lookup p99 alone', without!, 'ms'),
    metric('/lookup p99 while snapshots are built', during!, 'ms'),
    metricWithMax('  to that alone', during! / without!, '×', 1.5),
  )
}

/** Returns the result of a load while builds run one after another. */
async function loadDuringBuilds({ env }: StoreFiles, load: OpenLoad): Promise<OpenLoadResult> {
  let isBuilding = true
  const builds = (async () => {
    while (isBuilding) {
      const build = startProcess(domaindexCommand('build', 'snapshot'), {
        nice: NICE,
        env: { ...env, DOMAINDEX_FILES: files },
      })
      const stopTimer = setInterval(() => isBuilding || build.child.kill('SIGTERM'), 100)
      await build.exited
      clearInterval(stopTimer)
    }
  })()
  await new Promise((done) => setTimeout(done, 1000))
  const figures = await runOpenLoad(folder, load).finally(() => {
    isBuilding = false
  })
  await builds
  return figures
}

/** Lookups of known names in random order from many accounts. */
function loadOf(origin: string, tokens: readonly string[]): OpenLoad {
  const random = seededRandom(1, 0, 77)
  const bodies = Array.from({ length: QUERY_COUNT }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: listedName(randomInt(random, nameCount)),
  }))
  return { url: `${origin}/v1.0/lookup`, rate: RATE, seconds, bodies }
}
