/**
 * `npm run bench:overload`: measures responses and latencies when 5,000 keep-alive connections send more than one
 * worker can answer, and what a bare Fastify keeps of its rate.
 */

import { rmSync } from 'node:fs'
import { postRequest, runKeepAliveLoad } from './load/keep-alive.ts'
import type { KeepAliveResult } from './load/keep-alive-load.ts'
import { type MeasuredServer, startDomaindex, startYardstick } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, stopProcess } from './measure/process.ts'
import { descendantsWithCommand } from './measure/processor-time.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { createImportedWorld } from './world/imported-world.ts'
import { domainNameAt } from './world/world.ts'

const MANY_CONNECTIONS = 5_000
const MANY_LABEL = `${MANY_CONNECTIONS.toLocaleString('en')} connections`
/** As many bytes as the body of a /lookup has. */
const FIXED_BYTES = '381'

const options = readOptions(20_000, 10)
const folder = makeTemporaryFolder()
const { world, store, tokens } = await createImportedWorld(folder, options.names, 200)
const server = await startDomaindex(store)
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}
try {
  for (const [endpoint, requests] of Object.entries({
    '/lookup': lookupRequests(),
    '/openapi.json': [openapiRequest()],
  })) {
    const workers = [workerOf(server)]
    const peak = await runLoad(server, requests, 64, workers)
    const many = await runLoad(server, requests, MANY_CONNECTIONS, workers)
    raw[endpoint] = { peak, many }
    const rejected = many.statuses['500'] ?? 0
    metrics.push(
      metric(
        `${endpoint}, ${MANY_LABEL}, until every connection had a response`,
        many.settledSeconds ?? Number.NaN,
        's',
      ),
    )
    metrics.push(metric('  rejected until then', many.rejectedBefore, ''))
    metrics.push(metric(`${endpoint}, 64 connections`, peak.rate, 'responses/s'))
    metrics.push(metric('  p99', peak.p99, 'ms'))
    metrics.push(
      metricWithMin(`${endpoint}, ${MANY_LABEL}, responses per second to those of 64`, many.rate / peak.rate, '×', 0.8),
    )
    metrics.push(metric('  p50', many.p50, 'ms'))
    metrics.push(metricWithMax('  p99 of responses below 400', many.p99, 'ms', 2_000))
    metrics.push(metric('  longest', many.max, 'ms'))
    metrics.push(metric('  rejected with 500 and Retry-After', rejected, ''))
    metrics.push(metric('  rejected per second', many.rejectedPerSecond, ''))
    for (const [label, result] of Object.entries({
      '64 connections': peak,
      [MANY_LABEL]: many,
    })) {
      const [primary = 0, worker = 0] = result.watchedCpu
      metrics.push(metric(`  processor time of the worker, ${label}`, (1e6 * worker) / result.rate, 'µs per response'))
      metrics.push(metric(`  core of the load, ${label}`, 100 * result.ownCpu, '%'))
      metrics.push(metric(`  core of the primary, ${label}`, 100 * primary, '%'))
      metrics.push(metric(`  core of the worker, ${label}`, 100 * worker, '%'))
    }
    metrics.push(metricWithMax('  reset or unanswered', many.reset + many.unanswered, '', 0))
  }
  metrics.push(await measureBareFastify())
  report(
    'overload',
    metrics,
    [`one worker on the first core, load on the second; ${options.seconds} s after every connection had a response`],
    raw,
  )
} finally {
  await stopProcess(server.running)
  rmSync(folder, { recursive: true })
}

/** The share of its rate that a server keeps whose response is fixed: what a server on Node can keep. */
async function measureBareFastify(): Promise<Metric> {
  const fixed = await startYardstick('fixed', { FIXED_BYTES })
  try {
    const requests = lookupRequests()
    const peak = await runLoad(fixed, requests, 64)
    const many = await runLoad(fixed, requests, MANY_CONNECTIONS)
    raw.fixed = { peak, many }
    return metric(`bare Fastify, ${MANY_LABEL}, responses per second to those of 64`, many.rate / peak.rate, '×')
  } finally {
    await stopProcess(fixed.running)
  }
}

function workerOf({ running }: MeasuredServer): number {
  const [worker, ...others] = descendantsWithCommand(running.child.pid!, 'processes/worker.')
  if (worker === undefined || others.length > 0) throw new Error('the server does not have one worker')
  return worker
}

async function runLoad(
  { origin, running }: MeasuredServer,
  requests: readonly string[],
  connections: number,
  workers: readonly number[] = [],
): Promise<KeepAliveResult> {
  return runKeepAliveLoad(folder, {
    port: Number(new URL(origin).port),
    connections,
    depth: 1,
    warmUpSeconds: 5,
    settleSeconds: 30,
    seconds: options.seconds,
    requests,
    watchedPids: [running.child.pid!, ...workers],
  })
}

function lookupRequests(): string[] {
  return tokens.map((token, index) => postRequest('/v1.0/lookup', { token, query: domainNameAt(world, index) }))
}

function openapiRequest(): string {
  return 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n'
}
