/** `npm run bench:crawl`: whole visits a second and core, where their time goes, and whether memory stays flat. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Taken, Task } from './crawl/probes.ts'
import { type Servers, startServers } from './crawl/servers.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { run, temporary } from './measure/process.ts'
import { atLeast, atMost, figure, type Line, report } from './measure/report.ts'

const CRAWLER_CORE = 0
const SERVERS_CORE = 1
const WHATS = ['page', 'secure', 'plain', 'dns'] as const
type What = (typeof WHATS)[number]

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '20000' },
    visits: { type: 'string', default: '10000' },
    warming: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '5' },
    parallel: { type: 'string', default: '256' },
    long: { type: 'string', default: '100000' },
  },
})
const [names, visits, warming, rounds, parallel, long] = [
  values.names,
  values.visits,
  values.warming,
  values.rounds,
  values.parallel,
  values.long,
].map(Number) as [number, number, number, number, number, number]

if (names < warming + visits) throw new Error('each name may be met once: the robots.txt of those met before is known')

const folder = temporary()
mkdirSync(join(folder, 'servers'))
const servers = await startServers(join(folder, 'servers'), names, SERVERS_CORE)
try {
  const lines: Line[] = []
  const raw: Record<string, unknown> = {}
  await rates(servers, lines, raw)
  if (long > 0) await memory(servers, lines, raw)
  report('crawl', lines, notes(), raw)
} finally {
  await servers.close()
  rmSync(folder, { recursive: true })
}

function notes(): string[] {
  return [
    `${visits.toLocaleString('en')} visits of ${names.toLocaleString('en')} names a round after ${warming.toLocaleString('en')} that warm up, median of ${rounds}, ${parallel} in flight; the crawler on one core, nsd and nginx on the other`,
    'a whole visit: seven types, http that redirects to https (ECDSA P-256), robots.txt, verdict, a page of 30 KB sent as gzip, its text and accounts',
    'parts are differences of processor time between visits that do less; every answer is checked',
  ]
}

async function rates(servers: Servers, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  const contenders = Object.fromEntries(WHATS.map((what) => [what, () => measure(servers, what, { warming, visits })]))
  const taken = await inTurn(rounds, contenders as Record<What, () => Promise<Taken>>)
  const cost = (what: What): number => medianOf(taken[what], ({ cpuSeconds }) => (cpuSeconds / visits) * 1e6)
  const [page, secure, plain, dns] = WHATS.map(cost) as [number, number, number, number]
  lines.push(
    atLeast(
      'whole visits',
      medianOf(taken.page, ({ seconds }) => visits / seconds),
      'a second and core',
      500,
    ),
    figure('processor time', page, 'µs a visit'),
    figure(
      '  of each of the visits before, start and compiler included',
      medianOf(taken.page, ({ warmingSeconds }) => (warmingSeconds / warming) * 1e6),
      'µs',
    ),
    figure('  seven questions of DNS', dns, 'µs'),
    figure('  an answer over http, with robots.txt, the visit and its observation', plain - dns, 'µs'),
    figure('  the redirect, TLS and the verdict', secure - plain, 'µs'),
    figure('  a page of 30 KB: inflate, parse, text and accounts', page - secure, 'µs'),
    figure(
      'visits that only ask DNS',
      medianOf(taken.dns, ({ seconds }) => visits / seconds),
      'a second and core',
    ),
  )
  Object.assign(raw, taken)
}

/** The first tenth warms up: caches are bounded, and full after every name was met once. */
async function memory(servers: Servers, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  const taken = await measure(servers, 'page', { warming: 0, visits: long }, ['--expose-gc'])
  const [early, late] = [taken.memory.slice(2, 5), taken.memory.slice(-3)].map((some) => Math.max(...some)) as [
    number,
    number,
  ]
  lines.push(
    figure('resident memory at most', taken.peakBytes / 1e6, 'MB'),
    atMost(
      `  the last three tenths of ${long.toLocaleString('en')} visits to the third to fifth`,
      late / early,
      'times',
      1.1,
    ),
    figure('  visits meanwhile', long / taken.seconds, 'a second and core'),
  )
  raw.long = taken
}

/** `flags`: of node, for the measured process. */
async function measure(
  servers: Servers,
  what: What,
  { warming, visits }: Pick<Task, 'warming' | 'visits'>,
  flags: readonly string[] = [],
): Promise<Taken> {
  const { server, stands, root } = servers
  const task: Task = { place: { server, stands, root }, what, names, warming, visits, parallel }
  const path = join(folder, 'task.json')
  writeFileSync(path, JSON.stringify(task))
  const child = new URL('./crawl/probes.ts', import.meta.url).pathname
  const taken = JSON.parse(await run([process.execPath, ...flags, child, path], { core: CRAWLER_CORE })) as Taken
  console.error(`  ${what}: ${Math.round(visits / taken.seconds)}/s, ${Math.round(taken.peakBytes / 1e6)} MB`)
  if (taken.wrong > 0) throw new Error(`${taken.wrong} of ${visits} visits (${what}) were wrong`)
  return taken
}
