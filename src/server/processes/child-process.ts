/** Runs a child process of `serve`. It ends on a command of the primary, or if the primary is gone. */

import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { openLog } from '../log.ts'
import { sendHeartbeats } from './heartbeat.ts'

/** A command of the primary: start with an order, or stop. */
type ChildMessage<Order> = { do: string; order: Order } | { do: 'stop' }

type ChildWork<Order> = {
  isOwnMessage(message: unknown): message is ChildMessage<Order>
  /** Works until the signal is aborted. */
  run(order: Order, log: Logger, signal: AbortSignal): Promise<void>
  /** Logs the error that ends the process. */
  logFatal(log: Logger, error: unknown): void
}

/** Runs the work in this process. The main file of a child process calls it once. */
export function runChildProcess<Order extends { settings: Settings }>(work: ChildWork<Order>): void {
  const ended = new AbortController()
  // Only the primary stops this process. A signal to the whole process group must not.
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
  { run, logFatal }: ChildWork<Order>,
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
  await run(order, log, signal).catch(fail)
  flush()
  process.exit(0)
}
