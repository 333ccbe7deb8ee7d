/** The admin listener: metrics of all workers and of the store. It needs no token, so its default is loopback. */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { ListenAddress } from '../../config/parse.ts'
import type { FileStore } from '../../jobs/file-store/file-store.ts'
import type { Store } from '../../store/port/store.ts'
import type { Acceptor } from '../connections/acceptor.ts'
import type { WorkerMetricsJson } from '../processes/messages.ts'
import type { WorkerMetrics, WorkerPool } from '../processes/worker-pool.ts'
import { addCertificateLogMetrics, addJobMetrics, addSimilarMetrics } from './store-metrics.ts'

/** Milliseconds that a request for metrics waits for the store. Including the workers, it takes less than a second. */
const STORE_METRICS_TIMEOUT_MS = 700

/** Reads all metrics as text. */
type ReadMetrics = () => Promise<string>

/** A server that listens on `port`. */
export type ListeningServer = { server: Server; port: number }

/** The timeouts of an admin listener, in milliseconds. */
const ADMIN_HTTP_OPTIONS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
}
/** The maximum number of connections of an admin listener. Further ones are closed. */
const MAX_ADMIN_CONNECTIONS = 100

/** Creates an HTTP server with timeouts and a limit of connections. */
export function createAdminServer(answer: RequestListener): Server {
  const server = createServer(ADMIN_HTTP_OPTIONS, answer)
  server.maxConnections = MAX_ADMIN_CONNECTIONS
  return server
}

export function openAdminListener(address: ListenAddress, read: ReadMetrics): Promise<ListeningServer> {
  const server = createAdminServer((request, response) => {
    if (request.url !== '/metrics') response.writeHead(404, { 'Content-Type': 'text/plain' }).end('/metrics\n')
    else
      read().then(
        (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
        ({ message }: Error) => response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${message}\n`),
      )
  })
  return listen(server, address)
}

/** Resolves when the server listens. Throws the system error if it cannot. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<ListeningServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** The sum of the metrics of the workers, followed by the metrics of the installation. */
export function serverMetrics(
  store: Store,
  fileStore: FileStore,
  workerPool: Pick<WorkerPool, 'size' | 'collectMetrics'>,
  acceptor: Pick<Acceptor, 'waitingCount' | 'rejected'>,
): ReadMetrics {
  const registry = new Registry()
  addConnectionMetrics(registry, acceptor)
  addJobMetrics(registry, store, fileStore)
  addSimilarMetrics(registry, store)
  addCertificateLogMetrics(registry, store)
  new Gauge({
    name: 'domaindex_workers',
    help: 'Processes that answer requests.',
    registers: [registry],
    collect() {
      this.set(workerPool.size)
    },
  })
  new Gauge({
    name: 'domaindex_store_bytes',
    help: 'Bytes of the facts on disk, and of the write-ahead log.',
    labelNames: ['file'],
    registers: [registry],
    async collect() {
      const sizes = await Promise.race([
        store.maintenance.sizes(),
        sleep(STORE_METRICS_TIMEOUT_MS, null, { ref: false }),
      ]).catch(() => null)
      this.reset() // if the store is unavailable, the other metrics remain
      if (sizes === null) return
      this.set({ file: 'facts' }, sizes.facts)
      this.set({ file: 'wal' }, sizes.writeAheadLog)
    },
  })
  return async () => {
    const texts = await Promise.all([workerPool.collectMetrics().then(workerMetricsText), registry.metrics()])
    return texts.join('\n')
  }
}

function addConnectionMetrics(registry: Registry, acceptor: Pick<Acceptor, 'waitingCount' | 'rejected'>): void {
  new Gauge({
    name: 'domaindex_connections_waiting',
    help: 'Accepted connections that no worker has taken yet.',
    registers: [registry],
    collect() {
      this.set(acceptor.waitingCount)
    },
  })
  new Counter({
    name: 'domaindex_connections_rejected_total',
    help: 'Rejected connections: too many in total, too many of a client address, or no free worker in time.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(acceptor.rejected)) this.inc({ reason }, count)
    },
  })
}

/** The metrics as text. For a worker that does not respond, they include its last counters, without its gauges. */
async function workerMetricsText(workers: readonly WorkerMetrics[]): Promise<string> {
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
