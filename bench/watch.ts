/**
 * `npm run bench:watch`: measures what watches cost an import into a SQLite store: imports of new names and of a second
 * round of the same names, without watches, with watches that match nothing, and with watches of some of the names.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { WatchKind } from '../src/values/watch-kind.ts'
import { exitIfHelp, readTexts } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand } from './measure/process.ts'
import { metric, metricWithMax, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { writeObservations } from './world/observation-files.ts'
import { randomInt, seededRandom } from './world/random.ts'
import { copyStore, createTokens, removeStore, type StoreFiles, storeFilesIn } from './world/store.ts'
import { domainNameAt, firstProbeRound, nextProbeRound, type World } from './world/world.ts'

const options = readTexts({ names: '200000', watches: '100000', matched: '10000', rounds: '5', folder: '' })
exitIfHelp('--names N, --watches N, --matched N, --rounds N, --folder PATH')
const NAMES = Number(options.names)
const WATCHES = Number(options.watches)
const MATCHED = Number(options.matched)
const WATCHES_PER_ACCOUNT = 1_000
/** Shares of the watches by kind, of ten. */
const KINDS: readonly WatchKind[] = [
  ...(['name', 'name', 'name', 'name'] as const),
  ...(['pattern', 'pattern', 'suffix', 'address', 'address', 'nameserver'] as const),
]

type Watched = { kind: WatchKind; value: string }
type Figures = { added: number; again: number; events: number }

const folder = options.folder || makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
try {
  const world: World = { seed: 1, names: NAMES, text: false }
  const [first, second] = ['first.jsonl', 'second.jsonl'].map((name) => join(folder, name)) as [string, string]
  writeObservations(first, world, firstProbeRound(), 'slot')
  writeObservations(second, world, nextProbeRound(firstProbeRound()), 'slot')
  const templates = {
    none: await createTemplate('none', []),
    idle: await createTemplate('idle', idleWatches(WATCHES)),
    matched: await createTemplate('matched', [...idleWatches(WATCHES - MATCHED), ...watchesOf(world, MATCHED)]),
  }
  const contender = (template: StoreFiles) => () => measureImports(template, first, second)
  const figures = await runInterleaved(Number(options.rounds), {
    none: contender(templates.none),
    idle: contender(templates.idle),
    matched: contender(templates.matched),
  })
  reportFigures(figures)
} finally {
  if (options.folder === '') rmSync(folder, { recursive: true })
}

/** Creates a store with watches, whose writer has loaded none. */
async function createTemplate(name: string, watches: readonly Watched[]): Promise<StoreFiles> {
  const files = storeFilesIn(folder, name)
  removeStore(files)
  await createTokens(files, Math.max(1, Math.ceil(watches.length / WATCHES_PER_ACCOUNT)), 1)
  const ledger = new DatabaseSync(files.ledger)
  const insert = ledger.prepare(
    'insert or ignore into watch (account, kind, value, created, version) values (?, ?, ?, 0, 1)',
  )
  ledger.exec('begin')
  for (const [index, { kind, value }] of watches.entries())
    insert.run(1 + Math.floor(index / WATCHES_PER_ACCOUNT), kind, value)
  if (watches.length > 0) ledger.exec('update watch_version set version = 1')
  ledger.exec('commit')
  ledger.close()
  return files
}

/** Watches of all kinds that match nothing of the world, whose names have other numbers. */
function idleWatches(count: number): Watched[] {
  const other: World = { seed: 2, names: count, text: false }
  return Array.from({ length: count }, (_, index) => {
    const kind = KINDS[index % KINDS.length]!
    const name = domainNameAt(other, index)
    const random = seededRandom(3, index, 1)
    const value: Partial<Record<WatchKind, string>> = {
      pattern: `*${name.split('.')[0]!.slice(0, 12)}-${index % 10}*`,
      address: `100.${64 + randomInt(random, 64)}.${randomInt(random, 256)}.${randomInt(random, 256)}`,
    }
    return { kind, value: value[kind] ?? name }
  })
}

/** Watches of single names, spread over the world. */
function watchesOf(world: World, count: number): Watched[] {
  const step = Math.max(1, Math.floor(world.names / count))
  return Array.from({ length: count }, (_, index) => ({ kind: 'name', value: domainNameAt(world, index * step) }))
}

/** Microseconds of processor time per name of both imports, and the number of events. */
async function measureImports(template: StoreFiles, first: string, second: string): Promise<Figures> {
  const files = storeFilesIn(folder, 'measured')
  copyStore(template, files)
  const added = await measureCommand(['import', first], { env: files.env })
  const again = await measureCommand(['import', second], { env: files.env })
  const facts = new DatabaseSync(files.facts, { readOnly: true })
  const { events } = facts.prepare('select count(*) as events from event').get() as { events: number }
  facts.close()
  removeStore(files)
  const perName = ({ usage }: typeof added): number => (usage.cpuSeconds * 1e6) / NAMES
  return { added: perName(added), again: perName(again), events }
}

function reportFigures({ none, idle, matched }: Record<'none' | 'idle' | 'matched', Figures[]>): void {
  const added = (figures: readonly Figures[]) => medianOf(figures, (each) => each.added)
  const again = (figures: readonly Figures[]) => medianOf(figures, (each) => each.again)
  const events = medianOf(matched, (each) => each.events)
  const perEvent = ((added(matched) + again(matched) - added(idle) - again(idle)) * NAMES) / events
  report(
    'watch',
    [
      metric('import of new names, no watches', added(none), 'µs per name'),
      metric('import of new names, watches that match nothing', added(idle), 'µs per name'),
      metricWithMax('  times no watches', added(idle) / added(none), '×', 1.05),
      metric('second import, no watches', again(none), 'µs per name'),
      metric('second import, watches that match nothing', again(idle), 'µs per name'),
      metricWithMax('  times no watches', again(idle) / again(none), '×', 1.05),
      metric(
        'events of watches that match nothing',
        medianOf(idle, (each) => each.events),
        '',
      ),
      metric('events of watched names', events, ''),
      metric('an event, processor time', perEvent, 'µs'),
    ],
    [
      `${NAMES.toLocaleString('en')} synthetic names of seven record types, ${WATCHES.toLocaleString('en')} watches: names, patterns, suffixes, addresses and name servers`,
      `processor time of domaindex import, its start and the reading of the watches included; median of ${options.rounds} rounds, in turn`,
      `matched: ${MATCHED.toLocaleString('en')} of the watches are of names of the import`,
    ],
    { none, idle, matched },
  )
}
