/**
 * A process that answers every DNS query after a delay, like a resolver for the whole internet. Most of its names work.
 */

import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import { behaviourOfName, SILENT_ADDRESS } from './names.ts'

/**
 * Milliseconds until the answer for a healthy name, and for a name with silent servers, when a recursive resolver gives
 * up.
 */
const DELAY = 50
const LONG_DELAY = 4000
const HEADER_BYTES = 12
/** RDATA by type: A, NS, SOA, MX and TXT. There are no AAAA and CNAME records. */
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

type PendingReply = { at: number; send(): void }

const queues: Record<'short' | 'long', PendingReply[]> = { short: [], long: [] }

serve('127.0.0.1', 0, (port) => serve(SILENT_ADDRESS, port, () => console.log(`port ${port}`)))
setInterval(() => {
  const now = performance.now()
  for (const queue of Object.values(queues)) {
    const count = queue.findIndex(({ at }) => at > now)
    for (const { send } of queue.splice(0, count < 0 ? queue.length : count)) send()
  }
}, 1)

/** Listens on UDP and TCP. Knot Resolver retries a failed query over TCP and considers a server without TCP dead. */
function serve(address: string, port: number, onListening: (port: number) => void): void {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 8 << 20, sendBufferSize: 8 << 20 })
  socket.on('message', (question, from) => {
    replyLater(question, (message) => socket.send(message, from.port, from.address))
  })
  socket.bind(port, address, () => {
    const { port } = socket.address()
    createServer(readQuestions).listen(port, address, () => onListening(port))
  })
}

/** Queries over TCP are prefixed with their length (RFC 1035, section 4.2.2). */
function readQuestions(connection: Socket): void {
  let read = Buffer.alloc(0)
  connection.on('error', () => connection.destroy())
  connection.on('data', (bytes) => {
    read = Buffer.concat([read, bytes])
    while (read.length >= 2 && read.length >= 2 + read.readUInt16BE()) {
      const end = 2 + read.readUInt16BE()
      replyLater(read.subarray(2, end), (message) => {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(message.length)
        if (connection.writable) connection.write(Buffer.concat([length, message]))
      })
      read = read.subarray(end)
    }
  })
}

function replyLater(question: Buffer, send: (message: Buffer) => void): void {
  const behaviour = behaviourOfName(hostIn(question))
  const isLong = behaviour === 'silent'
  const message = replyTo(question, endOfQuestion(question), behaviour)
  const at = performance.now() + (isLong ? LONG_DELAY : DELAY)
  queues[isLong ? 'long' : 'short'].push({ at, send: () => send(message) })
}

function replyTo(question: Buffer, end: number, behaviour: ReturnType<typeof behaviourOfName>): Buffer {
  const type = question.readUInt16BE(end - 4)
  const data = behaviour === 'healthy' ? RECORDS[type] : undefined
  const head = Buffer.from(question.subarray(0, end))
  head[2] = 0x81
  head[3] = 0x80 | (behaviour === 'healthy' ? 0 : behaviour === 'refused' ? 5 : 2)
  head.writeUInt16BE(data === undefined ? 0 : 1, 6)
  head.writeUInt16BE(data === undefined && behaviour === 'healthy' ? 1 : 0, 8)
  head.writeUInt16BE(0, 10)
  if (behaviour !== 'healthy') return head
  return Buffer.concat([head, data === undefined ? recordOf(6, RECORDS[6]!) : recordOf(type, data)])
}

/** A record of the queried name with a TTL of one minute. BIND rejects an answer with the SOA of another zone. */
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
