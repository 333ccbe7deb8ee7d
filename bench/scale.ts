/** `npm run bench:scale`: what a large store costs beside one of a million names, with less memory than it is large. */

import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { dropFromCache, memoryBound } from './measure/memory.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, hears, type Manner, run, type Started, start, temporary } from './measure/process.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'
import type { Looked } from './scale/lookups.ts'
import { type Order, type Range, writeRound } from './world/observation-files.ts'
import { removeStore, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, nextRound, type Round, type World } from './world/world.ts'

/** What was measured at one size. Rates in observations a second, bytes by table. */
type Measured = {
  names: number
  newBySlot: number
  newByFile: number
  unchangedBySlot: number
  unchangedByFile: number
  looked: Looked
  fileBytes: number
  tables: Record<string, number>
  peakLog: number
}

const SEED = 1
const REFERENCE = 1_000_000
const MEMORY = 1 << 30
const SAMPLE = 200_000
const LOOKUPS = 10_000
const second = nextRound(firstRound())

const options = readOptions(5_000_000)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
const bound = memoryBound(MEMORY)
const manner: Manner = bound === null ? {} : { enter: bound.folder }
try {
  const reference = await measure(Math.min(REFERENCE, options.names))
  const large = options.names > REFERENCE ? await measure(options.names) : reference
  const lines = reference === large ? tell(large) : [...tell(reference), ...tell(large), ...growth(reference, large)]
  report('scale', lines, notes(), { reference, large })
} finally {
  bound?.remove()
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes(): string[] {
  const memory = `${MEMORY >> 20} MiB of memory, page cache included (cgroup)`
  return [
    bound === null
      ? 'no cgroup may be made: only dropped from the cache before the cold look-ups'
      : `every process has ${memory}`,
    `look-ups through the store's port, ${LOOKUPS.toLocaleString('en')} names at random: cold after the file was dropped from the cache (posix_fadvise), warm the same names again`,
    `in the order of the slots the whole world is imported, in that of the file ${SAMPLE.toLocaleString('en')} names of it`,
  ]
}

async function measure(names: number): Promise<Measured> {
  const world: World = { seed: SEED, names, text: false }
  const store = storeIn(folder, `scale-${names}`)
  removeStore(store)
  const sample = { from: 0, to: Math.min(SAMPLE, names) }
  const watched = { peakLog: 0 }
  const newBySlot = await imported(store, world, firstRound(), 'slot', watched)
  const looked = await lookUp(store, names)
  const unchangedBySlot = await imported(store, world, second, 'slot', watched)
  const unchangedByFile = await imported(store, world, nextRound(second), 'file', watched, sample)
  const tables = tablesOf(store)
  const fileBytes = statSync(store.facts).size
  const beyond = { from: names, to: names + sample.to }
  const newByFile = await imported(store, world, firstRound(), 'file', watched, beyond)
  removeStore(store)
  return { names, newBySlot, newByFile, unchangedBySlot, unchangedByFile, looked, tables, fileBytes, ...watched }
}

/** Imports a visit from a file made for it; observations a second. */
async function imported(
  store: StoreFiles,
  world: World,
  round: Round,
  order: Order,
  watched: { peakLog: number },
  range: Range = { from: 0, to: world.names },
): Promise<number> {
  const path = join(folder, 'visit.jsonl')
  writeRound(path, world, round, order, range)
  const begun = performance.now()
  const importing = start(domaindex('import', path), { ...manner, env: store.env })
  await watchLog(importing, `${store.facts}-wal`, watched)
  const seconds = (performance.now() - begun) / 1000
  await hears(importing, /read \d+, .* refused 0 /)
  rmSync(path)
  console.error(`  ${importing.said().trim().split('\n').at(-1)}`)
  return (range.to - range.from) / seconds
}

async function watchLog(importing: Started, log: string, watched: { peakLog: number }): Promise<void> {
  const look = setInterval(() => {
    watched.peakLog = Math.max(watched.peakLog, statSync(log, { throwIfNoEntry: false })?.size ?? 0)
  }, 50)
  const code = await importing.ended
  clearInterval(look)
  if (code !== 0) throw new Error(importing.said())
}

async function lookUp(store: StoreFiles, names: number): Promise<Looked> {
  dropFromCache(store.facts)
  const script = fileURLToPath(new URL('./scale/lookups.ts', import.meta.url))
  const command = [process.execPath, script, store.url, String(names), String(SEED), String(LOOKUPS)]
  const looked = JSON.parse(await run(command, manner)) as Looked
  if (looked.missing > 0) throw new Error(`${looked.missing} names are missing`)
  return looked
}

/** Bytes of each table, from the pages that SQLite says are its own. */
function tablesOf({ facts }: StoreFiles): Record<string, number> {
  const database = new DatabaseSync(facts, { readOnly: true })
  const rows = database.prepare('select name, pgsize from dbstat where aggregate = true order by pgsize desc').all()
  database.close()
  return Object.fromEntries(rows.map(({ name, pgsize }) => [name, pgsize])) as Record<string, number>
}

function tell(measured: Measured): Line[] {
  const { names, looked, tables, fileBytes, peakLog } = measured
  const rate = 'observations/s'
  return [
    figure(`${names.toLocaleString('en')} names: the file`, fileBytes / 1e6, 'MB'),
    ...Object.entries(tables)
      .filter(([, bytes]) => bytes > names / 10)
      .map(([table, bytes]) => figure(`  ${table}`, bytes / names, 'bytes a name')),
    figure('  look-up p50, cold', looked.cold.p50, 'µs'),
    figure('  look-up p99, cold', looked.cold.p99, 'µs'),
    figure('  look-up p50, warm', looked.warm.p50, 'µs'),
    figure('  look-up p99, warm', looked.warm.p99, 'µs'),
    figure('  new, by slot', measured.newBySlot, rate),
    figure('  new, in the order of the file', measured.newByFile, rate),
    figure('  unchanged, by slot', measured.unchangedBySlot, rate),
    figure('  unchanged, in the order of the file', measured.unchangedByFile, rate),
    figure('  peak of the write-ahead log', peakLog / 1e6, 'MB'),
  ]
}

function growth(reference: Measured, large: Measured): Line[] {
  const ratio = (pick: (measured: Measured) => number): number => pick(large) / pick(reference)
  return [
    atMost(
      'growth: look-up p50, cold',
      ratio(({ looked }) => looked.cold.p50),
      '×',
      1.2,
    ),
    atMost(
      'growth: look-up p50, warm',
      ratio(({ looked }) => looked.warm.p50),
      '×',
      1.2,
    ),
    atLeast(
      'growth: unchanged rate, by slot',
      ratio(({ unchangedBySlot }) => unchangedBySlot),
      '×',
      0.85,
    ),
    figure(
      'growth: unchanged rate, in the order of the file',
      ratio(({ unchangedByFile }) => unchangedByFile),
      '×',
    ),
    figure(
      'growth: new rate, by slot',
      ratio(({ newBySlot }) => newBySlot),
      '×',
    ),
    figure(
      'growth: new rate, in the order of the file',
      ratio(({ newByFile }) => newByFile),
      '×',
    ),
    figure(
      'growth: bytes a name',
      ratio(({ fileBytes, names }) => fileBytes / names),
      '×',
    ),
  ]
}
