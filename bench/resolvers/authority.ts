/**
 * A process that answers every question after a delay, as a resolver with the whole internet behind it would: most
 * names well.
 */

import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import { fateOf, SILENT_ADDRESS } from './names.ts'

/** Milliseconds until a healthy name is answered, and one whose servers are silent: a recursor gives up then. */
const DELAY = 50
const LONG_DELAY = 4000
const HEADER_BYTES = 12
/** RDATA by type: A, NS, CNAME, SOA, MX, TXT. AAAA and CNAME have none. */
const RECORDS: Record<number, number[]> = {
  1: [192, 0, 2, 1],
  2: [2, 110, 115, 0],
  6: [
    2,
    110,
    115,
    0,
    4,
    109,
    97,
    105,
    108,
    0,
    ...[1, 7200, 3600, 86_400, 60].flatMap((each) => [0, 0, each >> 8, each & 255]),
  ],
  15: [0, 10, 2, 109, 120, 0],
  16: [3, 118, 61, 49],
}

type Due = { at: number; answer(): void }

const queues: Record<'short' | 'long', Due[]> = { short: [], long: [] }

serve('127.0.0.1', 0, (port) => serve(SILENT_ADDRESS, port, () => console.log(`port ${port}`)))
setInterval(() => {
  const now = performance.now()
  for (const queue of Object.values(queues)) {
    const count = queue.findIndex(({ at }) => at > now)
    for (const { answer } of queue.splice(0, count < 0 ? queue.length : count)) answer()
  }
}, 1)

/**
 * Over UDP, and over TCP too: Knot Resolver asks again there if a question failed, and takes a server without TCP for
 * dead.
 */
function serve(address: string, port: number, listening: (port: number) => void): void {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 8 << 20, sendBufferSize: 8 << 20 })
  socket.on('message', (question, from) => {
    answerLater(question, (message) => socket.send(message, from.port, from.address))
  })
  socket.bind(port, address, () => {
    const { port } = socket.address()
    createServer(readQuestions).listen(port, address, () => listening(port))
  })
}

/** Questions over TCP, each behind its length (RFC 1035, section 4.2.2). */
function readQuestions(connection: Socket): void {
  let read = Buffer.alloc(0)
  connection.on('error', () => connection.destroy())
  connection.on('data', (bytes) => {
    read = Buffer.concat([read, bytes])
    while (read.length >= 2 && read.length >= 2 + read.readUInt16BE()) {
      const end = 2 + read.readUInt16BE()
      answerLater(read.subarray(2, end), (message) => {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(message.length)
        if (connection.writable) connection.write(Buffer.concat([length, message]))
      })
      read = read.subarray(end)
    }
  })
}

function answerLater(question: Buffer, send: (message: Buffer) => void): void {
  const fate = fateOf(hostIn(question))
  const isLong = fate === 'silent'
  const message = answerTo(question, endOfQuestion(question), fate)
  const at = performance.now() + (isLong ? LONG_DELAY : DELAY)
  queues[isLong ? 'long' : 'short'].push({ at, answer: () => send(message) })
}

function answerTo(question: Buffer, end: number, fate: ReturnType<typeof fateOf>): Buffer {
  const type = question.readUInt16BE(end - 4)
  const data = fate === 'healthy' ? RECORDS[type] : undefined
  const head = Buffer.from(question.subarray(0, end))
  head[2] = 0x81
  head[3] = 0x80 | (fate === 'healthy' ? 0 : fate === 'refused' ? 5 : 2)
  head.writeUInt16BE(data === undefined ? 0 : 1, 6)
  head.writeUInt16BE(data === undefined && fate === 'healthy' ? 1 : 0, 8)
  head.writeUInt16BE(0, 10)
  if (fate !== 'healthy') return head
  return Buffer.concat([head, data === undefined ? recordOf(6, RECORDS[6]!) : recordOf(type, data)])
}

/**
 * A record of the name itself, which may be kept for a minute. BIND takes the SOA of another zone for a broken answer.
 */
function recordOf(type: number, data: number[]): Buffer {
  return Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data])
}

function endOfQuestion(message: Buffer): number {
  let at = HEADER_BYTES
  while (message[at] !== 0) at += message[at]! + 1
  return at + 5
}

function hostIn(message: Buffer): string {
  const labels: string[] = []
  for (let at = HEADER_BYTES; message[at] !== 0; at += message[at]! + 1) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!).toLowerCase())
  }
  return labels.join('.')
}
