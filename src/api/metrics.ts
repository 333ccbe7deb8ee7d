/** What is counted about requests; no label holds an account, a name or an address. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Why a request was refused before its token was looked at, or while it waited. */
export type RejectionReason = 'client_requests' | 'client_failures' | 'wait_timeout'

export class ApiMetrics {
  readonly registry = new Registry()
  readonly #seconds = new Histogram({
    name: 'domaindex_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  })

  readonly #rejections = new Counter({
    name: 'domaindex_requests_rejected_total',
    help: 'Requests answered 500 with Retry-After: too many of a client address, too many failed authentications of it, or more than a second waited.',
    labelNames: ['reason'],
    registers: [this.registry],
  })

  countRejection(reason: RejectionReason): void {
    this.#rejections.inc({ reason })
  }

  /** A request ended; `endpoint` is one of a fixed set. */
  observeRequest(endpoint: string, status: number, seconds: number): void {
    this.#seconds.observe({ endpoint, status }, seconds)
  }

  /** A figure that is read whenever somebody asks for the metrics. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }
}
