/** The parts of bench:serve that request pages: their speed, the cost of deep pages, and lookups beside long pages. */

import { type MeasuredLoad, runClosedLoad } from '../load/closed-load.ts'
import { type MeasuredServer, postJson, runOpenLoad } from '../load/server.ts'
import type { BenchOptions } from '../measure/options.ts'
import { type Metric, metric, metricWithMax, metricWithMin } from '../measure/report.ts'
import { medianOf, runInterleaved } from '../measure/rounds.ts'
import type { ExpectedAnswers } from '../world/answers.ts'
import { seededRandom } from '../world/random.ts'
import { domainNameAt, HOT_ADDRESS, type World } from '../world/world.ts'

/** What all parts share: the servers, the tokens and the expected responses. */
export type ServeBench = {
  folder: string
  options: BenchOptions
  world: World
  tokens: readonly string[]
  ours: MeasuredServer
  express: MeasuredServer
  postgres: Pick<MeasuredServer, 'running'>
  expected: ExpectedAnswers
}

const CONNECTIONS = 16
const PAGE_READERS = 4
const LONG_PAGE = 50_000
/** A hundred pages of this size contain fewer rows than the hot address has. */
const SHORT_PAGE = 600
/** Lookups per second while other clients read long pages. */
const RATE = 1000
const QUERY_COUNT = 20_000

/** The targets: pages per second of 1,000 rows, time of a page of 50,000 rows, processor time of that page. */
const TARGETS = { speed: 4, gzippedSpeed: 3, time: 0.2, cpu: 0.25 }

/** (d): pages of 1,000 rows at full speed, and the time of one page of 50,000 rows, plain and gzipped. */
export async function measurePages(bench: ServeBench, metrics: Metric[], raw: Record<string, unknown>): Promise<void> {
  for (const gzip of [false, true]) {
    for (const limit of [1000, LONG_PAGE]) {
      const figures = await runInterleaved(bench.options.rounds, contenders(bench, limit, gzip))
      raw[`${limit}${gzip ? ' gzipped' : ''}`] = figures
      metrics.push(...pageMetrics(limit, gzip, figures))
    }
  }
}

function pageMetrics(
  limit: number,
  gzip: boolean,
  { ours, rows, text }: Record<'ours' | 'rows' | 'text', MeasuredLoad[]>,
): Metric[] {
  const isLong = limit === LONG_PAGE
  const speed = (loads: MeasuredLoad[]): number => medianOf(loads, (each) => each[isLong ? 'p50' : 'rate'])
  const cpu = (loads: MeasuredLoad[]): number => medianOf(loads, ({ cpuMicroseconds }) => cpuMicroseconds)
  const both = (name: string, loads: MeasuredLoad[]): Metric[] => [
    metric(name, speed(loads), isLong ? 'ms per page' : 'pages/s'),
    metric('    processor time', cpu(loads), 'µs'),
  ]
  const [label, ratio] = ['  to rows to JSON', speed(ours) / speed(rows)]
  const [cpuLabel, cpuRatio] = ['    processor time to its', cpu(ours) / cpu(rows)]
  const speedTarget = gzip ? TARGETS.gzippedSpeed : TARGETS.speed
  return [
    ...both(`/reverseip, ${limit.toLocaleString('en')} rows${gzip ? ', gzipped' : ''}`, ours),
    ...both('  (d) express + pg, rows to JSON', rows),
    ...both('  (d) express + pg, json_agg', text),
    ...(isLong && !gzip
      ? [metricWithMax(label, ratio, '×', TARGETS.time), metricWithMax(cpuLabel, cpuRatio, '×', TARGETS.cpu)]
      : [
          isLong ? metric(label, ratio, '×') : metricWithMin(label, ratio, '×', speedTarget),
          metric(cpuLabel, cpuRatio, '×'),
        ]),
    metric('  to json_agg', speed(ours) / speed(text), '×'),
  ]
}

