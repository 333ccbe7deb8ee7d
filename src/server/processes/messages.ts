/** The messages between the primary and its workers, crawler, job scheduler and indexer. The ledger has messages of its own. */

import type { PlanLimitTable } from '../../accounts/plan.ts'
import type { Settings } from '../../config/settings.ts'
import type { Server } from '../../probe/dns/resolver.ts'
import type { Heartbeat } from './heartbeat.ts'

/** What a worker must know to serve. */
export type WorkerOrder = { settings: Settings; limits: PlanLimitTable; demo: boolean }

/**
 * From the primary. `takeConnection`: serve the connection that comes with the message; the primary accepted it `waited`
 * milliseconds ago. `stopAccepting`: let every response be the last of its connection. `drain`: no more connections will come;
 * close the idle ones, and exit when none is left. Between the two, workers take the connections that the primary had accepted
 * before it stopped. `reportMetrics`: send the counters. `setPoolReadiness`: whether all workers serve; else none is ready.
 */
export type WorkerCommand =
  | { to: 'worker'; do: 'serve'; order: WorkerOrder }
  | { to: 'worker'; do: 'stopAccepting' | 'drain' | 'reportMetrics' }
  | { to: 'worker'; do: 'takeConnection'; number: number; waited: number }
  | { to: 'worker'; do: 'setPoolReadiness'; isPoolComplete: boolean }

/** All that a worker has counted, as prom-client's registry tells it. */
export type WorkerMetricsJson = object[]

/** What a crawler must know. */
export type CrawlOrder = { settings: Settings; resolver: readonly Server[]; parallel: number }

/** From the primary. `stop`: finish what is in flight, save it, and end. */
export type CrawlCommand = { to: 'crawler'; do: 'run'; order: CrawlOrder } | { to: 'crawler'; do: 'stop' }

/** What a process that builds files at night must know. */
export type JobsOrder = { settings: Settings }

/** From the primary. `stop`: give up what is built, and end. */
export type JobsCommand = { to: 'jobs'; do: 'run'; order: JobsOrder } | { to: 'jobs'; do: 'stop' }

/** What a process that keeps the index must know. */
export type IndexOrder = { settings: Settings }

/** From the primary. `stop`: give up what is written, and end. */
export type IndexCommand = { to: 'indexer'; do: 'run'; order: IndexOrder } | { to: 'indexer'; do: 'stop' }

/**
 * From a worker. `connectionTaken`: it serves the connection that it got. `connectionsClosed`: connections by their numbers.
 * `failed`: it cannot serve; `code` is the system's error code, if there is one.
 */
export type WorkerReport =
  | { to: 'primary'; is: 'ready' | 'stopped' | 'poolReadinessSet' | 'connectionTaken' }
  | { to: 'primary'; is: 'connectionsClosed'; numbers: number[] }
  | { to: 'primary'; is: 'metrics'; metrics: WorkerMetricsJson }
  | Heartbeat
  | { to: 'primary'; is: 'failed'; message: string; code: string | null }

export function isWorkerCommand(message: unknown): message is WorkerCommand {
  return (message as Partial<WorkerCommand> | null)?.to === 'worker'
}

export function isWorkerReport(message: unknown): message is WorkerReport {
  return (message as Partial<WorkerReport> | null)?.to === 'primary'
}

export function isCrawlCommand(message: unknown): message is CrawlCommand {
  return (message as Partial<CrawlCommand> | null)?.to === 'crawler'
}

export function isJobsCommand(message: unknown): message is JobsCommand {
  return (message as Partial<JobsCommand> | null)?.to === 'jobs'
}

export function isIndexCommand(message: unknown): message is IndexCommand {
  return (message as Partial<IndexCommand> | null)?.to === 'indexer'
}
