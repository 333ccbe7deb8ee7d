/**
 * `npm run bench:snapshot`: how fast snapshots are built from a store that is in use, the list in turn with `pigz -6`
 * of the same list on as many threads, how much memory that takes, and who waits meanwhile.
 */

import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openFolderFileStore } from '../src/jobs/file-store/folder.ts'
import { buildEdition, type SnapshotEdition } from '../src/jobs/snapshot.ts'
import { openStore } from '../src/store/open.ts'
import type { NameListing } from '../src/store/port/listing.ts'
import { dayOf } from '../src/values/time.ts'
import type { OpenFigures, OpenLoad } from './load/open-loop.ts'
import { openLoop, serve } from './load/server.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, start, temporary, timed } from './measure/process.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'
import { listedName, makeListedStore } from './world/listed-store.ts'
import { below, diceOf } from './world/random.ts'
import { makeTokens, type StoreFiles, storeIn } from './world/store.ts'

type Built = { seconds: number; bytes: number }

const RATE = 2000
const ACCOUNTS = 32
const ASKED = 20_000
const NICE = 10

if (spawnSync('pigz', ['--version']).status !== 0) {
  console.error('bench:snapshot needs pigz: apt-get install pigz')
  process.exit(1)
}
const { names: drawn, rounds, seconds, folder: given, only } = readOptions(20_000_000, 10, 3)
const folder = given ?? temporary()
mkdirSync(folder, { recursive: true })
const files = join(folder, 'files')
const list = join(folder, 'names.txt')
const threads = availableParallelism()
const lines: Line[] = []
const raw: Record<string, unknown> = {}
try {
  const store = await storeOf(drawn)
  const names = await measureOrder(store)
  if (only === null || only === 'speed') await measureSpeed(store, names)
  if (only === null || only === 'memory') await measureMemory(store)
  if (only === null || only === 'beside') await measureBeside(store)
} finally {
  if (given === null) rmSync(folder, { recursive: true })
}
report('snapshot', lines, notes(), raw)

function notes(): string[] {
  return [
    `${drawn.toLocaleString('en')} made-up names drawn, ${threads} threads, in turn, median of ${rounds}; written, digested and synced as a build does`,
    `pigz -p${threads} -6 of the same list from a file, to nowhere; /lookup at ${RATE} requests/s, ${seconds} s a round, builds at nice ${NICE} one after another`,
  ]
}

