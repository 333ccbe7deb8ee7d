/**
 * `npm run bench:gzip`: compares the speed and output size of parallel gzip on real names with `pigz -6` on as many
 * threads.
 */

import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { gzipParallel } from '../src/jobs/gzip.ts'
import { readOptions } from './measure/options.ts'
import { metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'

const DATA = new URL('../../shared/data/newly-registered/', import.meta.url)
/** Copies of the list. Copies are farther apart than the maximum distance of a match. */
const COPIES = 10
const LEVELS = [4, 5, 6]

type GzipRun = { seconds: number; bytes: number }

if (!existsSync(DATA) || spawnSync('pigz', ['--version']).status !== 0) {
  console.error('bench:gzip needs pigz (apt-get install pigz) and the sample data in ../shared/data')
  process.exit(1)
}
const { rounds } = readOptions(0)
const threads = availableParallelism()
const folder = mkdtempSync(join(tmpdir(), 'domaindex-gzip-'))
const path = join(folder, 'names.txt')
const listBytes = writeNames()

const ours = Object.fromEntries(LEVELS.map((level) => [`ours -${level}`, () => runOurs(level)]))
const runs = await runInterleaved<string, GzipRun>(rounds, { pigz: runPigz, ...ours })
rmSync(folder, { recursive: true })

const [speed, size] = ['pigz', ...Object.keys(ours)].reduce(
  ([speeds, sizes], key) => [
    { ...speeds, [key]: listBytes / 2 ** 20 / medianOf(runs[key]!, ({ seconds }) => seconds) },
    { ...sizes, [key]: medianOf(runs[key]!, ({ bytes }) => bytes) },
  ],
  [{}, {}] as Record<string, number>[],
) as [Record<string, number>, Record<string, number>]
report(
  'gzip',
  [
    metric(`pigz -p${threads} -6`, speed.pigz!, 'MiB/s'),
    ...LEVELS.flatMap((level) => [
      metric(`level ${level}`, speed[`ours -${level}`]!, 'MiB/s'),
      metricWithMin(`level ${level}: speed to pigz`, speed[`ours -${level}`]! / speed.pigz!, '×', 1.3),
      metricWithMax(`level ${level}: size to pigz`, size[`ours -${level}`]! / size.pigz!, 'times', 1.03),
    ]),
  ],
  [
    `${(listBytes / 2 ** 20).toFixed(0)} MiB of real names in byte order, ${threads} threads each, interleaved, median of ${rounds}`,
  ],
  runs,
)

/** Writes the names to compress. Returns their size in bytes. */
function writeNames(): number {
  const files = readdirSync(DATA).filter((name) => name.endsWith('.txt.gz'))
  const names = files.flatMap((day) =>
    gunzipSync(readFileSync(new URL(day, DATA)))
      .toString('latin1')
      .split('\n'),
  )
  const text = `${[...new Set(names)].sort().join('\n').trim()}\n`
  writeFileSync(path, text.repeat(COPIES), 'latin1')
  return text.length * COPIES
}

async function runOurs(level: number): Promise<GzipRun> {
  const startedAt = performance.now()
  let bytes = 0
  for await (const chunk of gzipParallel(createReadStream(path, { highWaterMark: 2 ** 18 }), { level, threads })) {
    bytes += chunk.length
  }
  return { seconds: (performance.now() - startedAt) / 1000, bytes }
}

async function runPigz(): Promise<GzipRun> {
  const startedAt = performance.now()
  const { stdout } = spawn('pigz', [`-p${threads}`, '-6', '-c', path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let bytes = 0
  for await (const chunk of stdout) bytes += chunk.length
  return { seconds: (performance.now() - startedAt) / 1000, bytes }
}
