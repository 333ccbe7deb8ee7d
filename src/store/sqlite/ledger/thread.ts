/** The thread that has the pen: all calls that wait are written in one transaction, and answered once it is durable. */

import { parentPort, workerData } from 'node:worker_threads'
import { executor, replies } from './calls.ts'
import type { Answer, Question } from './exchange.ts'
import { openLedgerFile } from './file.ts'
import { makeReserve } from './reserve.ts'

const port = parentPort!
const path = workerData as string
const database = openLedgerFile(path, 'write')
const execute = executor(database, path)
const waiting: Question[] = []
/** Milliseconds after which a reserve that was freed is made again, if there is room. */
const RESERVE_AGAIN = 60_000
makeReserve(path)
setInterval(() => makeReserve(path), RESERVE_AGAIN).unref()

/** `null` asks to end. */
port.on('message', (question: Question | null) => {
  if (question === null) setImmediate(end)
  else if (waiting.push(question) === 1) setImmediate(write)
})

function write(): void {
  const questions = waiting.splice(0)
  const all = replies(
    execute,
    questions.flatMap(({ calls }) => calls),
  )
  let place = 0
  const answers = questions.map(({ number, calls }): Answer => {
    place += calls.length
    return { number, replies: all.slice(place - calls.length, place) }
  })
  port.postMessage(answers)
}

function end(): void {
  database.close()
  port.close()
}
