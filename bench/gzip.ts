/**
 * `npm run bench:gzip`: compares the speed and output size of parallel gzip on real names with `pigz -6` on as many
 * threads.
 */

import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { gzipParallel } from '../src/jobs/gzip/gzip.ts'
import { readOptions } from './measure/options.ts'
import { countBytes, type GzipRun, requirePigz, runPigz } from './measure/pigz.ts'
import { timeWork } from './measure/processor-time.ts'
import { metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'

const DATA = new URL('../../shared/data/newly-registered/', import.meta.url)
/** Copies of the list. Copies are farther apart than the maximum distance of a match. */
const COPIES = 10
const LEVELS = [4, 5, 6]

requirePigz()
if (!existsSync(DATA)) {
  console.error('bench:gzip needs the sample data in ../shared/data')
  process.exit(1)
}
const { rounds } = readOptions(0)
const threads = availableParallelism()
const folder = mkdtempSync(join(tmpdir(), 'domaindex-gzip-'))
const path = join(folder, 'names.txt')
const listBytes = writeNames()

const ours = Object.fromEntries(LEVELS.map((level) => [`ours -${level}`, () => runOurs(level)]))
const runs = await runInterleaved<string, GzipRun>(rounds, { pigz: () => runPigz(path, threads), ...ours })
rmSync(folder, { recursive: true })

const mebibytes = listBytes / 2 ** 20
const speed = (key: string): number => mebibytes / medianOf(runs[key]!, ({ seconds }) => seconds)
const cost = (key: string): number => (1000 * medianOf(runs[key]!, ({ cpuSeconds }) => cpuSeconds)) / mebibytes
const size = (key: string): number => medianOf(runs[key]!, ({ bytes }) => bytes)
report(
  'gzip',
  [
    metric(`pigz -p${threads} -6`, speed('pigz'), 'MiB/s'),
    metric('  processor time', cost('pigz'), 'ms per MiB'),
    ...LEVELS.flatMap((level) => [
      metric(`level ${level}`, speed(`ours -${level}`), 'MiB/s'),
      metric('  processor time', cost(`ours -${level}`), 'ms per MiB'),
      metricWithMin('  speed to pigz', speed(`ours -${level}`) / speed('pigz'), '×', 1.3),
      metric('  by processor time', cost('pigz') / cost(`ours -${level}`), '×'),
      metricWithMax('  size to pigz', size(`ours -${level}`) / size('pigz'), 'times', 1.03),
    ]),
  ],
  [
    `${mebibytes.toFixed(0)} MiB of real names in byte order, ${threads} threads each, interleaved, median of ${rounds}`,
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
  const { result: bytes, ...time } = await timeWork(() =>
    countBytes(gzipParallel(createReadStream(path, { highWaterMark: 2 ** 18 }), { level, threads })),
  )
  return { ...time, bytes }
}
