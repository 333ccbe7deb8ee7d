/** Sends commands to a worker and waits for its reports. */

import type { Worker } from 'node:cluster'
import { isWorkerReport, type WorkerCommand, type WorkerReport } from './messages.ts'

/**
 * Sends a command and waits for a report of the given kind or `failed`. Returns null if the worker ends or if the given
 * milliseconds pass without a report.
 */
export async function requestReport(
  worker: Worker,
  command: WorkerCommand,
  kind: WorkerReport['is'],
  milliseconds: number,
): Promise<WorkerReport | null> {
  let onMessage = (_: unknown): void => {}
  let onEnd = (): void => {}
  const reported = new Promise<WorkerReport | null>((resolve) => {
    onMessage = (message) => {
      if (isWorkerReport(message) && (message.is === kind || message.is === 'failed')) resolve(message)
    }
    onEnd = () => resolve(null)
  })
  const timer = setTimeout(onEnd, milliseconds)
  worker.on('message', onMessage).on('exit', onEnd).on('error', onEnd)
  sendToWorker(worker, command)
  try {
    return await reported
  } finally {
    clearTimeout(timer)
    worker.off('message', onMessage).off('exit', onEnd).off('error', onEnd)
  }
}

/** Ignores that the worker may have died. Its `exit` event follows. */
export function sendToWorker(worker: Worker, command: WorkerCommand): void {
  worker.send(command, () => {})
}
