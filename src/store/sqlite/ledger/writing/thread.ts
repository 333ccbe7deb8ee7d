/** The thread that writes the ledger: it writes all queued calls in one transaction and replies when it is durable. */

import { parentPort, workerData } from 'node:worker_threads'
import { openLedgerFile } from '../file.ts'
import { executeAll, ledgerExecutor } from './calls.ts'
import type { ChannelReply, ChannelRequest } from './channel.ts'
import { createReserve } from './disk-reserve.ts'

const ledgerThreadPort = parentPort!
const ledgerPath = workerData as string
const ledgerDatabase = openLedgerFile(ledgerPath, 'write')
const executeCalls = ledgerExecutor(ledgerDatabase, ledgerPath)
const queuedRequests: ChannelRequest[] = []
/** Milliseconds after which a freed reserve is created again, if there is enough space. */
const RESERVE_RETRY_MS = 60_000
createReserve(ledgerPath)
setInterval(() => createReserve(ledgerPath), RESERVE_RETRY_MS).unref()

/** `null` asks the thread to end. */
ledgerThreadPort.on('message', (request: ChannelRequest | null) => {
  if (request === null) setImmediate(closeThread)
  else if (queuedRequests.push(request) === 1) setImmediate(writeQueued)
})

function writeQueued(): void {
  const requests = queuedRequests.splice(0)
  const replies = executeAll(
    executeCalls,
    requests.flatMap(({ calls }) => calls),
  )
  let end = 0
  const batches = requests.map(({ number, calls }): ChannelReply => {
    end += calls.length
    return { number, replies: replies.slice(end - calls.length, end) }
  })
  ledgerThreadPort.postMessage(batches)
}

function closeThread(): void {
  ledgerDatabase.close()
  ledgerThreadPort.close()
}
