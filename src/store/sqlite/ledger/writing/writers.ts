/** The three ledger writers: in this thread, in a thread of this process, or through the primary of the cluster. */

import cluster, { type Worker as ClusterWorker } from 'node:cluster'
import type { DatabaseSync } from 'node:sqlite'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Instant } from '../../../../values/time.ts'
import { serializeFault } from '../../database/errors.ts'
import { executeAll, type LedgerCall, type LedgerWriter, ledgerExecutor, withTimestamps } from './calls.ts'
import { type ChannelReply, createRequestChannel } from './channel.ts'

/** The messages between a cluster worker and its primary. `ledger`: path of the file; `calls`: see encodeCalls. */
type WorkerRequest = { ledger: string; number: number; calls: string }
type WorkerReply = ChannelReply & { ledger: string }

/** Writes synchronously in this thread. */
export function inlineLedgerWriter(database: DatabaseSync, path: string, now: () => Instant): LedgerWriter {
  const execute = ledgerExecutor(database, path)
  return { send: async (calls) => executeAll(execute, withTimestamps(calls, now)), close: async () => {} }
}

/** Writes in a thread of this process; in the primary of a cluster also for its workers. */
export function threadLedgerWriter(path: string, now: () => Instant): LedgerWriter {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: path })
  const { request, receive, fail } = createRequestChannel((channelRequest) => thread.postMessage(channelRequest))
  thread.on('message', (replies: ChannelReply[]) => replies.forEach(receive))
  thread.on('error', ({ message }) => fail(`the ledger ${path} cannot be written: ${message}`))
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  exited.then(() => fail(`the ledger ${path} is closed`))
  const send: LedgerWriter['send'] = (calls) => request(withTimestamps(calls, now))
  const onWorkerMessage = async (worker: ClusterWorker, message: WorkerRequest | null): Promise<void> => {
    if (message?.ledger !== path) return // workers send other messages too
    const { ledger, number } = message
    const calls = decodeCalls(message.calls)
    const replies = await send(calls).catch((error) => calls.map(() => ({ fault: serializeFault(error) })))
    const reply: WorkerReply = { ledger, number, replies }
    if (worker.isConnected()) worker.send(reply, () => {}) // an exited worker waits for no reply
  }
  cluster.on('message', onWorkerMessage)
  return {
    send,
    async close() {
      cluster.off('message', onWorkerMessage)
      thread.postMessage(null)
      await exited
    },
  }
}

/** Writes through the primary of the cluster, which must have the same ledger open in its thread. */
export function primaryLedgerWriter(path: string): LedgerWriter {
  const lostMessage = `the primary process has ended: the ledger ${path} cannot be written`
  const { request, receive, fail, idle } = createRequestChannel(({ number, calls }) => {
    const workerRequest: WorkerRequest = { ledger: path, number, calls: encodeCalls(calls) }
    if (!process.connected) throw new Error(lostMessage)
    process.send!(workerRequest, undefined, undefined, (error) => error && fail(lostMessage))
  })
  const onMessage = (message: WorkerReply | null): void => {
    if (message?.ledger === path) receive(message)
  }
  const onDisconnect = (): void => fail(lostMessage)
  process.on('message', onMessage)
  process.once('disconnect', onDisconnect)
  return {
    send: request,
    async close() {
      await idle()
      process.off('message', onMessage)
      process.off('disconnect', onDisconnect)
      fail(`the ledger ${path} is closed`)
    },
  }
}

/** The messages of a cluster are JSON, which has no bytes. */
function encodeCalls(calls: readonly LedgerCall[]): string {
  return serialize(calls).toString('base64')
}

function decodeCalls(text: string): readonly LedgerCall[] {
  return deserialize(Buffer.from(text, 'base64'))
}
