/**
 * A process that loads a server over many keep-alive connections and prints the outcomes. Argument: a JSON file with
 * the load.
 */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../measure/processor-time.ts'
import { quantile } from '../measure/rounds.ts'
import { emptyOutcomes, runKeepAliveClient } from './keep-alive-client.ts'

/**
 * `requests`: the bytes of the requests, sent in turn. Neither the first `warmUpSeconds` count, nor up to
 * `settleSeconds` more until every connection had a response. `watchedPids`: processes whose processor time is
 * measured.
 */
export type KeepAliveLoad = {
  port: number
  connections: number
  depth: number
  warmUpSeconds: number
  settleSeconds?: number
  seconds: number
  requests: readonly string[]
  watchedPids?: readonly number[]
}
/** Times in milliseconds, of responses with a status below 400. */
export type KeepAliveResult = {
  statuses: Record<string, number>
  reset: number
  unanswered: number
  connectionsRefused: number
  rate: number
  p50: number
  p99: number
  max: number
  /**
   * Shares of a core that this process and the watched processes used, and rejected requests per second, all while
   * measuring.
   */
  ownCpu: number
  watchedCpu: number[]
  rejectedPerSecond: number
  /**
   * Seconds until every connection had a response, or null if one had none. `rejectedBefore`: requests rejected until
   * then.
   */
  settledSeconds: number | null
  rejectedBefore: number
}

const load = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as KeepAliveLoad
const { port, connections, depth, requests } = load
const outcomes = emptyOutcomes()
let isOver = false
let isMeasured = false
let next = 0
process.on('SIGTERM', () => (isOver = true))
const clients = Array.from({ length: connections }, () =>
  runKeepAliveClient({
    port,
    depth,
    outcomes,
    nextRequest: () => requests[next++ % requests.length]!,
    isMeasured: () => isMeasured,
    shouldContinue: () => !isOver,
  }),
)
const allClients = Promise.all(clients)
const startedAt = performance.now()
let settledSeconds: number | null = null
const watch = setInterval(() => {
  if (outcomes.answered === connections) settledSeconds ??= (performance.now() - startedAt) / 1_000
}, 10)
await Promise.race([sleep(load.warmUpSeconds * 1_000), allClients])
while (settledSeconds === null && performance.now() - startedAt < (load.settleSeconds ?? 0) * 1_000) await sleep(10)
clearInterval(watch)
isMeasured = true
const measuredFrom = performance.now()
const cpuBefore = [process.pid, ...(load.watchedPids ?? [])].map(cpuSecondsOf)
const rejectedBefore = outcomes.statuses['500'] ?? 0
await Promise.race([sleep(load.seconds * 1_000), allClients])
const { times } = outcomes
const seconds = (performance.now() - measuredFrom) / 1_000
const rate = times.length / seconds
const rejectedPerSecond = ((outcomes.statuses['500'] ?? 0) - rejectedBefore) / seconds
const cpuAfter = [process.pid, ...(load.watchedPids ?? [])].map(cpuSecondsOf)
const [ownCpu = 0, ...watchedCpu] = cpuAfter.map((used, at) => (used - cpuBefore[at]!) / seconds)
const sorted = [...times]
isOver = true
await Promise.race([allClients, sleep(20_000)])
const { statuses, reset, unanswered, connectionsRefused } = outcomes
const quantiles = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
const max = sorted.reduce((max, time) => Math.max(max, time), 0)
const rest = { ownCpu, watchedCpu, rejectedPerSecond, settledSeconds, rejectedBefore }
const result: KeepAliveResult = { statuses, reset, unanswered, connectionsRefused, rate, ...quantiles, max, ...rest }
console.log(JSON.stringify(result))
process.exit(0)
