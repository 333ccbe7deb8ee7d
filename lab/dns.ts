/** The lab's DNS server: answers from one table as a resolver does, over UDP and TCP on one port of loopback. */

import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { IpAddress } from '../src/values/ip-address.ts'
import { checkTable } from './dns-data.ts'
import { type DnsQueryEvent, replyTo } from './dns-reply.ts'
import type { DnsHost, DnsTable } from './dns-table.ts'

export type { DnsQueryEvent as DnsHeard } from './dns-reply.ts'

export type LabDnsServer = {
  address: IpAddress
  port: number
  /** Answers from another table from now on. Rotations restart. */
  change(table: DnsTable): void
  /** Overrides answers from now on. Null removes the override. */
  override(answers: AnswerOverride | null): void
  close(): Promise<void>
}

/** Returns the answer for a host instead of the table's, or undefined to use the table. `.` is the root. */
export type AnswerOverride = (host: string) => DnsHost | undefined

/** The part of the server that UDP and TCP share: it receives a message and may send a reply. */
type Answerer = (message: Buffer, over: DnsQueryEvent['over'], send: (message: Buffer) => void) => void

const LOOPBACK = '127.0.0.1' as IpAddress
const PORT_TRIES = 20

/**
 * Starts it on a free port of 127.0.0.1. Calls the listener for every query. It answers REFUSED if too many queries are
 * in flight. Throws if the table cannot be encoded.
 */
export async function startDnsServer(
  table: DnsTable,
  onQuery: (question: DnsQueryEvent) => void = () => {},
  { bears: maxInFlight = Number.POSITIVE_INFINITY } = {},
): Promise<LabDnsServer> {
  checkTable(table)
  let current = table
  let overrideAnswer: AnswerOverride | null = null
  const hostAt = (host: string) =>
    overrideAnswer?.(host) ?? (Object.hasOwn(current, host) ? current[host]! : 'nxdomain')
  const rotations = new Map<string, number>()
  const timers = new Set<NodeJS.Timeout>()
  const nextRotation = (key: string) => countUp(rotations, key)
  const answer: Answerer = (question, over, send) => {
    const isOver = timers.size >= maxInFlight
    const { message, delay } = replyTo(question, isOver ? () => 'refused' : hostAt, over, nextRotation, onQuery)
    if (message === null) return
    if (delay === 0) send(message)
    else sendLater(timers, delay, () => send(message))
  }
  const { udp, tcp, port } = await bind(answer)
  return {
    address: LOOPBACK,
    port,
    change: (next) => {
      checkTable(next)
      current = next
      rotations.clear()
    },
    override: (next) => {
      overrideAnswer = next
    },
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      udp.close()
      await tcp.close()
    },
  }
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = counts.get(key) ?? 0
  counts.set(key, count + 1)
  return count
}

function sendLater(timers: Set<NodeJS.Timeout>, delay: number, send: () => void): void {
  const timer = setTimeout(() => {
    timers.delete(timer)
    send()
  }, delay)
  timers.add(timer)
}

/** Binds both to one port: TCP takes a free one. If UDP cannot have the same one, both try another. */
async function bind(answer: Answerer) {
  for (let attempt = 1; ; attempt++) {
    const tcp = await listen(answer)
    const udp = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
    try {
      await once(udp.bind(tcp.port, LOOPBACK), 'listening')
      serveDatagrams(udp, answer)
      return { udp, tcp, port: tcp.port }
    } catch (error) {
      udp.close()
      await tcp.close()
      if (attempt === PORT_TRIES) throw error
    }
  }
}

function serveDatagrams(udp: Datagrams, answer: Answerer): void {
  let isOpen = true
  udp.on('close', () => {
    isOpen = false
  })
  udp.on('error', () => {})
  udp.on('message', (question, { address, port }) => {
    answer(question, 'udp', (message) => {
      if (isOpen) udp.send(message, port, address, () => {})
    })
  })
}

async function listen(answer: Answerer): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    serveStream(socket, answer)
  })
  await once(server.listen(0, LOOPBACK), 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => server.close(done))
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** Each message follows its length (RFC 1035, section 4.2.2). */
function serveStream(socket: Socket, answer: Answerer): void {
  let buffered: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffered = buffered.length > 0 ? Buffer.concat([buffered, chunk]) : chunk
    while (buffered.length >= 2 && buffered.length >= 2 + buffered.readUInt16BE()) {
      const end = 2 + buffered.readUInt16BE()
      answer(buffered.subarray(2, end), 'tcp', (message) => {
        if (socket.writable)
          socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]))
      })
      buffered = buffered.subarray(end)
    }
  })
}
