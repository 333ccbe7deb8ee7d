/** A process that loads a server over many kept connections, as a JSON file says, and prints what became of the requests. */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { keptClient, noOutcomes } from './kept-client.ts'
import { quantile } from './measure.ts'

/** `asks`: requests as bytes, sent in turn. Seconds that `warm` up do not count. `isOnce`: no connection is made anew. */
export type KeptLoad = {
  port: number
  connections: number
  depth: number
  warm: number
  seconds: number
  asks: readonly string[]
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
await Promise.race([sleep(load.warm * 1_000), all])
isMeasured = true
const began = performance.now()
await Promise.race([sleep(load.seconds * 1_000), all])
const { times } = outcomes
const rate = times.length / ((performance.now() - began) / 1_000)
const sorted = [...times]
isOver = true
await Promise.race([all, sleep(20_000)])
const { statuses, reset, cut, refused } = outcomes
const quantiles = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
const most = sorted.reduce((max, time) => Math.max(max, time), 0)
console.log(JSON.stringify({ statuses, reset, cut, refused, rate, ...quantiles, most } satisfies KeptFigures))
process.exit(0)