async function storeOf(names: number): Promise<StoreFiles> {
  const store = storeIn(folder, `listed-${names}`)
  if (existsSync(store.facts)) return store
  const begun = performance.now()
  const made = await makeListedStore(store, names)
  console.error(`  made ${made.toLocaleString('en')} names in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  return store
}

/** Runs `work` with a walk over the store, as a build does. */
async function walking<Result>({ url }: StoreFiles, work: (walk: NameListing) => Promise<Result>): Promise<Result> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const walk = await store.listing.start({ signal: new AbortController().signal })
  try {
    return await work(walk)
  } finally {
    await walk.close()
    await store.close()
  }
}

/** The first walk puts all names in order; then they are written to the list that pigz reads. How many they are. */
async function measureOrder(store: StoreFiles): Promise<number> {
  const begun = performance.now()
  return walking(store, async (walk) => {
    const seconds = (performance.now() - begun) / 1000
    if (seconds > 1) lines.push(figure('the first time: names put in order', walk.estimatedNames! / seconds, 'names/s'))
    await pipeline(Readable.from(textOf(walk)), createWriteStream(list))
    return walk.estimatedNames!
  })
}

async function* textOf(walk: NameListing): AsyncGenerator<Uint8Array> {
  for await (const { text } of walk.names()) yield text
}

async function measureSpeed(store: StoreFiles, names: number): Promise<void> {
  const runs = await inTurn(rounds, {
    pigz: runPigz,
    snapshot: () => runBuild(store, 'snapshot'),
    enriched: () => runBuild(store, 'enriched'),
  })
  raw.speed = runs
  const [pigz, ours, rows] = [runs.pigz, runs.snapshot, runs.enriched].map((of) => medianOf(of, (run) => run.seconds))
  const [packed, list, enriched] = [runs.pigz, runs.snapshot, runs.enriched].map((of) => of[0]!.bytes)
  lines.push(
    figure(`pigz -p${threads} -6`, names / pigz!, 'names/s'),
    figure('the list', names / ours!, 'names/s'),
    atLeast('  speed to pigz', pigz! / ours!, 'times', 1.3),
    atMost('  size to pigz', list! / packed!, 'times', 1.03),
    figure('  bytes a name', list! / names, 'bytes'),
    atLeast('the edition with columns', names / rows!, 'rows/s', 200_000),
    figure('  bytes a name', enriched! / names, 'bytes'),
  )
}

async function runBuild(store: StoreFiles, edition: SnapshotEdition): Promise<Built> {
  const fileStore = openFolderFileStore(files)
  const run = { signal: new AbortController().signal, requireLock: async () => {}, onRows: () => {}, threads }
  return walking(store, async (walk) => {
    const begun = performance.now()
    const { manifest } = await buildEdition(edition, dayOf(walk.startedAt), { fileStore, listing: walk }, run)
    return { seconds: (performance.now() - begun) / 1000, bytes: manifest.bytes }
  })
}

async function runPigz(): Promise<Built> {
  const begun = performance.now()
  const { stdout } = spawn('pigz', [`-p${threads}`, '-6', '-c', list], { stdio: ['ignore', 'pipe', 'inherit'] })
  let bytes = 0
  for await (const piece of stdout) bytes += piece.length
  return { seconds: (performance.now() - begun) / 1000, bytes }
}

/** Of the whole command, both editions. */
async function measureMemory({ env }: StoreFiles): Promise<void> {
  const { seconds, used } = await timed(['build', 'snapshot'], { env: { ...env, DOMAINDEX_FILES: files } })
  raw.command = { seconds, used }
  lines.push(
    figure('both editions by the command', seconds, 's'),
    figure('  processor time', used.cpuSeconds, 's'),
    atMost('  peak resident memory', used.peakBytes / 1e6, 'MB', 300),
  )
}

async function measureBeside(store: StoreFiles): Promise<void> {
  const tokens = await makeTokens(store, ACCOUNTS, 1)
  const server = await serve(store)
  const load = loadOf(server.origin, tokens)
  await openLoop(folder, { ...load, seconds: 3 })
  const figures = await inTurn(rounds, {
    without: () => openLoop(folder, load),
    beside: () => besideBuilds(store, load),
  })
  await end(server.started)
  raw.beside = figures
  const [without, beside] = [figures.without, figures.beside].map((of) => medianOf(of, ({ p99 }) => p99))
  lines.push(
    figure('/lookup p99 alone', without!, 'ms'),
    figure('/lookup p99 while snapshots are built', beside!, 'ms'),
    atMost('  to that alone', beside! / without!, 'times', 1.5),
  )
}

/** The figures of a load while one build follows another. */
async function besideBuilds({ env }: StoreFiles, load: OpenLoad): Promise<OpenFigures> {
  let building = true
  const builds = (async () => {
    while (building) {
      const build = start(domaindex('build', 'snapshot'), { nice: NICE, env: { ...env, DOMAINDEX_FILES: files } })
      const stopping = setInterval(() => building || build.child.kill('SIGTERM'), 100)
      await build.ended
      clearInterval(stopping)
    }
  })()
  await new Promise((done) => setTimeout(done, 1000))
  const figures = await openLoop(folder, load).finally(() => {
    building = false
  })
  await builds
  return figures
}

/** Names that have an answer, in no order, from many accounts. */
function loadOf(origin: string, tokens: readonly string[]): OpenLoad {
  const dice = diceOf(1, 0, 77)
  const bodies = Array.from({ length: ASKED }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: listedName(below(dice, drawn)),
  }))
  return { url: `${origin}/v1.0/lookup`, rate: RATE, seconds, bodies }
}