function contenders({ folder, options, tokens, ours, express, postgres }: ServeBench, limit: number, gzip: boolean) {
  const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit }))
  const load = { bodies, gzip, connections: limit === LONG_PAGE ? 1 : CONNECTIONS, seconds: options.seconds }
  const at = (server: MeasuredServer, path: string, others: Pick<MeasuredServer, 'running'>[]) => () =>
    runClosedLoad(folder, { ...load, url: server.origin + path, servers: [server, ...others] })
  return {
    ours: at(ours, '/v1.0/reverseip', []),
    rows: at(express, '/v1.0/reverseip', [postgres]),
    text: at(express, '/text/reverseip', [postgres]),
  }
}

/** Compares page 100 with page 1 of one query. */
export async function measureDepth(bench: ServeBench, metrics: Metric[], raw: Record<string, unknown>): Promise<void> {
  const { folder, options, tokens, ours } = bench
  const url = `${ours.origin}/v1.0/reverseip`
  const page = (next: string | null) => () => {
    const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: SHORT_PAGE, next }))
    return runClosedLoad(folder, { url, bodies, connections: CONNECTIONS, seconds: options.seconds })
  }
  const hundredth = await cursorOfPage(url, tokens[0]!, 100)
  const depth = await runInterleaved(options.rounds, { first: page(null), hundredth: page(hundredth) })
  raw.depth = depth
  const [first, last] = [medianOf(depth.first, ({ rate }) => rate), medianOf(depth.hundredth, ({ rate }) => rate)]
  metrics.push(metric(`page 1 of a pagination, ${SHORT_PAGE} rows`, first, 'pages/s'))
  metrics.push(metricWithMin('  page 100 to page 1', last / first, '×', 0.95))
}

/** /lookup at a constant rate, alone and beside clients that read long pages. */
export async function measureLookupsDuringPages(
  bench: ServeBench,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const { folder, options, tokens, ours } = bench
  const url = `${ours.origin}/v1.0/lookup`
  const alone = () => runOpenLoad(folder, { url, rate: RATE, seconds: options.seconds, bodies: lookups(bench) })
  const pageLoad = {
    url: `${ours.origin}/v1.0/reverseip`,
    bodies: tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: LONG_PAGE })),
    connections: PAGE_READERS,
    seconds: options.seconds + 3,
  }
  const withReaders = async () => {
    const reading = runClosedLoad(folder, pageLoad)
    await new Promise((done) => setTimeout(done, 1000))
    const figures = await alone()
    return { ...figures, pages: (await reading).rate }
  }
  const results = await runInterleaved(options.rounds, {
    alone: async () => ({ ...(await alone()), pages: 0 }),
    withReaders,
  })
  raw.lookups = results
  metrics.push(
    metric(
      `/lookup p99 alone, ${RATE.toLocaleString('en')}/s`,
      medianOf(results.alone, ({ p99 }) => p99),
      'ms',
    ),
  )
  metrics.push(
    metric(
      '  p50 beside four clients that read long pages',
      medianOf(results.withReaders, ({ p50 }) => p50),
      'ms',
    ),
  )
  metrics.push(
    metricWithMax(
      '  p99 beside four clients that read long pages',
      medianOf(results.withReaders, ({ p99 }) => p99),
      'ms',
      10,
    ),
  )
  metrics.push(
    metric(
      '  50,000-row pages at the same time',
      medianOf(results.withReaders, ({ pages }) => pages),
      'pages/s',
    ),
  )
}

/** Lookups of names in random order, from all accounts. */
export function lookups({ world, tokens }: ServeBench): { token: string; query: string }[] {
  const random = seededRandom(world.seed, 0, 77)
  return Array.from({ length: QUERY_COUNT }, (_, at) => ({
    token: tokens[at % tokens.length]!,
    query: domainNameAt(world, Math.floor(random() * world.names)),
  }))
}

/** Returns the cursor of the page with a number, by reading all pages before it. */
async function cursorOfPage(url: string, token: string, number: number): Promise<string | null> {
  let next: string | null = null
  for (let page = 1; page < number && (page === 1 || next !== null); page++) {
    const { text: body } = await postJson(url, { token, query: HOT_ADDRESS, limit: SHORT_PAGE, next })
    next = JSON.parse(body).meta.next
  }
  return next
}
