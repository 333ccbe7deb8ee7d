/** The metrics of certificate logs, from the store. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Store } from '../../store/port/store.ts'
import { type LogStatus, readLogStatus } from '../certificate-logs/status.ts'
import { cachedRead } from './cached-read.ts'

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

export function addCertificateLogMetrics(registry: Registry, store: Store): void {
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
