/** The messages between the primary and its workers and child processes, except those of the ledger. */

import type { PlanLimitTable } from '../../accounts/plan.ts'
import type { Settings } from '../../config/settings.ts'
import type { DnsServer } from '../../probe/dns/server.ts'
import type { Heartbeat } from './heartbeat.ts'

/** The settings with which a worker starts. `pageFolder`: the bundle of the web page; null: there is no page. */
export type WorkerOrder = {
  settings: Settings
  limits: PlanLimitTable
  demo: boolean
  /** Names to try, for the start page. */
  examples: readonly string[]
  pageFolder: string | null
}

/**
 * Commands of the primary.
 * `takeConnection`: serve the connection in the message. The primary accepted it `waited` milliseconds ago.
 * `stopAccepting`: make every response the last of its connection. The worker still takes the connections that the
 * primary accepted before it stopped.
 * `drain`: expect no more connections, close the idle ones, and exit when none is left.
 * `reportMetrics`: send the metrics.
 * `setPoolReadiness`: whether all workers serve. If not, no worker is ready.
 * `settleQuota`: settle the charged units with the ledger. `poolSettled`: all workers have, or did not respond in time.
 */
export type WorkerCommand =
  | { to: 'worker'; do: 'serve'; order: WorkerOrder }
  | { to: 'worker'; do: 'stopAccepting' | 'drain' | 'reportMetrics' | 'settleQuota' | 'poolSettled' }
  | { to: 'worker'; do: 'takeConnection'; number: number; waited: number }
  | { to: 'worker'; do: 'setPoolReadiness'; isPoolComplete: boolean }

/** The metrics of a worker in the JSON format of prom-client. */
export type WorkerMetricsJson = object[]

/** The settings with which the crawler starts. */
export type CrawlOrder = { settings: Settings; resolver: readonly DnsServer[]; parallel: number }

/** What a child process starts with: the settings, and its own options. */
export type ChildOrder = { settings: Settings }

/**
 * What the jobs process starts with. `resolvers`: those of the crawler of this server, for `doctor`; null if it runs no
 * crawler.
 */
export type JobsOrder = { settings: Settings; resolvers: readonly DnsServer[] | null }

/** What the deliveries process starts with. `demo`: its store is that of a demo. */
export type DeliveriesOrder = { settings: Settings; demo: boolean }

/** Commands of the primary to a child process. `stop`: end the work in order, and exit. */
export type ChildCommand<Order extends ChildOrder> =
  | { to: 'child'; do: 'run'; order: Order }
  | { to: 'child'; do: 'stop' }

/**
 * Reports of a worker. `connectionTaken`: the worker has the connection that the primary sent. `connectionsClosed`: the
 * numbers of closed connections. `quotaSettled`: the answer to `settleQuota`. `settlePool`: settle all workers.
 * `failed`: the worker cannot serve. `code` is the system error code, if there is one.
 */
export type WorkerReport =
  | { to: 'primary'; is: 'ready' | 'stopped' | 'poolReadinessSet' | 'connectionTaken' | 'quotaSettled' | 'settlePool' }
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

export function isChildCommand<Order extends ChildOrder>(message: unknown): message is ChildCommand<Order> {
  return (message as Partial<ChildCommand<Order>> | null)?.to === 'child'
}
