/**
 * `npm run bench:scale`: compares a large store with one of a million names, with less memory than the store needs.
 * `--only new` leaves out the imports of unchanged names.
 */

import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { createMemoryLimit, evictFromPageCache } from './measure/memory.ts'
import { readOptions } from './measure/options.ts'
import {
  domaindexCommand,
  makeTemporaryFolder,
  type ProcessOptions,
  type RunningProcess,
  runProcess,
  startProcess,
  waitForOutput,
} from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import type { LookupResult, PageAccess } from './scale/lookups.ts'
import { type IndexRange, type LineOrder, writeObservations } from './world/observation-files.ts'
import { removeStore, type StoreFiles, storeFilesIn } from './world/store.ts'
import { firstProbeRound, nextProbeRound, type ProbeRound, type World } from './world/world.ts'

/**
 * The result for one size. Rates are in observations per second, tables in bytes. `lookups.mapped`: null if a server
 * with this memory would not map the file. `unchanged…`: null with `--only new`.
 */
type SizeResult = {
  names: number
  newBySlot: number
  newByFile: number
  unchangedBySlot: number | null
  unchangedByFile: number | null
  lookups: Record<PageAccess, LookupResult | null>
  fileBytes: number
  tables: Record<string, number>
  peakLog: number
}

const SEED = 1
const REFERENCE_NAMES = 1_000_000
const MEMORY_BYTES = 1 << 30
const SAMPLE = 200_000
const LOOKUP_COUNT = 10_000
/** Warm look-ups of the large store may take this much longer. */
const MAX_LOOKUP_GROWTH = 1.3
const second = nextProbeRound(firstProbeRound())

