/**
 * `npm run bench:crawl`: measures complete probes per second and core, where their time goes, and whether memory stays
 * flat.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CrawlResult, CrawlTask } from './crawl/probes.ts'
import { type Servers, startServers } from './crawl/servers.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, runProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'

const CRAWLER_CORE = 0
const SERVERS_CORE = 1
const WORKLOADS = ['page', 'secure', 'plain', 'dns'] as const
type Workload = (typeof WORKLOADS)[number]

const values = readTexts({
  names: '20000',
  probes: '10000',
  'warm-ups': '4000',
  rounds: '5',
  parallel: '256',
  'memory-probes': '100000',
})
const [names, probes, warmUps, rounds, parallel, memoryProbes] = [
  values.names,
  values.probes,
  values['warm-ups'],
  values.rounds,
  values.parallel,
  values['memory-probes'],
].map(Number) as [number, number, number, number, number, number]

if (names < warmUps + probes)
  throw new Error(
    '--names must be at least --warm-ups plus --probes: a name whose robots.txt is cached must not be probed again',
  )

const folder = makeTemporaryFolder()
try {
  mkdirSync(join(folder, 'servers'))
  const servers = await startServers(join(folder, 'servers'), names, SERVERS_CORE)
  try {
    await measureAll(servers)
  } finally {
    await servers.close()
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function measureAll(servers: Servers): Promise<void> {
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  await measureRates(servers, metrics, raw)
  if (memoryProbes > 0) await measureMemory(servers, metrics, raw)
  report('crawl', metrics, notes(), raw)
}

function notes(): string[] {
  return [
    `${probes.toLocaleString('en')} probes of ${names.toLocaleString('en')} names per round, median of ${rounds}, ${parallel} in flight`,
    `${warmUps.toLocaleString('en')} warm-up probes before; the crawler on one core, nsd and nginx on the other`,
    'a whole probe: seven types, http that redirects to https (ECDSA P-256), robots.txt, the certificate, a page of 30 KB sent as gzip, its text and accounts',
    'parts are differences of processor time between probes that do less; every observation is checked',
  ]
}

async function measureRates(servers: Servers, metrics: Metric[], raw: Record<string, unknown>): Promise<void> {
  const contenders = Object.fromEntries(
    WORKLOADS.map((workload) => [workload, () => measure(servers, workload, { warmUps, probes })]),
  )
  const results = await runInterleaved(rounds, contenders as Record<Workload, () => Promise<CrawlResult>>)
  const cost = (workload: Workload): number =>
    medianOf(results[workload], ({ cpuSeconds }) => (cpuSeconds / probes) * 1e6)
  const [page, secure, plain, dns] = WORKLOADS.map(cost) as [number, number, number, number]
  metrics.push(
    metricWithMin(
      'whole probes',
      medianOf(results.page, ({ seconds }) => probes / seconds),
      'per second and core',
      600,
    ),
    metric('processor time', page, 'µs per probe'),
    metric(
      '  of a warm-up probe, start and compiler included',
      medianOf(results.page, ({ warmUpCpuSeconds }) => (warmUpCpuSeconds / warmUps) * 1e6),
      'µs',
    ),
    metric('  the seven queries', dns, 'µs'),
    metric('  a response over http, robots.txt, the probe and its observation', plain - dns, 'µs'),
    metric('  the redirect, TLS and the certificate', secure - plain, 'µs'),
    metric('  a page of 30 KB: decompress, parse, text and accounts', page - secure, 'µs'),
    metric(
      'probes that only query DNS',
      medianOf(results.dns, ({ seconds }) => probes / seconds),
      'per second and core',
    ),
  )
  Object.assign(raw, results)
}

/** The first tenth warms up: caches are bounded, and they are full once every name was probed. */
async function measureMemory(servers: Servers, metrics: Metric[], raw: Record<string, unknown>): Promise<void> {
  const result = await measure(servers, 'page', { warmUps: 0, probes: memoryProbes }, ['--expose-gc'])
  const [early, late] = [result.memory.slice(2, 5), result.memory.slice(-3)].map((samples) => Math.max(...samples)) as [
    number,
    number,
  ]
  metrics.push(
    metric('peak resident memory', result.peakBytes / 1e6, 'MB'),
    metricWithMax(
      `  the last three tenths of ${memoryProbes.toLocaleString('en')} probes to the third to fifth`,
      late / early,
      '×',
      1.1,
    ),
    metric('  probes meanwhile', memoryProbes / result.seconds, 'per second and core'),
  )
  raw.memory = result
}

/** `flags`: flags of Node for the measured process. */
async function measure(
  servers: Servers,
  workload: Workload,
  { warmUps, probes }: Pick<CrawlTask, 'warmUps' | 'probes'>,
  flags: readonly string[] = [],
): Promise<CrawlResult> {
  const { server, portMappings, root } = servers
  const task: CrawlTask = {
    servers: { server, portMappings, root },
    workload,
    names,
    warmUps,
    probes,
    parallel,
  }
  const path = join(folder, 'task.json')
  writeFileSync(path, JSON.stringify(task))
  const child = new URL('./crawl/probes.ts', import.meta.url).pathname
  const result = JSON.parse(
    await runProcess([process.execPath, ...flags, child, path], { core: CRAWLER_CORE }),
  ) as CrawlResult
  console.error(`  ${workload}: ${Math.round(probes / result.seconds)}/s, ${Math.round(result.peakBytes / 1e6)} MB`)
  if (result.wrong > 0) throw new Error(`${result.wrong} of ${probes} probes (${workload}) were wrong`)
  return result
}
