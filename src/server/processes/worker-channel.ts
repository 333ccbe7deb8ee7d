/** Sends commands to a worker and waits for its reports. */

import type { Worker } from 'node:cluster'
import { isWorkerReport, type WorkerCommand, type WorkerReport } from './messages.ts'

/** Milliseconds after which a worker that does not stop is killed. */
const WORKER_STOP_TIMEOUT_MS = 30_000

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

/** Sends a command and waits for a report of the kind or for the worker's exit. On a timeout, kills the worker. */
export async function commandWorker(
  worker: Worker,
  command: WorkerCommand,
  kind: WorkerReport['is'] | 'ended',
): Promise<void> {
  if (worker.isDead()) return
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  if (kind !== 'ended') {
    if ((await requestReport(worker, command, kind, WORKER_STOP_TIMEOUT_MS)) === null) worker.process.kill('SIGKILL')
    return
  }
  sendToWorker(worker, command)
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

/** Ignores that the worker may have died. Its `exit` event follows. */
function sendToWorker(worker: Worker, command: WorkerCommand): void {
  worker.send(command, () => {})
}
