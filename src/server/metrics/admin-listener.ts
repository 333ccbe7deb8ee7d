/**
 * The admin listener: metrics of all workers and of the store, which it reads at most once at a time. It needs no
 * token, so its default is loopback.
 */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { ListenAddress } from '../../config/parse.ts'
import type { FileStore } from '../../jobs/file-store/file-store.ts'
import type { Store } from '../../store/port/store.ts'
import { type LogStatus, readLogStatus } from '../certificate-logs/status.ts'
import type { Acceptor } from '../connections/acceptor.ts'
import type { WorkerMetricsJson } from '../processes/messages.ts'
import type { WorkerMetrics, WorkerPool } from '../processes/worker-pool.ts'
import { cachedRead } from './cached-read.ts'
import { addDeliveryMetrics } from './delivery-metrics.ts'
import { addJobMetrics } from './job-metrics.ts'

/** Milliseconds for which the figures are cached, so that all metrics of one request are of the same moment. */
const SIMILAR_METRICS_CACHE_MS = 500

/** Milliseconds that a request for metrics waits for the store. */
const SIMILAR_METRICS_TIMEOUT_MS = 700

type SimilarMetrics = { lag: number | null; documents: number | null; segments: number | null }

const NO_SIMILAR_METRICS: SimilarMetrics = { lag: null, documents: null, segments: null }

/** Milliseconds for which the figures are cached, and that a request for metrics waits for them. */
const LOG_METRICS_CACHE_MS = 15_000
const LOG_METRICS_TIMEOUT_MS = 700

/** By name, without its prefix: the help text, and the value of a log; null for none. */
const LOG_METRICS: Readonly<Record<string, [help: string, figureOf: (status: LogStatus) => number | null]>> = {
  lag_entries: [
    'Entries of a certificate log that were not read yet.',
    ({ position, size }) => (position === null || size === null ? null : size - position),
  ],
  lag_seconds: ['Time since the last entry that was read, or since the head if all were.', ({ lag }) => lag],
  entries_total: ['Entries of a certificate log that were read.', ({ entries }) => entries],
  new_names_total: ['Names that a certificate log added to the store.', ({ newNames }) => newNames],
  left_out: [
    '1 if a certificate log is left out, because it contradicts itself.',
    ({ problem }) => Number(problem !== null),
  ],
  last_success_timestamp_seconds: ['When a certificate log was last read.', ({ lastSuccess }) => lastSuccess],
}

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
  addDeliveryMetrics(registry, store)
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

/** The metrics of certificate logs, from the store. */
function addCertificateLogMetrics(registry: Registry, store: Store): void {
  const read = cachedRead(() => readLogStatus(store), LOG_METRICS_CACHE_MS, [])
  const logs = (): Promise<LogStatus[]> => Promise.race([read(), sleep(LOG_METRICS_TIMEOUT_MS, [], { ref: false })])
  for (const [name, [help, figureOf]] of Object.entries(LOG_METRICS)) {
    const metric = {
      name: `domaindex_certificate_log_${name}`,
      help,
      labelNames: ['log'],
      registers: [registry],
      async collect(this: Gauge | Counter): Promise<void> {
        const statuses = await logs()
        this.reset()
        for (const status of statuses) {
          const figure = figureOf(status)
          if (figure !== null) this.inc({ log: status.url }, figure)
        }
      },
    }
    if (name.endsWith('_total')) new Counter(metric)
    else new Gauge(metric)
  }
}

/** The metrics of /similar: the lag and the size of its index. */
function addSimilarMetrics(registry: Registry, store: Pick<Store, 'similar' | 'now'>): void {
  const withTimeout = (): Promise<SimilarMetrics> =>
    Promise.race([readSimilarMetrics(store), sleep(SIMILAR_METRICS_TIMEOUT_MS, NO_SIMILAR_METRICS, { ref: false })])
  const figures = cachedRead(withTimeout, SIMILAR_METRICS_CACHE_MS, NO_SIMILAR_METRICS)
  const add = (name: string, help: string, key: keyof SimilarMetrics): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = (await figures())[key]
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  }
  add(
    'domaindex_similar_lag_seconds',
    'How far the /similar index is behind the observations; absent until the index is complete for the first time.',
    'lag',
  )
  add(
    'domaindex_similar_documents',
    'Distinct start-page texts in the /similar index, by their term vectors.',
    'documents',
  )
  add('domaindex_similar_segments', 'Segments of the /similar index.', 'segments')
}

async function readSimilarMetrics({ similar, now }: Pick<Store, 'similar' | 'now'>): Promise<SimilarMetrics> {
  const [indexedUntil, segments] = [await similar.indexedUntil(), await similar.segments()]
  return {
    lag: indexedUntil === null ? null : Math.max(0, (await now()) - indexedUntil),
    documents: segments.reduce((sum, { documents }) => sum + documents, 0),
    segments: segments.length,
  }
}
