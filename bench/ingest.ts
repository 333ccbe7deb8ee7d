/**
 * `npm run bench:ingest`: measures the speed, the memory and the bytes written of imports, and the latency of lookups
 * beside one.
 */

import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureLookupsDuringImport } from './ingest/lookups-during-import.ts'
import { type BenchOptions, readOptions } from './measure/options.ts'
import {
  domaindexCommand,
  makeTemporaryFolder,
  measureCommand,
  type ResourceUsage,
  runProcess,
  startProcess,
  stopProcess,
  waitForOutput,
} from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, quantile } from './measure/rounds.ts'
import { type LineOrder, writeObservations } from './world/observation-files.ts'
import { blockCheckpoints, copyStore, removeStore, type StoreFiles, storeFilesIn } from './world/store.ts'
import { firstProbeRound, nextProbeRound, type ProbeRound } from './world/world.ts'

/** A measured import: its file, and whether the store is empty or already knows the names. */
type MeasuredImport = { name: string; text: boolean; order: LineOrder; round: ProbeRound; base: 'empty' | 'known' }
type ImportRun = { rate: number; usage: ResourceUsage; seconds: number }

const SEED = 1
/** The exit code of an import that rejected some lines. */
const PARTLY_DONE = 3
const REAL_FILES = ['gov-zone-2023-2025', 'registry-2020-2025']
const second = nextProbeRound(firstProbeRound())

const IMPORTS: MeasuredImport[] = [
  { name: 'new, without text', text: false, order: 'file', round: firstProbeRound(), base: 'empty' },
  { name: 'unchanged, in file order', text: false, order: 'file', round: second, base: 'known' },
  { name: 'unchanged, in slot order', text: false, order: 'slot', round: second, base: 'known' },
  {
    name: 'one in twenty changed',
    text: false,
    order: 'slot',
    round: { ...second, changedShare: 0.05 },
    base: 'known',
  },
  { name: 'new, with 2 KB of text', text: true, order: 'file', round: firstProbeRound(), base: 'empty' },
  { name: 'unchanged, with text, in slot order', text: true, order: 'slot', round: second, base: 'known' },
]
const TARGETS: Record<string, number> = {
  'new, without text': 18_000,
  'new, with 2 KB of text': 11_000,
  'unchanged, in file order': 50_000,
  'unchanged, in slot order': 60_000,
}

