/** The metrics of the workers, added up, and which of them do not answer. */

import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import type { WorkerMetricsJson } from '../processes/messages.ts'
import type { WorkerMetrics } from '../processes/worker-pool.ts'

/** As text. Of a worker that does not answer what it counted last stands, without what goes up and down. */
export async function workerMetricsText(workers: readonly WorkerMetrics[]): Promise<string> {
  const measured = workers.flatMap(({ metrics: measured, isStale }) =>
    measured === null ? [] : [withoutStaleGauges(measured, isStale)],
  )
  const texts = [AggregatorRegistry.aggregate(measured).metrics(), heartbeatMetrics(workers).metrics()]
  return (await Promise.all(texts)).join('\n')
}

/** Counters that would vanish and come back look like a restart to Prometheus; a gauge of before is wrong. */
function withoutStaleGauges(measured: WorkerMetricsJson, isStale: boolean): WorkerMetricsJson {
  return isStale ? measured.filter((metric) => (metric as { type?: unknown }).type !== 'gauge') : measured
}

function heartbeatMetrics(workers: readonly WorkerMetrics[]): Registry {
  const registry = new Registry()
  const labels = { labelNames: ['worker'], registers: [registry] }
  const stale = new Gauge({
    name: 'domaindex_worker_stale',
    help: '1 if the worker of this number does not respond or is being replaced; its figures are old.',
    ...labels,
  })
  const silence = new Gauge({
    name: 'domaindex_worker_heartbeat_age_seconds',
    help: 'Time since the last heartbeat of the worker of this number; after 10 seconds it is replaced.',
    ...labels,
  })
  for (const { number: worker, isStale, sinceHeartbeat: milliseconds } of workers) {
    stale.set({ worker }, Number(isStale))
    silence.set({ worker }, Math.round(milliseconds) / 1_000)
  }
  return registry
}