const options = readOptions(5_000_000)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const memoryLimit = createMemoryLimit(MEMORY_BYTES)
const processOptions: ProcessOptions = memoryLimit === null ? {} : { cgroup: memoryLimit.folder }
try {
  const reference = await measureSize(Math.min(REFERENCE_NAMES, options.names))
  const large = options.names > REFERENCE_NAMES ? await measureSize(options.names) : reference
  const metrics =
    reference === large ? metricsOf(large) : [...metricsOf(reference), ...metricsOf(large), ...growth(reference, large)]
  report('scale', metrics, notes(), { reference, large })
} finally {
  memoryLimit?.remove()
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes(): string[] {
  const memory = `${MEMORY_BYTES >> 20} MiB of memory including page cache (cgroup)`
  return [
    memoryLimit === null
      ? 'without a memory limit, because creating a cgroup is not permitted; files are evicted from the page cache before the cold lookups'
      : `every process is limited to ${memory}`,
    `${LOOKUP_COUNT.toLocaleString('en')} lookups of random names through the store: cold after the file was evicted from the page cache (posix_fadvise), warm with the same names again`,
    'growth compares unmapped with unmapped, and mapped with mapped if both files are mapped',
    `in slot order all names are imported, in file order ${SAMPLE.toLocaleString('en')} of them`,
  ]
}

async function measureSize(names: number): Promise<SizeResult> {
  const world: World = { seed: SEED, names, text: false }
  const store = storeFilesIn(folder, `scale-${names}`)
  removeStore(store)
  const sample = { from: 0, to: Math.min(SAMPLE, names) }
  const log = { peakLog: 0 }
  const newBySlot = await measureImport(store, world, firstProbeRound(), 'slot', log)
  const lookups = {
    unmapped: await measureLookups(store, names, 'unmapped'),
    mapped: await measureLookups(store, names, 'mapped'),
  }
  const isShort = options.only === 'new'
  const unchangedBySlot = isShort ? null : await measureImport(store, world, second, 'slot', log)
  const unchangedByFile = isShort
    ? null
    : await measureImport(store, world, nextProbeRound(second), 'file', log, sample)
  const tables = bytesByTable(store)
  const fileBytes = statSync(store.facts).size
  const newRange = { from: names, to: names + sample.to }
  const newByFile = await measureImport(store, world, firstProbeRound(), 'file', log, newRange)
  removeStore(store)
  return { names, newBySlot, newByFile, unchangedBySlot, unchangedByFile, lookups, tables, fileBytes, ...log }
}

/** Writes a round to a file and imports it. Returns the observations per second. */
async function measureImport(
  store: StoreFiles,
  world: World,
  round: ProbeRound,
  order: LineOrder,
  log: { peakLog: number },
  range: IndexRange = { from: 0, to: world.names },
): Promise<number> {
  const path = join(folder, 'round.jsonl')
  writeObservations(path, world, round, order, range)
  const startedAt = performance.now()
  const importProcess = startProcess(domaindexCommand('import', path), { ...processOptions, env: store.env })
  await watchLog(importProcess, `${store.facts}-wal`, log)
  const seconds = (performance.now() - startedAt) / 1000
  await waitForOutput(importProcess, /read \d+, .* refused 0 /)
  rmSync(path)
  console.error(`  ${importProcess.output().trim().split('\n').at(-1)}`)
  return (range.to - range.from) / seconds
}

async function watchLog(importProcess: RunningProcess, path: string, log: { peakLog: number }): Promise<void> {
  const timer = setInterval(() => {
    log.peakLog = Math.max(log.peakLog, statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }, 50)
  const code = await importProcess.exited
  clearInterval(timer)
  if (code !== 0) throw new Error(importProcess.output())
}

async function measureLookups(store: StoreFiles, names: number, access: PageAccess): Promise<LookupResult | null> {
  evictFromPageCache(store.facts)
  const script = fileURLToPath(new URL('./scale/lookups.ts', import.meta.url))
  const command = [process.execPath, script, store.facts, access, String(names), String(SEED), String(LOOKUP_COUNT)]
  const lookups = JSON.parse(await runProcess(command, processOptions)) as LookupResult | null
  if (lookups !== null && lookups.missing > 0) throw new Error(`${lookups.missing} names are missing`)
  return lookups
}

/** Returns the bytes of each table, from the page counts of SQLite. */
function bytesByTable({ facts }: StoreFiles): Record<string, number> {
  const database = new DatabaseSync(facts, { readOnly: true })
  const rows = database.prepare('select name, pgsize from dbstat where aggregate = true order by pgsize desc').all()
  database.close()
  return Object.fromEntries(rows.map(({ name, pgsize }) => [name, pgsize])) as Record<string, number>
}

function metricsOf(result: SizeResult): Metric[] {
  const { names, lookups, tables, fileBytes, peakLog } = result
  const rate = 'observations/s'
  return [
    metric(`${names.toLocaleString('en')} names: the file`, fileBytes / 1e6, 'MB'),
    ...Object.entries(tables)
      .filter(([, bytes]) => bytes > names / 10)
      .map(([table, bytes]) => metric(`  ${table}`, bytes / names, 'bytes per name')),
    ...lookupMetrics('unmapped', lookups.unmapped),
    ...lookupMetrics('mapped', lookups.mapped),
    metric('  new, in slot order', result.newBySlot, rate),
    metric('  new, in file order', result.newByFile, rate),
    ...optional(result.unchangedBySlot, (figure) => metric('  unchanged, in slot order', figure, rate)),
    ...optional(result.unchangedByFile, (figure) => metric('  unchanged, in file order', figure, rate)),
    metric('  peak of the write-ahead log', peakLog / 1e6, 'MB'),
  ]
}

function lookupMetrics(access: PageAccess, lookups: LookupResult | null): Metric[] {
  return optional(lookups, ({ cold, warm }) => [
    metric(`  lookup p50, ${access}, cold`, cold.p50, 'µs'),
    metric(`  lookup p99, ${access}, cold`, cold.p99, 'µs'),
    metric(`  lookup p50, ${access}, warm`, warm.p50, 'µs'),
    metric(`  lookup p99, ${access}, warm`, warm.p99, 'µs'),
  ]).flat()
}

/** The metric of a figure, or none if it was not measured. */
function optional<Figure, Result>(figure: Figure | null, toMetric: (figure: Figure) => Result): Result[] {
  return figure === null ? [] : [toMetric(figure)]
}

/** The figures of the large store to those of the reference, where both were measured. */
function growth(reference: SizeResult, large: SizeResult): Metric[] {
  const ratio = (
    name: string,
    pick: (result: SizeResult) => number | null | undefined,
    toMetric = (label: string, value: number): Metric => metric(label, value, '×'),
  ): Metric[] => {
    const [before, after] = [pick(reference) ?? null, pick(large) ?? null]
    return before === null || after === null ? [] : [toMetric(`growth: ${name}`, after / before)]
  }
  const atMost = (max: number) => (name: string, value: number) => metricWithMax(name, value, '×', max)
  return [
    ...(['unmapped', 'mapped'] as const).flatMap((access) => [
      ...ratio(`lookup p50, ${access}, cold`, ({ lookups }) => lookups[access]?.cold.p50),
      ...ratio(`lookup p50, ${access}, warm`, ({ lookups }) => lookups[access]?.warm.p50, atMost(MAX_LOOKUP_GROWTH)),
    ]),
    ...ratio(
      'unchanged rate, in slot order',
      ({ unchangedBySlot }) => unchangedBySlot,
      (name, value) => metricWithMin(name, value, '×', 0.85),
    ),
    ...ratio('unchanged rate, in file order', ({ unchangedByFile }) => unchangedByFile),
    ...ratio('new rate, in slot order', ({ newBySlot }) => newBySlot),
    ...ratio('new rate, in file order', ({ newByFile }) => newByFile),
    ...ratio('bytes per name', ({ fileBytes, names }) => fileBytes / names),
  ]
}
