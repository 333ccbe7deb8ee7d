/** The sum of the metrics of the workers, and the metrics about their heartbeats. */

import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import type { WorkerMetricsJson } from '../processes/messages.ts'
import type { WorkerMetrics } from '../processes/worker-pool.ts'

/** The metrics as text. For a worker that does not respond, they include its last counters, without its gauges. */
export async function workerMetricsText(workers: readonly WorkerMetrics[]): Promise<string> {
  const measured = workers.flatMap(({ metrics, isStale }) =>
    metrics === null ? [] : [withoutStaleGauges(metrics, isStale)],
  )
  const texts = [AggregatorRegistry.aggregate(measured).metrics(), heartbeatMetrics(workers).metrics()]
  return (await Promise.all(texts)).join('\n')
}

/** Keeps stale counters, because Prometheus would see a restart without them. Drops stale gauges, which are wrong. */
function withoutStaleGauges(metrics: WorkerMetricsJson, isStale: boolean): WorkerMetricsJson {
  return isStale ? metrics.filter((metric) => (metric as { type?: unknown }).type !== 'gauge') : metrics
}

function heartbeatMetrics(workers: readonly WorkerMetrics[]): Registry {
  const registry = new Registry()
  const labels = { labelNames: ['worker'], registers: [registry] }
  const stale = new Gauge({
    name: 'domaindex_worker_stale',
    help: '1 if the worker with this number does not respond or is being replaced; its figures are old.',
    ...labels,
  })
  const heartbeatAge = new Gauge({
    name: 'domaindex_worker_heartbeat_age_seconds',
    help: 'Time since the last heartbeat of the worker with this number; after 10 seconds it is replaced.',
    ...labels,
  })
  for (const { number, isStale, sinceHeartbeat } of workers) {
    stale.set({ worker: number }, Number(isStale))
    heartbeatAge.set({ worker: number }, Math.round(sinceHeartbeat) / 1_000)
  }
  return registry
}
