/** The metrics of jobs and daily files. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { FileStore } from '../../jobs/file-store/file-store.ts'
import type { Store } from '../../store/port/store.ts'
import { addDays, type Instant, SECONDS_PER_DAY, startOfDay } from '../../values/time.ts'
import { cachedRead } from './cached-read.ts'

/** Milliseconds for which the figures are cached. */
const JOB_METRICS_CACHE_MS = 60_000

/** Milliseconds that a request for metrics waits for the figures. */
const JOB_METRICS_TIMEOUT_MS = 700

/** The age, in seconds, up to which runs are read. */
const JOB_METRICS_RUN_SECONDS = 40 * SECONDS_PER_DAY

/**
 * `successes`: when each job last succeeded. `held`: the daily files that are held. `ended`: the end of the newest
 * published day; null if there is none. All times by the store's clock.
 */
export type JobMetrics = { successes: Record<string, Instant>; held: number; ended: Instant | null; now: Instant }

const NO_JOB_METRICS: JobMetrics = { successes: {}, held: 0, ended: null, now: 0 }

/** The metrics of jobs, which are read from the store when they are asked for. */
export function addJobMetrics(registry: Registry, store: Store, fileStore: Pick<FileStore, 'list'>): void {
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

/** Reads when each job last succeeded, and the state of the daily files. */
export async function readJobMetrics(
  store: Pick<Store, 'jobs' | 'now'>,
  fileStore: Pick<FileStore, 'list'>,
): Promise<JobMetrics> {
  const now = await store.now()
  const successes: JobMetrics['successes'] = {}
  for (const { job, endedAt, error } of await store.jobs.runs(now - JOB_METRICS_RUN_SECONDS))
    if (endedAt !== null && error === null) successes[job] = Math.max(endedAt, successes[job] ?? 0)
  const files = await fileStore.list('daily')
  const newest = files.findLast(({ held }) => held === null)
  const ended = newest === undefined ? null : startOfDay(addDays(newest.date, 1))
  return { successes, held: files.filter(({ held }) => held !== null).length, ended, now }
}
