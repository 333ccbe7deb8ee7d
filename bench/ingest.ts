/**
 * `npm run bench:ingest`: how fast, with how much memory and how many bytes written observations go in; and who waits
 * for it.
 */

import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { besides } from './ingest/lookups-beside-import.ts'
import { medianOf, quantile } from './measure/measure.ts'
import { type Options, readOptions } from './measure/options.ts'
import { domaindex, end, hears, run, start, temporary, timed, type Used } from './measure/process.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'
import { type Order, writeRound } from './world/observation-files.ts'
import { copyStore, holdLog, removeStore, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, nextRound, type Round } from './world/world.ts'

/** One import that is measured: its file, what it starts from, and how many observations must have which outcome. */
type Kind = { name: string; text: boolean; order: Order; round: Round; base: 'empty' | 'known' }
type Figure = { rate: number; used: Used; seconds: number }

const SEED = 1
/** How an import ends of which some lines were refused. */
const SOME_REFUSED = 2
const REAL = ['gov-zone-2023-2025', 'registry-2020-2025']
const second = nextRound(firstRound())

const KINDS: Kind[] = [
  { name: 'new, without text', text: false, order: 'file', round: firstRound(), base: 'empty' },
  { name: 'unchanged, in the order of the file', text: false, order: 'file', round: second, base: 'known' },
  { name: 'unchanged, in the order of the slots', text: false, order: 'slot', round: second, base: 'known' },
  { name: 'one in twenty moved', text: false, order: 'slot', round: { ...second, changed: 0.05 }, base: 'known' },
  { name: 'new, with 2 KB of text', text: true, order: 'file', round: firstRound(), base: 'empty' },
  { name: 'unchanged, with text, by slot', text: true, order: 'slot', round: second, base: 'known' },
]
const AIMS: Record<string, number> = {
  'new, without text': 20_000,
  'new, with 2 KB of text': 8_000,
  'unchanged, in the order of the file': 60_000,
  'unchanged, in the order of the slots': 60_000,
}

