/** What the primary and its workers, its crawler, its night and its indexer, tell each other; beside these the ledger's and the metrics' own messages pass. */

import type { PlanLimitTable } from '../../accounts/plan.ts'
import type { Settings } from '../../config/settings.ts'
import type { Server } from '../../probe/dns/resolver.ts'
import type { Heartbeat } from './heartbeat.ts'

/** What a worker must know to serve. */
export type WorkerOrder = { settings: Settings; limits: PlanLimitTable; demo: boolean }

/**
 * From the primary. `take`: serve the connection that comes with it, which was accepted `waited` milliseconds ago. `stop`: let
 * every answer be the last of its connection. `drain`: no more connections will come; close those that are idle, and end when
 * none is left. Between them the workers take the connections that the primary had accepted before it stopped. `measure`: tell what was counted. `heed`: whether all workers serve, without which none is ready.
 */
export type WorkerCommand =
  | { to: 'worker'; do: 'serve'; order: WorkerOrder }
  | { to: 'worker'; do: 'stop' | 'drain' | 'measure' }
  | { to: 'worker'; do: 'take'; number: number; waited: number }
  | { to: 'worker'; do: 'heed'; isPoolComplete: boolean }

/** All that a worker has counted, as prom-client's registry tells it. */
export type WorkerMetricsJson = object[]

/** What a crawler must know. */
export type CrawlOrder = { settings: Settings; resolver: readonly Server[]; parallel: number }

/** From the primary. `stop`: finish what is in flight, save it, and end. */
export type CrawlCommand = { to: 'crawler'; do: 'crawl'; order: CrawlOrder } | { to: 'crawler'; do: 'stop' }

/** What a process that builds files at night must know. */
export type JobsOrder = { settings: Settings }

/** From the primary. `stop`: give up what is built, and end. */
export type JobsCommand = { to: 'night'; do: 'watch'; order: JobsOrder } | { to: 'night'; do: 'stop' }

/** What a process that keeps the index must know. */
export type IndexOrder = { settings: Settings }

/** From the primary. `stop`: give up what is written, and end. */
export type IndexCommand = { to: 'indexer'; do: 'keep'; order: IndexOrder } | { to: 'indexer'; do: 'stop' }

/** From a worker. `taken`: it serves the connection that it was handed. `closed`: connections by their numbers. `failed`: it cannot serve; `code` is that of the system's error, where it is one. */
export type WorkerReport =
  | { to: 'primary'; is: 'listening' | 'stopped' | 'heeded' | 'taken' }
  | { to: 'primary'; is: 'closed'; numbers: number[] }
  | { to: 'primary'; is: 'measured'; measured: WorkerMetricsJson }
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
  return (message as Partial<JobsCommand> | null)?.to === 'night'
}

export function isIndexCommand(message: unknown): message is IndexCommand {
  return (message as Partial<IndexCommand> | null)?.to === 'indexer'
}
