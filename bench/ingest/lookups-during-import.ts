/** The part of bench:ingest that measures /lookup at a constant rate, with and without an import at the same time. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenLoad, OpenLoadResult } from '../load/open-loop.ts'
import { runOpenLoad, startDomaindex } from '../load/server.ts'
import type { BenchOptions } from '../measure/options.ts'
import { domaindexCommand, runProcess, startProcess, stopProcess } from '../measure/process.ts'
import { type Metric, metric, metricWithMax } from '../measure/report.ts'
import { medianOf, runInterleaved } from '../measure/rounds.ts'
import { writeObservations } from '../world/observation-files.ts'
import { seededRandom } from '../world/random.ts'
import { copyStore, createTokens, removeStore, type StoreFiles, storeFilesIn } from '../world/store.ts'
import { domainNameAt, firstProbeRound, nextProbeRound, type World } from '../world/world.ts'

const RATE = 2000
const ACCOUNTS = 32
const QUERY_COUNT = 20_000
/** More than an import can read during one load. */
const NEW_NAMES = 400_000

/** The names that are imported during a load: new to the store, or known and unchanged. */
const IMPORTED_NAMES = ['new', 'unchanged'] as const

export async function measureLookupsDuringImport(
  folder: string,
  options: BenchOptions,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const world: World = { seed: 1, names: options.names, text: false }
  const store = storeFilesIn(folder, 'lookups')
  await prepareStore(folder, store, world)
  const tokens = await createTokens(store, ACCOUNTS, world.seed)
  const server = await startDomaindex(store)
  const load = loadOf(server.origin, world, tokens, options.seconds)
  await runOpenLoad(folder, { ...load, seconds: 3 })
  let round = 0
  const figures = await runInterleaved(options.rounds, {
    without: () => runOpenLoad(folder, load),
    new: () => loadDuringImport(folder, store, newNamesFile(folder, world, round), load),
    unchanged: () => loadDuringImport(folder, store, knownNamesFile(folder, world, round++), load),
  })
  await stopProcess(server.running)
  removeStore(store)
  raw.lookups = figures
  addMetrics(figures, metrics)
}

function addMetrics(
  figures: Record<'without' | (typeof IMPORTED_NAMES)[number], OpenLoadResult[]>,
  metrics: Metric[],
): void {
  const alone = medianOf(figures.without, ({ p99 }) => p99)
  metrics.push(metric('/lookup p99 without an import', alone, 'ms'))
  for (const kind of IMPORTED_NAMES) {
    const p99 = medianOf(figures[kind], (each) => each.p99)
    metrics.push(metric(`/lookup p99 while ${kind} names are imported`, p99, 'ms'))
    metrics.push(metricWithMax('  ratio to that without', p99 / alone, '×', 3))
  }
}

async function prepareStore(folder: string, store: StoreFiles, world: World): Promise<void> {
  const known = storeFilesIn(folder, 'known')
  const path = join(folder, `${world.names}-lookups.jsonl`)
  if (existsSync(known.facts)) return copyStore(known, store)
  writeObservations(path, world, firstProbeRound(), 'slot')
  removeStore(store)
  await runProcess(domaindexCommand('import', path), { env: store.env })
}

/** Lookups of known names in random order from many accounts. */
function loadOf(origin: string, world: World, tokens: readonly string[], seconds: number): OpenLoad {
  const random = seededRandom(world.seed, 0, 77)
  const bodies = Array.from({ length: QUERY_COUNT }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: domainNameAt(world, Math.floor(random() * world.names)),
  }))
  return { url: `${origin}/v1.0/lookup`, rate: RATE, seconds, bodies }
}

/** Returns the result of a load during an import at nice 10, which is stopped after the load. */
async function loadDuringImport(
  folder: string,
  store: StoreFiles,
  file: string,
  load: OpenLoad,
): Promise<OpenLoadResult> {
  const importProcess = startProcess(domaindexCommand('import', file), { nice: 10, env: store.env })
  await new Promise((done) => setTimeout(done, 1000))
  const figures = await runOpenLoad(folder, load)
  if (importProcess.child.exitCode !== null)
    console.error(`  the import ended before the load: ${importProcess.output()}`)
  await stopProcess(importProcess)
  return figures
}

/** Returns a file of names that are not in the store, different in every round. */
function newNamesFile(folder: string, world: World, round: number): string {
  const path = join(folder, `${world.names}-new-${round}.jsonl`)
  const from = world.names + round * NEW_NAMES
  if (!existsSync(path)) writeObservations(path, world, firstProbeRound(), 'file', { from, to: from + NEW_NAMES })
  return path
}

/** Returns a file of the store's names, one week later in every round. */
function knownNamesFile(folder: string, world: World, round: number): string {
  const path = join(folder, `${world.names}-known-${round}.jsonl`)
  let probeRound = firstProbeRound()
  for (let week = 0; week <= round; week++) probeRound = nextProbeRound(probeRound)
  if (!existsSync(path)) writeObservations(path, world, probeRound, 'file')
  return path
}
