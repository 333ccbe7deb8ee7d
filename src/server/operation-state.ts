/** Reads what operators see of the crawl and of the nightly jobs, and keeps it for a moment. */

import { type CrawlStatus, readCrawlStatus } from '../crawler/status/status.ts'
import type { FileStore } from '../jobs/file-store/file-store.ts'
import type { JobRun } from '../store/port/jobs.ts'
import type { Store } from '../store/port/store.ts'
import { readMeasuredTables } from '../store/table-sizes.ts'
import { SECONDS_PER_DAY, utcText } from '../values/time.ts'
import { readReports } from './doctor/reports.ts'

/** The parts of the store that the crawl and the jobs write. */
type OperationStore = Pick<Store, 'schedule' | 'crawlRequests' | 'jobs' | 'now' | 'ledger' | 'maintenance'>

/** Milliseconds for which a reading is used. */
const OPERATION_MS = 5_000
const RUN_DAYS = 7
const MAX_RUNS = 50
const MAX_HELD_DAYS = 50

/** Reads the state. Requests within OPERATION_MS share one reading. A failed one is not kept. */
type ReadOperation = () => Promise<object>

export function cachedOperation(
  store: OperationStore,
  fileStore: Pick<FileStore, 'list'>,
  monotonicMs: () => number,
): ReadOperation {
  let cached: { state: Promise<object>; until: number } | null = null
  return () => {
    if (cached !== null && monotonicMs() < cached.until) return cached.state
    const reading = { state: readOperation(store, fileStore), until: monotonicMs() + OPERATION_MS }
    cached = reading
    reading.state.catch(() => {
      if (cached === reading) cached = null
    })
    return reading.state
  }
}

async function readOperation(store: OperationStore, fileStore: Pick<FileStore, 'list'>): Promise<object> {
  const [crawl, now, locks, daily, releases, sizes] = await Promise.all([
    readCrawlStatus(store),
    store.now(),
    store.jobs.lockHolders(),
    fileStore.list('daily'),
    store.ledger.releaseRequests(),
    readStoreSizes(store.maintenance),
  ])
  const runs = await store.jobs.runs(now - RUN_DAYS * SECONDS_PER_DAY)
  const reports = await readReports(store.maintenance, now)
  const held = daily.filter((file) => file.held !== null).slice(-MAX_HELD_DAYS)
  return {
    now: utcText(now),
    crawl: crawlBody(crawl),
    locks: locks.map(({ name, holder }) => ({ name, holder })),
    held: held.map(({ date, rows, held: reason }) => {
      return { date, rows, reason, release_requested: releases.includes(date) }
    }),
    store: sizes,
    doctor: reports.map(({ machine, at, findings }) => ({ machine, at: utcText(at), findings })),
    runs: runs.slice(-MAX_RUNS).toReversed().map(runBody),
  }
}

async function readStoreSizes(maintenance: OperationStore['maintenance']): Promise<object> {
  const [{ facts, writeAheadLog }, measured] = await Promise.all([maintenance.sizes(), readMeasuredTables(maintenance)])
  const { at = null, tables = [] } = measured ?? {}
  return {
    bytes: facts,
    write_ahead_log_bytes: writeAheadLog,
    measured: at === null ? null : utcText(at),
    tables: tables.map(({ name, bytes }) => ({ name, bytes })),
  }
}

function crawlBody({ count, unsweptRanges, requests, rate, lag, lastDay, crawlers }: CrawlStatus): object {
  return {
    names: count.names,
    never_probed: count.neverProbed,
    due: count.due,
    overdue: count.overdue,
    unswept_ranges: unsweptRanges,
    requests,
    rate,
    lag: lag === null ? null : { p50: lag.p50, p95: lag.p95, p99: lag.p99 },
    last_day: lastDay.map(({ kind, probes, servfail, nxdomain, noWebsite }) => {
      return { kind, probes, servfail, nxdomain, no_website: noWebsite }
    }),
    crawlers: crawlers.map(({ holder, report }) => ({
      holder,
      rate: report?.rate ?? null,
      pause: report?.pause ? { seconds: report.pause.seconds, reason: report.pause.message } : null,
    })),
  }
}

function runBody({ job, date, holder, startedAt, endedAt, rows, error }: JobRun): object {
  return {
    job,
    date,
    holder,
    started: utcText(startedAt),
    ended: utcText(endedAt),
    rows,
    error,
  }
}
