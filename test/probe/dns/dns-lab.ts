/** A resolver that queries the lab's DNS server, and hostile servers on raw sockets, all closed after the test. */

import { createSocket, type Socket as Datagrams, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type DnsHeard, type LabDnsServer, startDnsServer } from '../../../lab/dns.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import { type MultiServerResolver, openResolver, type ResolverOptions } from '../../../src/probe/dns/resolver.ts'
import type { DnsServer } from '../../../src/probe/dns/server.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'

export const LOOPBACK = '127.0.0.1' as IpAddress

/** A timeout that no answer reaches. */
const PATIENCE = 20_000

export async function resolverOf(
  t: TestContext,
  servers: readonly DnsServer[],
  options: Partial<ResolverOptions> = {},
): Promise<MultiServerResolver> {
  const resolver = await openResolver({
    servers,
    timeoutMs: PATIENCE,
    attempts: 1,
    sockets: 2,
    retryDelayMs: 10,
    ...options,
  })
  t.after(() => resolver.close())
  return resolver
}

/** Starts the lab's server with a table and a resolver that queries it. Returns also the received queries. */
export async function askLab(
  t: TestContext,
  table: DnsTable,
  options: Partial<ResolverOptions> = {},
): Promise<{ resolver: MultiServerResolver; received: DnsHeard[]; server: LabDnsServer }> {
  const received: DnsHeard[] = []
  const server = await startDnsServer(table, (question) => received.push(question))
  t.after(() => server.close())
  return { resolver: await resolverOf(t, [server], options), received, server }
}

/** A UDP server that replies to each query as the test says. */
export async function rawUdp(
  t: TestContext,
  hear: (question: Buffer, from: RemoteInfo, socket: Datagrams) => void,
  port = 0,
): Promise<DnsServer & { socket: Datagrams }> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
  socket.on('message', (question, from) => hear(question, from, socket))
  await once(socket.bind(port, LOOPBACK), 'listening')
  t.after(() => socket.close())
  return { address: LOOPBACK, port: socket.address().port, socket }
}

/** A server that truncates every UDP answer and serves each TCP connection as the test says. */
export async function rawTcp(t: TestContext, serve: (socket: Socket, count: number) => void): Promise<DnsServer> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    serve(socket, ++count)
  })
  await once(server.listen(0, LOOPBACK), 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  await rawUdp(t, (question, from, socket) => socket.send(cutOff(question), from.port, from.address), port)
  return { address: LOOPBACK, port }
}

/** Turns the query into an answer without records that is marked as truncated. */
export function cutOff(question: Buffer): Buffer {
  const message = withoutEdns(question)
  message[2] = 0x82
  return message
}

/** Builds an answer with one A record, whose name is a pointer to the queried name. */
export function answerTo(question: Buffer, address: string, id = question.readUInt16BE()): Buffer {
  const message = withoutEdns(question)
  message.writeUInt16BE(id)
  message[2] = 0x80
  message[3] = 0x80
  message[7] = 1
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]
  return Buffer.concat([message, Buffer.from(record)])
}

/** A copy of only the header and the question section. */
export function withoutEdns(question: Buffer): Buffer {
  let end = 12
  while (question[end] !== 0) end += question[end]! + 1
  const message = Buffer.from(question.subarray(0, end + 5))
  message[11] = 0
  return message
}

export function framed(message: Buffer): Buffer {
  return Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message])
}
