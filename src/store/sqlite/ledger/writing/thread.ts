/** The thread that has the pen: all calls that wait are written in one transaction, and answered once it is durable. */

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
/** Milliseconds after which a reserve that was freed is made again, if there is room. */
const RESERVE_RETRY_MS = 60_000
createReserve(ledgerPath)
setInterval(() => createReserve(ledgerPath), RESERVE_RETRY_MS).unref()

/** `null` asks to end. */
ledgerThreadPort.on('message', (question: ChannelRequest | null) => {
  if (question === null) setImmediate(closeThread)
  else if (queuedRequests.push(question) === 1) setImmediate(writeQueued)
})

function writeQueued(): void {
  const questions = queuedRequests.splice(0)
  const all = executeAll(
    executeCalls,
    questions.flatMap(({ calls }) => calls),
  )
  let place = 0
  const answers = questions.map(({ number, calls }): ChannelReply => {
    place += calls.length
    return { number, replies: all.slice(place - calls.length, place) }
  })
  ledgerThreadPort.postMessage(answers)
}

function closeThread(): void {
  ledgerDatabase.close()
  ledgerThreadPort.close()
}
