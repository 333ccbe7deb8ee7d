/**
 * `npm run bench:zone`: measures the speed and memory of reading a zone and comparing it with the zone of the day
 * before.
 */

import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipParallel } from '../src/jobs/gzip/gzip.ts'
import { inflatedBytes } from '../src/registrations/inflated-bytes.ts'
import { importZone } from '../src/registrations/zone/import-zone.ts'
import type { Store } from '../src/store/port/store.ts'
import { parseDay } from '../src/values/time.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, measureCommand, type ResourceUsage } from './measure/process.ts'
import { metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { median, medianOf } from './measure/rounds.ts'

type ImportRun = { seconds: number; usage: ResourceUsage }

/** Of a thousand names, the number that is new since the day before, and the number that is gone. */
const NEW_PER_THOUSAND = 1
const DAYS = ['2026-11-18', '2026-11-19'] as const
const WORDS = [
  'shop',
  'blue',
  'my',
  'best',
  'data',
  'house',
  'garden',
  'news',
  'web',
  'cloud',
  'media',
  'city',
  'green',
  'art',
]
const NAMES_PER_CHUNK = 5_000
const TARGET_RATE = 500_000
const MAX_MEGABYTES = 500

const { names, rounds, folder: givenFolder } = readOptions(10_000_000, 0, 3)
const folder = givenFolder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const root = join(folder, 'zones')
const paths = DAYS.map((_, number) => join(folder, `zone-${names}-${number}.gz`))

try {
  for (const [number, path] of paths.entries()) if (!existsSync(path)) await writeZone(path, number)
  rmSync(root, { recursive: true, force: true })
  await importFirstZone()
  const runs: ImportRun[] = []
  for (let round = 0; round < rounds; round++) {
    runs.push(await importSecondZone())
    console.error(`  round ${round + 1}: ${Math.round(names / runs.at(-1)!.seconds)} names/s`)
  }
  const seconds = median(runs.map((each) => each.seconds))
  report(
    'zone',
    [
      metricWithMin('names per second', names / seconds, 'names/s', TARGET_RATE),
      metric('the whole import', seconds, 's'),
      metric(
        '  processor time',
        medianOf(runs, ({ usage }) => (usage.cpuSeconds / names) * 1e6),
        'µs per name',
      ),
      metricWithMax(
        'peak memory',
        medianOf(runs, ({ usage }) => usage.peakBytes / 1e6),
        'MB',
        MAX_MEGABYTES,
      ),
      metric('the file', statSync(paths[1]!).size / 1e6, 'MB'),
      metric(
        'written',
        medianOf(runs, ({ usage }) => usage.bytesWritten / 1e6),
        'MB',
      ),
    ],
    [
      `${names.toLocaleString('en')} delegations, 2.5 lines each, gzip, not in byte order; ${NEW_PER_THOUSAND / 10} % new and as many dropped; median of ${rounds}`,
      'the whole process including its start and end; SQLite',
    ],
    runs,
  )
} finally {
  if (givenFolder === null) rmSync(folder, { recursive: true })
}

/** Writes the zone of a day. In the second zone, other names replace some of the first. */
async function writeZone(path: string, number: number): Promise<void> {
  console.error(`  writing ${path}`)
  await pipeline(
    Readable.from(gzipParallel(textOf(number), { level: 6, threads: 2 })),
    createWriteStream(`${path}.new`),
  )
  renameSync(`${path}.new`, path)
}

async function* textOf(number: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('test.\t900\tin\tsoa\ta.nic.test. mail.nic.test. 2026111901 1800 900 604800 86400\n')
  let seed = 7
  for (let from = 0; from < names; from += NAMES_PER_CHUNK) {
    let text = ''
    for (let at = from; at < Math.min(from + NAMES_PER_CHUNK, names); at++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      const isNew = number > 0 && at % 1000 < NEW_PER_THOUSAND
      const name = `${WORDS[(seed >>> 8) % 14]}${WORDS[(seed >>> 16) % 14]}${at.toString(36)}${isNew ? '-new' : ''}.test.`
      const host = (seed >>> 12) % 50_000
      for (let server = 1; server <= 2 + (at & 1); server++)
        text += `${name}\t86400\tin\tns\tns${server}.dns${host}.example.\n`
    }
    yield Buffer.from(text)
  }
}

/** Imports the first zone into a store that saves nothing, because only its set of names is needed. */
async function importFirstZone(): Promise<void> {
  console.error('  importing the first zone')
  const store = {
    now: async () => Math.floor(Date.now() / 1000),
    observations: {
      concurrentSaves: 1,
      crawlStates: async (names: readonly string[]) =>
        names.map((name) => ({
          name,
          version: 1,
          clocks: [],
          dnsFingerprint: 0,
          webFingerprint: 0,
          due: 0,
          failures: 0,
          forgotten: true,
        })),
      save: async () => ({ rejected: [], lost: [] }),
    },
  } as unknown as Store
  await importZone(
    {
      root,
      store,
      signal: new AbortController().signal,
      isStrict: true,
      acceptsLoss: false,
      onReject() {},
      onLines() {},
      onNames() {},
    },
    {
      path: paths[0]!,
      bytes: inflatedBytes(createReadStream(paths[0]!), paths[0]!, () => {}),
      day: parseDay(DAYS[0]),
      zone: null,
    },
  )
}

/** Imports the second zone with the command, as if for the first time. */
async function importSecondZone(): Promise<ImportRun> {
  for (const path of [join(root, 'days', DAYS[1]), join(root, 'zones', 'test', `${DAYS[1]}.json`)])
    rmSync(path, { recursive: true, force: true })
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `store.db${suffix}`), { force: true })
  const env = { DOMAINDEX_STORE: `sqlite:${join(folder, 'store.db')}`, DOMAINDEX_ZONES: root }
  const { output, seconds, usage } = await measureCommand(
    ['import', '--format', 'zone', paths[1]!, '--date', DAYS[1]],
    { env },
  )
  const newNames = Math.ceil((names * NEW_PER_THOUSAND) / 1000)
  if (!output.includes(`names ${names}, registered ${newNames}, dropped ${newNames}, unusable 0, new ${newNames}`))
    throw new Error(output)
  return { seconds, usage }
}
