/** The metrics of requests. No label contains an account, a name or an address. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Why a request was rejected before its token was checked, or while it waited. */
export type RejectionReason = 'client_requests' | 'client_failures' | 'account_calls' | 'wait_timeout'

export class ApiMetrics {
  readonly registry = new Registry()
  readonly #seconds = new Histogram({
    name: 'domaindex_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response, by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  })

  readonly #rejections = new Counter({
    name: 'domaindex_requests_rejected_total',
    help:
      'Requests rejected with 500 and Retry-After: too many of a client address, too many failed ' +
      'authentications, or waited too long.',
    labelNames: ['reason'],
    registers: [this.registry],
  })

  readonly #batchLines = new Counter({
    name: 'domaindex_batch_lines_total',
    help: 'Answered lines of batches, by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    registers: [this.registry],
  })

  countRejection(reason: RejectionReason): void {
    this.#rejections.inc({ reason })
  }

  /** Counts an answered line of a batch. `endpoint`: `other` if the line names none. */
  countBatchLine(endpoint: string, status: number): void {
    this.#batchLines.inc({ endpoint, status })
  }

  /** Records a finished request. `endpoint` is one of a fixed set. */
  observeRequest(endpoint: string, status: number, seconds: number): void {
    this.#seconds.observe({ endpoint, status }, seconds)
  }

  /** Adds a gauge whose value is read when the metrics are collected. `aggregator`: over the workers. */
  gauge(name: string, help: string, read: () => number, aggregator: 'sum' | 'average' = 'sum'): void {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }
}
