/** `npm run bench:zone`: how fast, and in how much memory, a zone is read and compared with that of the day before. */

import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipParallel } from '../src/jobs/gzip.ts'
import { inflatedBytes } from '../src/registrations/inflated-bytes.ts'
import { importZone } from '../src/registrations/zone/import-zone.ts'
import type { Store } from '../src/store/port/store.ts'
import { parseDay } from '../src/values/time.ts'
import { median, medianOf } from './measure/measure.ts'
import { readOptions } from './measure/options.ts'
import { temporary, timed, type Used } from './measure/process.ts'
import { atLeast, atMost, figure, report } from './measure/report.ts'

type Run = { seconds: number; used: Used }

/** Of a thousand names, those that came since the day before, and those that went. */
const COME = 1
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
const NAMES_A_PIECE = 5_000
const AIM_RATE = 500_000
const AIM_MEGABYTES = 500

const { names, rounds, folder: given } = readOptions(10_000_000, 0, 3)
const folder = given ?? temporary()
mkdirSync(folder, { recursive: true })
const root = join(folder, 'zones')
const paths = DAYS.map((_, number) => join(folder, `zone-${names}-${number}.gz`))

try {
  for (const [number, path] of paths.entries()) if (!existsSync(path)) await writeZone(path, number)
  rmSync(root, { recursive: true, force: true })
  await takeFirst()
  const runs: Run[] = []
  for (let round = 0; round < rounds; round++) {
    runs.push(await takeSecond())
    console.error(`  round ${round + 1}: ${Math.round(names / runs.at(-1)!.seconds)} names/s`)
  }
  const seconds = median(runs.map((each) => each.seconds))
  report(
    'zone',
    [
      atLeast('names compared with the day before', names / seconds, '1/s', AIM_RATE),
      figure('the whole import', seconds, 's'),
      figure(
        'of which a core was at work',
        medianOf(runs, ({ used }) => used.cpuSeconds),
        's',
      ),
      atMost(
        'memory at its peak',
        medianOf(runs, ({ used }) => used.peakBytes / 1e6),
        'MB',
        AIM_MEGABYTES,
      ),
      figure('the file', statSync(paths[1]!).size / 1e6, 'MB'),
      figure(
        'written',
        medianOf(runs, ({ used }) => used.written / 1e6),
        'MB',
      ),
    ],
    [
      `${names.toLocaleString('en')} delegations, 2.5 lines each, gzip, not in byte order; ${COME / 10} % came and as many went; median of ${rounds}`,
      'the whole process, its start and end included; SQLite',
    ],
    runs,
  )
} finally {
  if (given === null) rmSync(folder, { recursive: true })
}

/** The zone of a day: the second has others in the place of some of the first. */
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
  for (let from = 0; from < names; from += NAMES_A_PIECE) {
    let text = ''
    for (let at = from; at < Math.min(from + NAMES_A_PIECE, names); at++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      const isNew = number > 0 && at % 1000 < COME
      const name = `${WORDS[(seed >>> 8) % 14]}${WORDS[(seed >>> 16) % 14]}${at.toString(36)}${isNew ? '-new' : ''}.test.`
      const host = (seed >>> 12) % 50_000
      for (let server = 1; server <= 2 + (at & 1); server++)
        text += `${name}\t86400\tin\tns\tns${server}.dns${host}.example.\n`
    }
    yield Buffer.from(text)
  }
}

/** Takes the first zone into a store that keeps nothing: only the set of its names is wanted. */
async function takeFirst(): Promise<void> {
  console.error('  taking the first zone')
  const store = {
    now: async () => Math.floor(Date.now() / 1000),
    observations: {
      crawlStates: async (asked: readonly string[]) =>
        asked.map((name) => ({
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

/** Takes the second zone as a user does, as if for the first time. */
async function takeSecond(): Promise<Run> {
  for (const path of [join(root, 'days', DAYS[1]), join(root, 'zones', 'test', `${DAYS[1]}.json`)])
    rmSync(path, { recursive: true, force: true })
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `store.db${end}`), { force: true })
  const env = { DOMAINDEX_STORE: `sqlite:${join(folder, 'store.db')}`, DOMAINDEX_ZONES: root }
  const { said, seconds, used } = await timed(['import', '--format', 'zone', paths[1]!, '--date', DAYS[1]], { env })
  const come = Math.ceil((names * COME) / 1000)
  if (!said.includes(`names ${names}, registered ${come}, dropped ${come}, unusable 0, new ${come}`))
    throw new Error(said)
  return { seconds, used }
}