const options = readOptions(1_000_000, 8)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
try {
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  if (options.only === null || options.only === 'rates') await measureRates(folder, options, metrics, raw)
  if (options.only === null || options.only === 'bytes') await measureBytes(folder, options, metrics)
  if (options.only === null || options.only === 'real') await measureRealFiles(folder, options, metrics)
  if (options.only === null || options.only === 'lookups')
    await measureLookupsDuringImport(folder, options, metrics, raw)
  report('ingest', metrics, notes(options), raw)
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes({ names, rounds }: BenchOptions): string[] {
  return [
    `${names.toLocaleString('en')} synthetic names, seed ${SEED}; median of ${rounds}; the whole process including its start and end`,
    '/lookup beside an import: open loop, 2,000 requests/s from the second core, one worker on the first, the import at nice 10 on both',
  ]
}

/** Runs every import once per round, one after another. */
async function measureRates(
  folder: string,
  { names, rounds }: BenchOptions,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const runs = new Map<string, ImportRun[]>()
  for (let round = 0; round < rounds; round++) {
    for (const kind of IMPORTS) {
      const run = await measureImport(folder, names, kind)
      console.error(`  ${kind.name}: ${Math.round(run.rate)}/s, ${Math.round(run.usage.peakBytes / 1e6)} MB`)
      runs.set(kind.name, [...(runs.get(kind.name) ?? []), run])
    }
  }
  for (const { name } of IMPORTS) {
    const ofKind = runs.get(name)!
    const rate = medianOf(ofKind, (each) => each.rate)
    const target = TARGETS[name]
    metrics.push(target ? metricWithMin(name, rate, 'observations/s', target) : metric(name, rate, 'observations/s'))
    metrics.push(
      metric(
        '  processor time',
        medianOf(ofKind, (each) => (each.usage.cpuSeconds / names) * 1e6),
        'µs per observation',
      ),
    )
    metrics.push(
      metric(
        '  passed to write calls',
        medianOf(ofKind, (each) => each.usage.bytesWritten / names),
        'bytes per observation',
      ),
    )
    raw[name] = ofKind
  }
  const peak = Math.max(...[...runs.values()].flat().map(({ usage }) => usage.peakBytes)) / 1e6
  metrics.push(metricWithMax('peak resident memory of any import', peak, 'MB', 400))
}

async function measureImport(folder: string, names: number, kind: MeasuredImport): Promise<ImportRun> {
  const store = storeFilesIn(folder, 'work')
  if (kind.base === 'known') copyStore(importedStore(folder, kind.text), store)
  else removeStore(store)
  const { output, seconds, usage } = await measureCommand(['import', observationsFile(folder, names, kind)], {
    env: store.env,
  })
  checkOutcome(output, names, kind)
  if (kind.base === 'empty') copyStore(store, importedStore(folder, kind.text))
  removeStore(store)
  return { rate: names / seconds, usage, seconds }
}

function importedStore(folder: string, text: boolean): StoreFiles {
  return storeFilesIn(folder, text ? 'known-text' : 'known')
}

/** Returns the path of the observations of an import, which are written once. */
function observationsFile(folder: string, names: number, { text, order, round }: MeasuredImport): string {
  const path = join(folder, `${names}-${text ? 'text' : 'bare'}-${order}-${round.at}-${round.changedShare}.jsonl`)
  if (!existsSync(path)) writeObservations(path, { seed: SEED, names, text }, round, order)
  return path
}

/** Throws if the counts of an import are wrong. */
function checkOutcome(output: string, names: number, { base, round }: MeasuredImport): void {
  const [, read, applied, unchanged, stale, rejected] =
    /read (\d+), applied (\d+), unchanged (\d+), stale (\d+), refused (\d+)/.exec(output)?.map(Number) ?? []
  const expectedApplied = base === 'empty' ? names : round.changedShare * names
  const isRight =
    Math.abs(applied! - expectedApplied) <= 0.1 * expectedApplied && unchanged === names - applied! && stale === 0
  if (read !== names || rejected !== 0 || !isRight) throw new Error(`the counts of the import are wrong: ${output}`)
}

/**
 * Measures the bytes that an unchanged observation costs: in the log alone, while a reader blocks checkpoints, and in
 * total.
 */
async function measureBytes(folder: string, { names }: BenchOptions, metrics: Metric[]): Promise<void> {
  for (const order of ['slot', 'file'] as const) {
    const kind = IMPORTS.find((each) => each.base === 'known' && each.order === order)!
    const store = storeFilesIn(folder, 'work')
    if (!existsSync(importedStore(folder, false).facts)) await measureImport(folder, names, IMPORTS[0]!)
    copyStore(importedStore(folder, false), store)
    const measured = await measureCommand(['import', observationsFile(folder, names, kind)], { env: store.env })
    copyStore(importedStore(folder, false), store)
    const release = blockCheckpoints(store)
    const importProcess = startProcess(domaindexCommand('import', observationsFile(folder, names, kind)), {
      env: store.env,
    })
    await waitForOutput(importProcess, /read \d+/, 600)
    const log = statSync(`${store.facts}-wal`).size / names
    release()
    await stopProcess(importProcess)
    removeStore(store)
    const total = measured.usage.bytesWritten / names
    const label = order === 'slot' ? 'in slot order' : 'in file order'
    const target = order === 'slot' ? 200 : 1_000
    metrics.push(metricWithMax(`unchanged, ${label}: bytes of log`, log, 'bytes per observation', target))
    metrics.push(metric('  written back to the file, at most', Math.max(0, total - log), 'bytes per observation'))
  }
}

/**
 * Imports the files of real observations if they are available. One of their lines has a mail server without a name.
 */
async function measureRealFiles(folder: string, { rounds }: BenchOptions, metrics: Metric[]): Promise<void> {
  for (const name of REAL_FILES) {
    const path = fileURLToPath(new URL(`../../shared/data/observations/${name}.jsonl.gz`, import.meta.url))
    if (!existsSync(path)) {
      console.error(`  ${name} is not available and is left out`)
      continue
    }
    const rates: number[] = []
    const store = storeFilesIn(folder, 'real')
    for (let round = 0; round < rounds; round++) {
      removeStore(store)
      const { output, seconds } = await measureCommand(['import', path], { env: store.env }, [0, PARTLY_DONE])
      rates.push(Number(/read (\d+)/.exec(output)![1]) / seconds)
      if (!/refused [01]\b/.test(output)) throw new Error(output)
    }
    await runProcess(domaindexCommand('check'), { env: store.env })
    removeStore(store)
    metrics.push(metric(`${name}, real`, quantile(rates, 0.5), 'observations/s'))
  }
}
