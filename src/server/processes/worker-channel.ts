/** Commands to a worker, and the reports that they lead to. */

import type { Worker } from 'node:cluster'
import { isWorkerReport, type WorkerCommand, type WorkerReport } from './messages.ts'

/** Milliseconds after which a worker that does not end is killed. */
const WORKER_STOP_TIMEOUT_MS = 30_000

/**
 * Gives a command and waits for a report of a kind, or that the worker failed. Null where the worker ended without, or did not
 * report within so many milliseconds.
 */
export async function requestReport(
  worker: Worker,
  command: WorkerCommand,
  kind: WorkerReport['is'],
  milliseconds: number,
): Promise<WorkerReport | null> {
  let hear = (_: unknown): void => {}
  let end = (): void => {}
  const reported = new Promise<WorkerReport | null>((resolve) => {
    hear = (message) => {
      if (isWorkerReport(message) && (message.is === kind || message.is === 'failed')) resolve(message)
    }
    end = () => resolve(null)
  })
  const timer = setTimeout(end, milliseconds)
  worker.on('message', hear).on('exit', end).on('error', end)
  sendToWorker(worker, command)
  try {
    return await reported
  } finally {
    clearTimeout(timer)
    worker.off('message', hear).off('exit', end).off('error', end)
  }
}

/** Gives a command, and waits for a report of a kind or for the worker's end; a worker that takes too long is killed. */
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

/** One that died meanwhile hears nothing: its exit is heard of instead. */
function sendToWorker(worker: Worker, command: WorkerCommand): void {
  worker.send(command, () => {})
}
