/** A process beside the workers of `serve`: it works as its primary says, and ends when it is told to, or that is gone. */

import type { Logger } from 'pino'
import type { Settings } from '../../config.ts'
import { sendHeartbeats } from './heartbeat.ts'
import { openLog } from './log.ts'

/** What such a process is told: to begin with its order, or to stop. */
type Told<Order> = { do: string; order: Order } | { do: 'stop' }

type Side<Order> = {
  isMine(message: unknown): message is Told<Order>
  /** Until the signal comes. */
  work(order: Order, log: Logger, signal: AbortSignal): Promise<void>
  /** Says in the log why the process ends in the middle. */
  tellFatal(log: Logger, error: unknown): void
}

/** To be called once, by the process's own file. */
export function runBeside<Order extends { settings: Settings }>(side: Side<Order>): void {
  const ended = new AbortController()
  // The primary ends it: a signal to the whole group must not make it end before its time.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.on('disconnect', () => ended.abort())
  sendHeartbeats()
  process.on('message', (message) => {
    if (!side.isMine(message)) return
    if ('order' in message) void runOrder(side, message.order, ended.signal)
    else ended.abort()
  })
}

async function runOrder<Order extends { settings: Settings }>(
  { work, tellFatal }: Side<Order>,
  order: Order,
  signal: AbortSignal,
): Promise<void> {
  const { log, flush } = openLog(order.settings.logLevel)
  const fail = (error: unknown): void => {
    tellFatal(log, error)
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  await work(order, log, signal).catch(fail)
  flush()
  process.exit(0)
}
