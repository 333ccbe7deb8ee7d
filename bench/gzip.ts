/** How fast and how small gzip on all cores makes a list of real names, in turn with `pigz -6` on as many threads. */

import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { gzipParallel } from '../src/jobs/gzip.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { readOptions } from './measure/options.ts'
import { atLeast, atMost, figure, report } from './measure/report.ts'

const DATA = new URL('../../shared/data/newly-registered/', import.meta.url)
/** Copies of the list, which lie farther apart than a match may reach. */
const COPIES = 10
const LEVELS = [4, 5, 6]

type Run = { seconds: number; bytes: number }

if (!existsSync(DATA) || spawnSync('pigz', ['--version']).status !== 0) {
  console.error('bench:gzip needs pigz, and the sample data that lies beside the repository')
  process.exit(1)
}
const { rounds } = readOptions(0)
const threads = availableParallelism()
const folder = mkdtempSync(join(tmpdir(), 'domaindex-gzip-'))
const path = join(folder, 'names.txt')
const list = writeNames()

const ours = Object.fromEntries(LEVELS.map((level) => [`ours -${level}`, () => runOurs(level)]))
const runs = await inTurn<string, Run>(rounds, { pigz: runPigz, ...ours })
rmSync(folder, { recursive: true })

const [speed, size] = ['pigz', ...Object.keys(ours)].reduce(
  ([speeds, sizes], key) => [
    { ...speeds, [key]: list / 2 ** 20 / medianOf(runs[key]!, ({ seconds }) => seconds) },
    { ...sizes, [key]: medianOf(runs[key]!, ({ bytes }) => bytes) },
  ],
  [{}, {}] as Record<string, number>[],
) as [Record<string, number>, Record<string, number>]
report(
  'gzip',
  [
    figure(`pigz -p${threads} -6`, speed.pigz!, 'MiB/s'),
    ...LEVELS.flatMap((level) => [
      figure(`level ${level}`, speed[`ours -${level}`]!, 'MiB/s'),
      atLeast(`level ${level}: speed to pigz`, speed[`ours -${level}`]! / speed.pigz!, 'times', 1.3),
      atMost(`level ${level}: size to pigz`, size[`ours -${level}`]! / size.pigz!, 'times', 1.03),
    ]),
  ],
  [
    `${(list / 2 ** 20).toFixed(0)} MiB of real names in byte order, ${threads} threads each, in turn, median of ${rounds}`,
  ],
  runs,
)

/** Writes the names to be compressed; returns how many bytes they are. */
function writeNames(): number {
  const days = readdirSync(DATA).filter((name) => name.endsWith('.txt.gz'))
  const names = days.flatMap((day) =>
    gunzipSync(readFileSync(new URL(day, DATA)))
      .toString('latin1')
      .split('\n'),
  )
  const text = `${[...new Set(names)].sort().join('\n').trim()}\n`
  writeFileSync(path, text.repeat(COPIES), 'latin1')
  return text.length * COPIES
}

async function runOurs(level: number): Promise<Run> {
  const started = performance.now()
  let bytes = 0
  for await (const piece of gzipParallel(createReadStream(path, { highWaterMark: 2 ** 18 }), { level, threads })) {
    bytes += piece.length
  }
  return { seconds: (performance.now() - started) / 1000, bytes }
}

async function runPigz(): Promise<Run> {
  const started = performance.now()
  const { stdout } = spawn('pigz', [`-p${threads}`, '-6', '-c', path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let bytes = 0
  for await (const piece of stdout) bytes += piece.length
  return { seconds: (performance.now() - started) / 1000, bytes }
}
