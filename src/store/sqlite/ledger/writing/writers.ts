/** The three ways to the pen: in this thread, through a thread of this process, through the primary of the cluster. */

import cluster, { type Worker as ClusterWorker } from 'node:cluster'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { Instant } from '../../../../values/time.ts'
import { executeAll, type LedgerWriter, ledgerExecutor, serializeFault, withTimestamps } from './calls.ts'
import { type ChannelReply, type ChannelRequest, createRequestChannel } from './channel.ts'

/** What a worker of the cluster and its primary send each other; `ledger` is the path of the file. */
type WorkerRequest = ChannelRequest & { ledger: string }
type WorkerReply = ChannelReply & { ledger: string }

/** Writes synchronously, in this thread. */
export function inlineLedgerWriter(database: DatabaseSync, path: string, now: () => Instant): LedgerWriter {
  const execute = ledgerExecutor(database, path)
  return { send: async (calls) => executeAll(execute, withTimestamps(calls, now)), close: async () => {} }
}

/** Writes in a thread of this process; in the primary of a cluster, for its workers too. */
export function threadLedgerWriter(path: string, now: () => Instant): LedgerWriter {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: path })
  const { request: ask, receive: answer, fail: lose } = createRequestChannel((question) => thread.postMessage(question))
  thread.on('message', (answers: ChannelReply[]) => answers.forEach(answer))
  thread.on('error', ({ message }) => lose(`the ledger ${path} cannot be written: ${message}`))
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  ended.then(() => lose(`the ledger ${path} is closed`))
  const send: LedgerWriter['send'] = (calls) => ask(withTimestamps(calls, now))
  const answerWorker = async (worker: ClusterWorker, message: WorkerRequest | null): Promise<void> => {
    if (message?.ledger !== path) return // workers say other things too
    const { ledger, number, calls } = message
    const replies = await send(calls).catch((error) => calls.map(() => ({ fault: serializeFault(error) })))
    const answer: WorkerReply = { ledger, number, replies }
    if (worker.isConnected()) worker.send(answer, () => {}) // one that is gone by now waits for nothing
  }
  cluster.on('message', answerWorker)
  return {
    send,
    async close() {
      cluster.off('message', answerWorker)
      thread.postMessage(null)
      await ended
    },
  }
}

/** Writes through the primary of the cluster, which must have the same ledger open through its thread. */
export function primaryLedgerWriter(path: string): LedgerWriter {
  const lost = `the primary process is gone, and the ledger ${path} cannot be written without it`
  const {
    request: ask,
    receive: answer,
    fail: lose,
    idle,
  } = createRequestChannel((question) => {
    const request: WorkerRequest = { ledger: path, ...question }
    if (!process.connected) throw new Error(lost)
    process.send!(request, undefined, undefined, (error) => error && lose(lost))
  })
  const hear = (message: WorkerReply | null): void => {
    if (message?.ledger === path) answer(message)
  }
  const part = (): void => lose(lost)
  process.on('message', hear)
  process.once('disconnect', part)
  return {
    send: ask,
    async close() {
      await idle()
      process.off('message', hear)
      process.off('disconnect', part)
      lose(`the ledger ${path} is closed`)
    },
  }
}
