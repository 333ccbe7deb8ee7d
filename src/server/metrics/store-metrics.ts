/**
 * The metrics that are read from the store when they are asked for: of jobs, certificate logs and the index of
 * /similar.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { FileStore } from '../../jobs/file-store/file-store.ts'
import type { Store } from '../../store/port/store.ts'
import { addDays, SECONDS_PER_DAY, startOfDay } from '../../values/time.ts'
import { type LogStatus, readLogStatus } from '../certificate-logs/status.ts'

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

/** Milliseconds for which the figures are cached. */
const JOB_METRICS_CACHE_MS = 60_000
/** Milliseconds that a request for metrics waits for the figures. */
const JOB_METRICS_TIMEOUT_MS = 700
/** The age, in seconds, up to which runs are read. */
const JOB_METRICS_RUN_SECONDS = 40 * SECONDS_PER_DAY

type JobMetrics = { successes: Record<string, number>; held: number; ended: number | null; now: number }

const NO_JOB_METRICS: JobMetrics = { successes: {}, held: 0, ended: null, now: 0 }

export function addJobMetrics(registry: Registry, store: Store, fileStore: FileStore): void {
  const read = cachedRead(() => readJobMetrics(store, fileStore), JOB_METRICS_CACHE_MS, NO_JOB_METRICS)
  const figures = (): Promise<JobMetrics> =>
    Promise.race([read(), sleep(JOB_METRICS_TIMEOUT_MS, NO_JOB_METRICS, { ref: false })])
  const registers = [registry]
  new Gauge({
    name: 'domaindex_job_last_success_timestamp_seconds',
    help: 'When a job last succeeded.',
    labelNames: ['job'],
    registers,
    async collect() {
      const { successes } = await figures()
      this.reset()
      for (const [job, ended] of Object.entries(successes)) this.set({ job }, ended)
    },
  })
  new Gauge({
    name: 'domaindex_daily_files_held',
    help: 'Daily files that the quality check holds.',
    registers,
    async collect() {
      this.set((await figures()).held)
    },
  })
  new Gauge({
    name: 'domaindex_daily_file_age_seconds',
    help: 'Time since the end of the newest published day; absent if there is none.',
    registers,
    async collect() {
      const { ended, now } = await figures()
      if (ended === null) this.remove()
      else this.set(now - ended)
    },
  })
}

async function readJobMetrics(store: Store, fileStore: FileStore): Promise<JobMetrics> {
  const now = await store.now()
  const successes: JobMetrics['successes'] = {}
  for (const { job, endedAt, error } of await store.jobs.runs(now - JOB_METRICS_RUN_SECONDS))
    if (endedAt !== null && error === null) successes[job] = Math.max(endedAt, successes[job] ?? 0)
  const files = await fileStore.list('daily')
  const newest = files.findLast(({ held }) => held === null)
  const ended = newest === undefined ? null : startOfDay(addDays(newest.date, 1))
  return { successes, held: files.filter(({ held }) => held !== null).length, ended, now }
}

/** The metrics of certificate logs, from the store. */
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

/** The metrics of /similar: the lag and the size of its index. */
export function addSimilarMetrics(registry: Registry, store: Pick<Store, 'similar' | 'now'>): void {
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

/** Returns a function that reads at most once per `milliseconds`. If the read fails, it returns `fallback`. */
function cachedRead<Figures>(
  read: () => Promise<Figures>,
  milliseconds: number,
  fallback: Figures,
): () => Promise<Figures> {
  let readAt = Number.NEGATIVE_INFINITY
  let last: Promise<Figures> | null = null
  return () => {
    if (last === null || performance.now() - readAt > milliseconds) {
      readAt = performance.now()
      last = read().catch(() => fallback)
    }
    return last
  }
}
