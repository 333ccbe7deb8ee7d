/** Commands to a worker, and the reports that they lead to. */

import type { Worker } from 'node:cluster'
import { type Command, isReport, type Report } from './messages.ts'

/** Milliseconds after which a worker that does not end is killed. */
const PATIENCE = 30_000

/**
 * Gives a command and waits for a report of a kind, or that the worker failed. Null where the worker ended without, or did not
 * report within so many milliseconds.
 */
export async function ask(
  worker: Worker,
  command: Command,
  kind: Report['is'],
  milliseconds: number,
): Promise<Report | null> {
  let hear = (_: unknown): void => {}
  let end = (): void => {}
  const reported = new Promise<Report | null>((resolve) => {
    hear = (message) => {
      if (isReport(message) && (message.is === kind || message.is === 'failed')) resolve(message)
    }
    end = () => resolve(null)
  })
  const timer = setTimeout(end, milliseconds)
  worker.on('message', hear).on('exit', end).on('error', end)
  send(worker, command)
  try {
    return await reported
  } finally {
    clearTimeout(timer)
    worker.off('message', hear).off('exit', end).off('error', end)
  }
}

/** Gives a command, and waits for a report of a kind or for the worker's end; a worker that takes too long is killed. */
export async function order(worker: Worker, command: Command, kind: Report['is'] | 'ended'): Promise<void> {
  if (worker.isDead()) return
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  if (kind !== 'ended') {
    if ((await ask(worker, command, kind, PATIENCE)) === null) worker.process.kill('SIGKILL')
    return
  }
  send(worker, command)
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), PATIENCE)
  await ended
  clearTimeout(timer)
}

/** One that died meanwhile hears nothing: its exit is heard of instead. */
function send(worker: Worker, command: Command): void {
  worker.send(command, () => {})
}
