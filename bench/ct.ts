/**
 * `npm run bench:ct`: how many entries of a certificate log one process reads, verifies and parses per second of
 * processor time, and its memory at the beginning and at the end. Real certificates of the lab's authority, which repeat,
 * as static tiles over loopback. The names reach the store once.
 */

import { createPublicKey } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from './measure/options.ts'
import {
  makeTemporaryFolder,
  measureCommand,
  ROOT,
  startProcess,
  stopProcess,
  waitForOutput,
} from './measure/process.ts'
import { metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf } from './measure/rounds.ts'

const TARGET_RATE = 30_000
/** Memory of the long run to that of the short one. */
const MAX_MEMORY_GROWTH = 1.2
const SHORT_SHARE = 20

const { names: entries, rounds, folder: givenFolder } = readOptions(1_000_000, 0, 3)
const folder = givenFolder ?? makeTemporaryFolder()

try {
  mkdirSync(folder, { recursive: true })
  const runs: { long: Measured; short: Measured }[] = []
  for (let round = 0; round < rounds; round++) {
    runs.push({ short: await readLog(Math.ceil(entries / SHORT_SHARE)), long: await readLog(entries) })
    console.error(
      `  round ${round + 1}: ${Math.round(entries / runs.at(-1)!.long.usage.cpuSeconds)} entries/s of a core`,
    )
  }
  const of = (key: 'long' | 'short', value: (run: Measured) => number): number =>
    medianOf(runs, (run) => value(run[key]))
  const peak = ({ usage }: Measured): number => usage.peakBytes / 1e6
  report(
    'ct',
    [
      metricWithMin(
        'entries per second of a core',
        entries / of('long', ({ usage }) => usage.cpuSeconds),
        'entries/s',
        TARGET_RATE,
      ),
      metric('  processor time', (of('long', ({ usage }) => usage.cpuSeconds) / entries) * 1e6, 'µs per entry'),
      metric('entries per second', entries / of('long', ({ seconds }) => seconds), 'entries/s'),
      metric('peak memory', of('long', peak), 'MB'),
      metricWithMax(
        '  to that of a twentieth of the entries',
        of('long', peak) / of('short', peak),
        'times',
        MAX_MEMORY_GROWTH,
      ),
    ],
    [`${entries.toLocaleString('en')} entries, tiles with gzip over loopback; the whole process; median of ${rounds}`],
    runs,
  )
} finally {
  if (givenFolder === null) rmSync(folder, { recursive: true })
}

type Measured = Awaited<ReturnType<typeof measureCommand>>

/** Reads a whole log into an empty store. */
async function readLog(count: number): Promise<Measured> {
  const server = startProcess([process.execPath, join(ROOT, 'bench/ct/server.ts'), String(count)])
  const place = join(folder, 'run')
  try {
    const [, port, key] = await waitForOutput(server, /listening on (\d+) with (\S+)/, 120)
    mkdirSync(place)
    const pem = createPublicKey({ key: Buffer.from(key!, 'base64'), format: 'der', type: 'spki' })
    writeFileSync(join(place, 'log.pem'), pem.export({ format: 'pem', type: 'spki' }))
    const env = { DOMAINDEX_STORE: `sqlite:${join(place, 'store.db')}`, DOMAINDEX_CT_START_BACK: '100000000' }
    const args = ['fetch', 'ct', '--log', `http://127.0.0.1:${port}/`, '--log-key', join(place, 'log.pem'), '--once']
    const measured = await measureCommand(args, { env })
    const expected = Math.floor(count / 256) * 256
    if (!measured.output.includes(`entries ${expected}, new 6`)) throw new Error(measured.output)
    return measured
  } finally {
    await stopProcess(server)
    rmSync(place, { recursive: true, force: true })
  }
}
