/** The lab's transfer server: hands out zones over TCP or TLS, signed or not, and can misbehave in many ways. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'
import { answerBytes, type LabZone, soaBytes, transferMessages, zoneRecords } from './messages.ts'
import { AnswerSigner, type LabKey, macOfQuery, number16, splitSigned, withRecord } from './signature.ts'

/** Changes the messages of a transfer before they are signed: cuts, repeats or replaces some. */
type ChangeMessages = (messages: Generator<Buffer>, query: Buffer) => Iterable<Buffer>
/**
 * What the server does. `key`: null for one without signatures. `changeMessages`: of a transfer. `changeSigned`: of a
 * message as it is sent; null ends the connection. `signsOneIn`: signs the first message, the last one and one in this
 * many. `changeAnswer`: of all messages of a signed transfer, from the same messages without signatures and the MAC of the
 * query. `macBytes`: cuts signatures. `clockAhead`: seconds. `beforeMessage`: awaited before each message of a transfer.
 */
export type TransferBehaviour = {
  key: LabKey | null
  code?: number
  changeMessages?: ChangeMessages
  changeSigned?: (message: Buffer, index: number) => Buffer | null
  changeAnswer?: (signed: Buffer[], plain: readonly Buffer[], mac: Buffer) => readonly Buffer[]
  signsOneIn?: number
  signsLast?: boolean
  macBytes?: number
  clockAhead?: number
  beforeMessage?: (index: number) => Promise<void>
}

export type TransferServer = {
  port: number
  /** The types of the queries so far: 6 for SOA, 252 for AXFR. */
  queries: number[]
  /** The TLS version and the application protocol of each connection over TLS. */
  protocols: string[]
  zones: Record<string, LabZone>
  behaviour: TransferBehaviour
  /** Ends when no client is connected. */
  idle(): Promise<void>
  close(): Promise<void>
}

const AXFR_CODE = 252
const NOTAUTH = 9
const BADSIG = 16
const BADKEY = 17

/** Starts it on a free port of loopback, over TLS with `tls`. `now`: the clock of its signatures. */
export async function startTransferServer(
  zones: Record<string, LabZone>,
  now: () => number,
  behaviour: TransferBehaviour = { key: null },
  tls: TlsOptions | null = null,
): Promise<TransferServer> {
  const sockets = new Set<Socket>()
  const server: TransferServer = { port: 0, queries: [], protocols: [], zones, behaviour, idle, close: async () => {} }
  const accept = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    if (socket instanceof TLSSocket) server.protocols.push(`${socket.getProtocol()} ${socket.alpnProtocol}`)
    void answerOne(server, socket, now).catch(() => socket.destroy())
  }
  async function idle(): Promise<void> {
    for (const socket of sockets) await new Promise((done) => socket.once('close', done))
  }
  const listener = tls === null ? createServer(accept) : createTlsServer({ ...tls, ALPNProtocols: ['dot'] }, accept)
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  server.port = (listener.address() as AddressInfo).port
  server.close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => listener.close(done))
  }
  return server
}

async function answerOne(server: TransferServer, socket: Socket, now: () => number): Promise<void> {
  const message = await firstMessage(socket)
  const { query, record } = splitSigned(message)
  const { key, code } = server.behaviour
  const type = query.readUInt16BE(query.length - 4)
  server.queries.push(type)
  const zone = server.zones[zoneOf(query)]
  const mac = key === null || record === null ? null : macOfQuery(key, query, record)
  if (record !== null && mac === null) return void (await send(socket, rejectSignature(query, key, now())))
  if (code !== undefined || zone === undefined || (key !== null && record === null))
    return void (await send(socket, answerBytes(query, [], code ?? (zone === undefined ? NOTAUTH : 5))))
  const records = type === AXFR_CODE ? zoneRecords(zone) : [soaBytes(Buffer.from([0xc0, 12]), zone.serial)]
  const plain = transferMessages(query, records)
  const changed = type === AXFR_CODE ? (server.behaviour.changeMessages?.(plain, query) ?? plain) : plain
  const { changeAnswer } = server.behaviour
  if (mac !== null && type === AXFR_CODE && changeAnswer !== undefined) {
    const signer = new AnswerSigner(key!, mac)
    const messages = [...changed]
    const signed = messages.map((message) => signer.sign(message, now()))
    for (const message of changeAnswer(signed, messages, mac)) await send(socket, message)
    return void socket.end()
  }
  await sendAll(server.behaviour, socket, changed, { signer: mac && new AnswerSigner(key!, mac), type, now })
  socket.end()
}

/** A response that says what is wrong with the signature, itself without one (RFC 8945, section 5.2). */
function rejectSignature(query: Buffer, key: LabKey | null, time: number): Buffer {
  const named = key ?? { hash: 'sha256', name: 'unknown', secret: Buffer.alloc(0) }
  const error = key === null ? BADKEY : BADSIG
  return withRecord(named, answerBytes(query, [], NOTAUTH), { time, mac: Buffer.alloc(0), error })
}

async function sendAll(
  behaviour: TransferBehaviour,
  socket: Socket,
  messages: Iterable<Buffer>,
  { signer, type, now }: { signer: AnswerSigner | null; type: number; now: () => number },
): Promise<void> {
  const { signsOneIn = 1, signsLast = true, macBytes, clockAhead = 0, changeSigned = (each) => each } = behaviour
  const cut = macBytes === undefined ? {} : { macBytes }
  const iterator = messages[Symbol.iterator]()
  let [next, index] = [iterator.next(), 0]
  for (; !next.done; index++) {
    const message = next.value
    next = iterator.next()
    const isSigned = index % signsOneIn === 0 ? !next.done || signsLast || index === 0 : next.done && signsLast
    const signed =
      signer === null ? message : isSigned ? signer.sign(message, now() + clockAhead, cut) : signer.pass(message)
    const sent = type === AXFR_CODE ? changeSigned(signed, index) : signed
    if (sent === null) return void socket.destroy()
    if (type === AXFR_CODE) await behaviour.beforeMessage?.(index)
    await send(socket, sent)
  }
}

async function send(socket: Socket, message: Buffer): Promise<void> {
  if (socket.destroyed) throw new Error('the client ended the connection')
  if (socket.write(Buffer.concat([number16(message.length), message]))) return
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      socket.off('drain', goOn).off('close', goOn)
      resolve()
    }
    socket.on('drain', goOn).on('close', goOn)
  })
}

async function firstMessage(socket: Socket): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0)
  while (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE()) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    bytes = Buffer.concat([bytes, chunk])
  }
  return bytes.subarray(2, 2 + bytes.readUInt16BE())
}

function zoneOf(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at] !== 0; at += 1 + query[at]!)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  return labels.join('.').toLowerCase()
}
