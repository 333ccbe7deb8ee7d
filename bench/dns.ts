/**
 * `npm run bench:dns`: measures how many queries per second our resolver sends to nsd, compared with dnsperf and
 * node:dns.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DnsServer } from '../src/probe/dns/server.ts'
import { startNsd } from './dns/nsd.ts'
import type { QueryResult, QueryTask } from './dns/query-client.ts'
import { type BenchOptions, readOptions } from './measure/options.ts'
import { isInstalled, makeTemporaryFolder, runProcess } from './measure/process.ts'
import { timeWork } from './measure/processor-time.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'

const SERVER_CORE = 0
const LOAD_CORE = 1
const MANY_QUERIES = 2000
/** Queries in flight. Each contender tries all of them briefly and is measured with its fastest. */
const CONCURRENCIES = [50, 100, 200, 400, 800]
const TRIAL_SECONDS = 2
const DNSPERF_CLIENTS = 16
const QUERY_CLIENT = fileURLToPath(new URL('dns/query-client.ts', import.meta.url))

type QueryTarget = { server: DnsServer; questions: string; names: number }
type Contender = QueryTask['client'] | 'dnsperf'

for (const [program, debianPackage] of [
  ['nsd', 'nsd'],
  ['dnsperf', 'dnsperf'],
] as const) {
  if (isInstalled(program)) continue
  console.error(`${program} is missing: apt-get install ${debianPackage}, and stop the service that it starts`)
  process.exit(1)
}

const options = readOptions(200_000)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
try {
  const nsd = await startNsd(folder, options.names, SERVER_CORE)
  try {
    await compare({ ...nsd, names: options.names }, options)
  } finally {
    await nsd.close()
  }
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

async function compare(target: QueryTarget, { rounds, seconds, names }: BenchOptions): Promise<void> {
  const best = {
    ours: await bestConcurrency('ours', target),
    'node:dns': await bestConcurrency('node:dns', target),
    dnsperf: await bestConcurrency('dnsperf', target),
  }
  const results = await runInterleaved(rounds, {
    dnsperf: () => measure('dnsperf', target, best.dnsperf, seconds),
    ours: () => measure('ours', target, best.ours, seconds),
    'node:dns': () => measure('node:dns', target, best['node:dns'], seconds),
    'ours, many': () => measure('ours', target, MANY_QUERIES, seconds),
    'node:dns, many': () => measure('node:dns', target, MANY_QUERIES, seconds),
  })
  const notes = [
    `${names.toLocaleString('en')} names of nsd, one process on one core, queried from the other; median of ${rounds} × ${seconds} s; every address is checked`,
    `each with the number in flight that is fastest: ours ${best.ours}, node:dns ${best['node:dns']}, dnsperf ${best.dnsperf}; dnsperf checks no address`,
  ]
  report('dns', metricsOf(results), notes, { best, results })
}

function metricsOf(results: Record<string, QueryResult[]>): Metric[] {
  const rate = (key: string) => medianOf(results[key]!, (each) => each.rate)
  const cost = (key: string) => medianOf(results[key]!, (each) => each.cpuMicroseconds)
  const wrong = (key: string) => results[key]!.reduce((sum, each) => sum + each.wrong, 0)
  return [
    metricWithMin('ours to dnsperf', rate('ours') / rate('dnsperf'), '×', 0.8),
    metric('  by processor time', cost('dnsperf') / cost('ours'), '×'),
    metricWithMin('ours to node:dns', rate('ours') / rate('node:dns'), '×', 1.1),
    metricWithMin(
      `ours to node:dns with ${MANY_QUERIES} in flight`,
      rate('ours, many') / rate('node:dns, many'),
      '×',
      4,
    ),
    ...Object.keys(results).flatMap((key) => [
      metric(key, rate(key), 'responses/s'),
      metric('  processor time', cost(key), 'µs per response'),
      metric('  wrong or none', wrong(key), 'answers'),
    ]),
  ]
}

async function bestConcurrency(contender: Contender, target: QueryTarget): Promise<number> {
  const rates: number[] = []
  for (const concurrency of CONCURRENCIES)
    rates.push((await measure(contender, target, concurrency, TRIAL_SECONDS)).rate)
  return CONCURRENCIES[rates.indexOf(Math.max(...rates))]!
}

async function measure(
  contender: Contender,
  target: QueryTarget,
  concurrency: number,
  seconds: number,
): Promise<QueryResult> {
  const result =
    contender === 'dnsperf'
      ? await dnsperf(target, concurrency, seconds)
      : await runQueryClient(contender, target, concurrency, seconds)
  console.error(`  ${contender}, ${concurrency} in flight: ${Math.round(result.rate)}/s, ${result.wrong} wrong or none`)
  return result
}

async function runQueryClient(
  contender: QueryTask['client'],
  { server, names }: QueryTarget,
  concurrency: number,
  seconds: number,
): Promise<QueryResult> {
  const task: QueryTask = { client: contender, concurrency, seconds, names, server }
  return JSON.parse(await runProcess([process.execPath, QUERY_CLIENT, JSON.stringify(task)], { core: LOAD_CORE }))
}

/** Uses EDNS like the others. A lost query and any status except NOERROR count as wrong. */
async function dnsperf({ server, questions }: QueryTarget, concurrency: number, seconds: number): Promise<QueryResult> {
  const { address, port } = server
  const serverArgs = ['-s', address, '-p', String(port), '-d', questions, '-e']
  const loadArgs = ['-c', String(DNSPERF_CLIENTS), '-T', '1', '-q', String(concurrency), '-l', String(seconds)]
  const { result: output, cpuSeconds } = await timeWork(() =>
    runProcess(['dnsperf', ...serverArgs, ...loadArgs], { core: LOAD_CORE }),
  )
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  const [completed, right] = [number(/Queries completed:\s+(\d+)/), number(/NOERROR (\d+)/)]
  const wrong = number(/Queries lost:\s+(\d+)/) + completed - right
  return { rate: number(/Queries per second:\s+([\d.]+)/), wrong, cpuMicroseconds: (1e6 * cpuSeconds) / right }
}
