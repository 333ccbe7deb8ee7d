/**
 * A process that loads a server over many kept connections, as a JSON file says, and prints what became of the
 * requests.
 */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../measure/measure.ts'
import { processorSeconds } from '../measure/processor-time.ts'
import { keptClient, noOutcomes } from './keep-alive-client.ts'

/**
 * `asks`: requests as bytes, sent in turn. Seconds that `warm` up do not count, nor those after it until every
 * connection has had an answer, `settle` at most. `watched`: processes whose processor time is measured.
 */
export type KeptLoad = {
  port: number
  connections: number
  depth: number
  warm: number
  settle?: number
  seconds: number
  asks: readonly string[]
  watched?: readonly number[]
}
/** Times in milliseconds, of what was answered well. */
export type KeptFigures = {
  statuses: Record<string, number>
  reset: number
  cut: number
  refused: number
  rate: number
  p50: number
  p99: number
  most: number
  /**
   * Shares of a core that this process and those that are watched had, and refusals a second, all while it was
   * measured.
   */
  own: number
  watched: number[]
  refusals: number
  /** Seconds until every connection had an answer, null if not all did; requests refused until then. */
  settled: number | null
  refusedBefore: number
}

const load = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as KeptLoad
const { port, connections, depth, asks } = load
const outcomes = noOutcomes()
let isOver = false
let isMeasured = false
let next = 0
process.on('SIGTERM', () => (isOver = true))
const clients = Array.from({ length: connections }, () =>
  keptClient({
    port,
    depth,
    outcomes,
    ask: () => asks[next++ % asks.length]!,
    isMeasured: () => isMeasured,
    goesOn: () => !isOver,
  }),
)
const all = Promise.all(clients)
const started = performance.now()
let settled: number | null = null
const watch = setInterval(() => {
  if (outcomes.answered === connections) settled ??= (performance.now() - started) / 1_000
}, 10)
await Promise.race([sleep(load.warm * 1_000), all])
while (settled === null && performance.now() - started < (load.settle ?? 0) * 1_000) await sleep(10)
clearInterval(watch)
isMeasured = true
const began = performance.now()
const before = [process.pid, ...(load.watched ?? [])].map(processorSeconds)
const refusedBefore = outcomes.statuses['500'] ?? 0
await Promise.race([sleep(load.seconds * 1_000), all])
const { times } = outcomes
const seconds = (performance.now() - began) / 1_000
const rate = times.length / seconds
const refusals = ((outcomes.statuses['500'] ?? 0) - refusedBefore) / seconds
const after = [process.pid, ...(load.watched ?? [])].map(processorSeconds)
const [own = 0, ...watched] = after.map((used, at) => (used - before[at]!) / seconds)
const sorted = [...times]
isOver = true
await Promise.race([all, sleep(20_000)])
const { statuses, reset, cut, refused } = outcomes
const quantiles = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
const most = sorted.reduce((max, time) => Math.max(max, time), 0)
const rest = { own, watched, refusals, settled, refusedBefore }
const figures: KeptFigures = { statuses, reset, cut, refused, rate, ...quantiles, most, ...rest }
console.log(JSON.stringify(figures))
process.exit(0)
