/**
 * `npm run bench:axfr`: the speed and memory of `domaindex fetch axfr` for a zone with two name servers per delegation,
 * from the lab's server over TCP of loopback, with TSIG; and then of the import of what it wrote, into an empty store and
 * as the zone of the next day.
 */

import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addDays, type Day } from '../src/values/time.ts'
import { BENCH_KEY, BENCH_ZONE } from './axfr/zone.ts'
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

const TARGET_RATE = 200_000
const MAX_MEGABYTES = 300

const { names, rounds, folder: givenFolder } = readOptions(1_000_000, 0, 5)
const folder = givenFolder ?? makeTemporaryFolder()
const server = startProcess([process.execPath, join(ROOT, 'bench/axfr/server.ts'), String(names)])

try {
  const [, port] = await waitForOutput(server, /listening on (\d+)/, 120)
  const key = join(folder, 'tsig.key')
  mkdirSync(folder, { recursive: true })
  writeFileSync(key, `hmac-sha256:${BENCH_KEY.name}:${BENCH_KEY.secret.toString('base64')}\n`, { mode: 0o600 })
  const [transfers, imports, laterImports] = [[], [], []] as [Measured[], Measured[], Measured[]]
  for (let round = 0; round < rounds; round++) {
    const place = join(folder, `round-${round}`)
    const inbox = join(place, 'inbox')
    const env = {
      DOMAINDEX_STORE: `sqlite:${join(place, 'store.db')}`,
      DOMAINDEX_INBOX: inbox,
      DOMAINDEX_ZONES: join(place, 'zones'),
    }
    mkdirSync(place, { recursive: true })
    transfers.push(await measure(['fetch', 'axfr', `${BENCH_ZONE}@127.0.0.1:${port}`, '--tsig-file', key], env))
    const [file] = readdirSync(inbox).filter((entry) => entry.endsWith('.zone.gz'))
    const moved = join(place, 'zone.gz')
    renameSync(join(inbox, file!), moved)
    const day = file!.slice(-18, -8) as Day
    imports.push(await measure(['import', '--format', 'zone', moved, '--date', day], env))
    laterImports.push(await measure(['import', '--format', 'zone', moved, '--date', addDays(day, 1)], env))
    console.error(
      `  round ${round + 1}: ${Math.round(names / transfers.at(-1)!.seconds)} names/s, ${statSync(moved).size} bytes`,
    )
    rmSync(place, { recursive: true })
  }
  const rate = (runs: readonly Measured[]): number => names / medianOf(runs, ({ seconds }) => seconds)
  const cost = (runs: readonly Measured[]): number => medianOf(runs, ({ usage }) => (usage.cpuSeconds / names) * 1e6)
  const memory = (runs: readonly Measured[]): number => medianOf(runs, ({ usage }) => usage.peakBytes / 1e6)
  report(
    'axfr',
    [
      metricWithMin('transfer', rate(transfers), 'names/s', TARGET_RATE),
      metric('  processor time', cost(transfers), 'µs per name'),
      metricWithMax('  peak memory', memory(transfers), 'MB', MAX_MEGABYTES),
      metric('import into an empty store', rate(imports), 'names/s'),
      metric('  processor time', cost(imports), 'µs per name'),
      metric('  peak memory', memory(imports), 'MB'),
      metric('import a day later', rate(laterImports), 'names/s'),
      metric('  processor time', cost(laterImports), 'µs per name'),
      metric('  peak memory', memory(laterImports), 'MB'),
    ],
    [
      `${names.toLocaleString('en')} delegations with two name servers, one message in 100 signed, TCP over loopback`,
      `the whole processes including their start and end; median of ${rounds}`,
    ],
    { transfers, imports, laterImports },
  )
} finally {
  await stopProcess(server)
  if (givenFolder === null) rmSync(folder, { recursive: true })
}

type Measured = Awaited<ReturnType<typeof measureCommand>>

/** Runs the command, which must store every name. */
async function measure(args: readonly string[], env: Record<string, string>): Promise<Measured> {
  const measured = await measureCommand(args, { env })
  if (!measured.output.includes(`names ${names},`)) throw new Error(measured.output)
  return measured
}