const options = readOptions(1_000_000, 8)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
try {
  const lines: Line[] = []
  const raw: Record<string, unknown> = {}
  if (options.only === null || options.only === 'rates') await rates(folder, options, lines, raw)
  if (options.only === null || options.only === 'bytes') await bytes(folder, options, lines)
  if (options.only === null || options.only === 'real') await real(folder, options, lines)
  if (options.only === null || options.only === 'beside') await besides(folder, options, lines, raw)
  report('ingest', lines, notes(options), raw)
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes({ names, rounds }: Options): string[] {
  return [
    `${names.toLocaleString('en')} made-up names, seed ${SEED}; median of ${rounds}; the whole process, its start and end included`,
    '/lookup beside an import: open loop, 2,000 requests/s from the second core, one worker on the first, the import at nice 10 on either',
  ]
}

/** Every kind once a round, one after another. */
async function rates(
  folder: string,
  { names, rounds }: Options,
  lines: Line[],
  raw: Record<string, unknown>,
): Promise<void> {
  const figures = new Map<string, Figure[]>()
  for (let round = 0; round < rounds; round++) {
    for (const kind of KINDS) {
      const made = await measure(folder, names, kind)
      console.error(`  ${kind.name}: ${Math.round(made.rate)}/s, ${Math.round(made.used.peakBytes / 1e6)} MB`)
      figures.set(kind.name, [...(figures.get(kind.name) ?? []), made])
    }
  }
  for (const { name } of KINDS) {
    const of = figures.get(name)!
    const rate = medianOf(of, (each) => each.rate)
    const aim = AIMS[name]
    lines.push(aim ? atLeast(name, rate, 'observations/s', aim) : figure(name, rate, 'observations/s'))
    lines.push(
      figure(
        '  processor time',
        medianOf(of, (each) => (each.used.cpuSeconds / names) * 1e6),
        'µs an observation',
      ),
    )
    lines.push(
      figure(
        '  handed to write calls',
        medianOf(of, (each) => each.used.written / names),
        'bytes an observation',
      ),
    )
    raw[name] = of
  }
  const peak = Math.max(...[...figures.values()].flat().map(({ used }) => used.peakBytes)) / 1e6
  lines.push(atMost('peak resident memory of any import', peak, 'MB', 400))
}

async function measure(folder: string, names: number, kind: Kind): Promise<Figure> {
  const store = storeIn(folder, 'work')
  if (kind.base === 'known') copyStore(knownStore(folder, kind.text), store)
  else removeStore(store)
  const { said, seconds, used } = await timed(['import', fileOf(folder, names, kind)], { env: store.env })
  expectOutcome(said, names, kind)
  if (kind.base === 'empty') copyStore(store, knownStore(folder, kind.text))
  removeStore(store)
  return { rate: names / seconds, used, seconds }
}

function knownStore(folder: string, text: boolean): StoreFiles {
  return storeIn(folder, text ? 'known-text' : 'known')
}

/** The observations of a kind, written once. */
function fileOf(folder: string, names: number, { text, order, round }: Kind): string {
  const path = join(folder, `${names}-${text ? 'text' : 'bare'}-${order}-${round.at}-${round.changed}.jsonl`)
  if (!existsSync(path)) writeRound(path, { seed: SEED, names, text }, round, order)
  return path
}

/** Wrong counts are a failure of the bench. */
function expectOutcome(said: string, names: number, { base, round }: Kind): void {
  const [, read, applied, unchanged, stale, refused] =
    /read (\d+), applied (\d+), unchanged (\d+), stale (\d+), refused (\d+)/.exec(said)?.map(Number) ?? []
  const moved = base === 'empty' ? names : round.changed * names
  const isRight = Math.abs(applied! - moved) <= 0.1 * moved && unchanged === names - applied! && stale === 0
  if (read !== names || refused !== 0 || !isRight) throw new Error(`not what was expected: ${said}`)
}

/**
 * Bytes that an unchanged observation costs: of the log alone, while a reader keeps it from being written back, and in
 * all.
 */
async function bytes(folder: string, { names }: Options, lines: Line[]): Promise<void> {
  for (const order of ['slot', 'file'] as const) {
    const kind = KINDS.find((each) => each.base === 'known' && each.order === order)!
    const store = storeIn(folder, 'work')
    if (!existsSync(knownStore(folder, false).facts)) await measure(folder, names, KINDS[0]!)
    copyStore(knownStore(folder, false), store)
    const whole = await timed(['import', fileOf(folder, names, kind)], { env: store.env })
    copyStore(knownStore(folder, false), store)
    const release = holdLog(store)
    const held = start(domaindex('import', fileOf(folder, names, kind)), { env: store.env })
    await hears(held, /read \d+/, 600)
    const log = statSync(`${store.facts}-wal`).size / names
    release()
    await end(held)
    removeStore(store)
    const all = whole.used.written / names
    const what = order === 'slot' ? 'by slot' : 'in the order of the file'
    lines.push(atMost(`unchanged, ${what}: bytes of log`, log, 'bytes an observation', 200))
    lines.push(figure('  written back to the file besides, at most', Math.max(0, all - log), 'bytes an observation'))
  }
}

/** The files of real observations, where they are at hand; one of their lines holds a mail server without a name. */
async function real(folder: string, { rounds }: Options, lines: Line[]): Promise<void> {
  for (const name of REAL) {
    const path = fileURLToPath(new URL(`../../shared/data/observations/${name}.jsonl.gz`, import.meta.url))
    if (!existsSync(path)) {
      console.error(`  ${name} is not here: left out`)
      continue
    }
    const rates: number[] = []
    const store = storeIn(folder, 'real')
    for (let round = 0; round < rounds; round++) {
      removeStore(store)
      const { said, seconds } = await timed(['import', path], { env: store.env }, [0, SOME_REFUSED])
      rates.push(Number(/read (\d+)/.exec(said)![1]) / seconds)
      if (!/refused [01]\b/.test(said)) throw new Error(said)
    }
    await run(domaindex('check'), { env: store.env })
    removeStore(store)
    lines.push(figure(`${name}, real`, quantile(rates, 0.5), 'observations/s'))
  }
}
