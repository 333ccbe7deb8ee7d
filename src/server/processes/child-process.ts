/** Runs a child process of `serve`. It ends on a command of the primary, or if the primary is gone. */

import type { Logger } from 'pino'
import { CommandFault } from '../../config/command-fault.ts'
import { userMessageOf } from '../../store/engines.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { openLog } from '../log.ts'
import { sendHeartbeats } from './heartbeat.ts'
import { type ChildOrder, isChildCommand } from './messages.ts'

type ChildWork<Order> = {
  /** What the log calls it. */
  name: string
  /** Works until the signal is aborted. */
  run(order: Order, log: Logger, signal: AbortSignal): Promise<void>
  /** Whether the log has the stack of every error that ends the process, not only of unexpected ones. */
  logsEveryStack?: true
}

/** Runs the work in this process. The main file of a child process calls it once. */
export function runChildProcess<Order extends ChildOrder = ChildOrder>(work: ChildWork<Order>): void {
  const ended = new AbortController()
  // Only the primary stops this process. A signal to the whole process group must not.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.on('disconnect', () => ended.abort())
  sendHeartbeats()
  process.on('message', (message) => {
    if (!isChildCommand<Order>(message)) return
    if (message.do === 'run') void runChildWork(work, message.order, ended.signal)
    else ended.abort()
  })
}

async function runChildWork<Order extends ChildOrder>(
  { name, run, logsEveryStack }: ChildWork<Order>,
  order: Order,
  signal: AbortSignal,
): Promise<void> {
  const { log, end } = openLog(order.settings.logLevel)
  const fail = (error: unknown): void => {
    const message = logsEveryStack ? null : plainMessageOf(error)
    if (message === null) log.fatal({ err: error }, `${name} failed`)
    else log.fatal(`${name} failed: ${message}`)
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  await run(order, log, signal).catch(fail)
  await end()
  process.exit(0)
}

/** The message of an error that the operator can fix; null for any other. */
export function plainMessageOf(error: unknown): string | null {
  return error instanceof CommandFault || error instanceof StoreFault ? error.message : userMessageOf(error)
}
