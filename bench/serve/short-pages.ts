/** The part of bench:serve that requests pages of few rows: what they cost compared with a look-up. */

import { type MeasuredLoad, runClosedLoad } from '../load/closed-load.ts'
import { type Metric, metric, metricWithMax } from '../measure/report.ts'
import { medianOf, runInterleaved } from '../measure/rounds.ts'
import type { ServeBench } from './pages.ts'

const CONNECTIONS = 64
const MAX_ROWS = 10
/** Microseconds of processor time that a page of few rows may take above a look-up. */
const MAX_DIFFERENCE = 10
const ENDPOINTS = ['redirect', 'reverseip', 'dnshistory'] as const

/** The same names for each endpoint: those that share their addresses with few others. */
export async function measureShortPages(
  bench: ServeBench,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const { folder, options, ours, tokens, expected } = bench
  const shared = expected.lookups.filter(({ result: { reverse_ip_count: count } }) => inFewRows(Number(count)))
  const bodies = shared.map(({ query }, at) => ({ token: tokens[at % tokens.length]!, query }))
  const at = (endpoint: string) => (): Promise<MeasuredLoad> =>
    runClosedLoad(folder, {
      url: `${ours.origin}/v1.0/${endpoint}`,
      bodies,
      connections: CONNECTIONS,
      seconds: options.seconds,
      servers: [ours],
    })
  const loads = {
    lookup: at('lookup'),
    redirect: at('redirect'),
    reverseip: at('reverseip'),
    dnshistory: at('dnshistory'),
  }
  const figures = await runInterleaved(options.rounds, loads)
  raw.shortPages = figures
  const cpu = (each: MeasuredLoad[]): number => medianOf(each, ({ cpuMicroseconds }) => cpuMicroseconds)
  metrics.push(metric(`processor time of /lookup, beside pages of ${MAX_ROWS} rows`, cpu(figures.lookup), 'µs'))
  for (const endpoint of ENDPOINTS) {
    const above = cpu(figures[endpoint]) - cpu(figures.lookup)
    metrics.push(metricWithMax(`  /${endpoint}, at most ${MAX_ROWS} rows, above it`, above, 'µs', MAX_DIFFERENCE))
  }
}

function inFewRows(count: number): boolean {
  return count > 0 && count <= MAX_ROWS
}
