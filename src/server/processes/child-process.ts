/** A process beside the workers of `serve`: it works as its primary says, and ends when it is told to, or that is gone. */

import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { openLog } from '../log.ts'
import { sendHeartbeats } from './heartbeat.ts'

/** What such a process is told: to begin with its order, or to stop. */
type ChildMessage<Order> = { do: string; order: Order } | { do: 'stop' }

type ChildWork<Order> = {
  isOwnMessage(message: unknown): message is ChildMessage<Order>
  /** Until the signal comes. */
  run(order: Order, log: Logger, signal: AbortSignal): Promise<void>
  /** Says in the log why the process ends in the middle. */
  logFatal(log: Logger, error: unknown): void
}

/** To be called once, by the process's own file. */
export function runChildProcess<Order extends { settings: Settings }>(work: ChildWork<Order>): void {
  const ended = new AbortController()
  // The primary ends it: a signal to the whole group must not make it end before its time.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.on('disconnect', () => ended.abort())
  sendHeartbeats()
  process.on('message', (message) => {
    if (!work.isOwnMessage(message)) return
    if ('order' in message) void runChildWork(work, message.order, ended.signal)
    else ended.abort()
  })
}

async function runChildWork<Order extends { settings: Settings }>(
  { run: work, logFatal }: ChildWork<Order>,
  order: Order,
  signal: AbortSignal,
): Promise<void> {
  const { log, flush } = openLog(order.settings.logLevel)
  const fail = (error: unknown): void => {
    logFatal(log, error)
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  await work(order, log, signal).catch(fail)
  flush()
  process.exit(0)
}
