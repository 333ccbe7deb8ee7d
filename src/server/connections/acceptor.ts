/** Accepts all connections in the primary, within limits, and sends each to a worker. */

import type { Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { envelopeOfPath, overloadedError } from '../../api/http/errors.ts'
import { clientAddressKey, clientRangeMatcher } from '../../values/client-address.ts'
import { isWorkerReport, type WorkerCommand } from '../processes/messages.ts'
import { type AcceptedConnection, ConnectionBacklog, type ConnectionReceiver } from './backlog.ts'

/** The maximum number of connections that are rejected at once. Further ones are closed without a response. */
const MAX_REJECTING_CONNECTIONS = 4_096

/** Milliseconds after which a rejected connection is closed in any case. */
const REJECT_TIMEOUT_MS = 1_000

/** Rejects connections above a limit: answers their first request with an error, and closes them. */
class ConnectionRejecter {
  readonly #rejecting = new Set<Socket>()

  /** Answers the first request of an unread connection with 500 and Retry-After, in the envelope of its endpoint. */
  reject(socket: Socket): void {
    if (this.#rejecting.size >= MAX_REJECTING_CONNECTIONS) return void socket.destroy()
    this.#rejecting.add(socket)
    // read what arrived while this process was busy: closing a connection with unread data resets it
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => socket.destroy())), REJECT_TIMEOUT_MS)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#rejecting.delete(socket)
    })
    socket.once('data', (bytes) => socket.end(rejectionResponse(bytes.toString('latin1', 0, 200))))
    socket.resume() // read and drop the rest, so that no reset destroys the response
  }

  /** Resolves within REJECT_TIMEOUT_MS, when all connections are closed. A reset would destroy their responses. */
  async ended(): Promise<void> {
    await Promise.all(
      [...this.#rejecting].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
  }
}

/** The settings of the acceptor. A limit of 0 means no limit. */
export type AcceptorSettings = {
  host: string
  connections: number
  clientConnections: number
  clientExempt: readonly string[]
  trustedProxies: readonly string[]
}

type ConnectionRejectionReason = 'connections' | 'client_connections' | 'wait_timeout'

/** Milliseconds until a worker that had no file descriptor left gets another connection. */
const RETRY_AFTER_FULL_MS = 100
/** The maximum number of connections that wait in the kernel until they are accepted. */
const KERNEL_BACKLOG = 4_096
/** Milliseconds in which workers must take the accepted connections after the listener is closed. */
const DRAIN_BACKLOG_MS = 5_000
/** Milliseconds between two checks for new connections before the listener is closed. */
const QUIET_CHECK_MS = 10
/** The listener is closed after this many checks in a row without a new connection. */
const QUIET_CHECKS = 10
/** The listener is closed after this many checks in any case. */
const MAX_CHECKS = 300
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1']

export class Acceptor {
  readonly #settings: AcceptorSettings
  readonly #isExempt: (address: string) => boolean
  readonly #servers: Server[] = []
  readonly #connectionsByClient = new Map<string, number>()
  /** The connections of each worker by number, with the key of their client. */
  readonly #connectionsByWorker = new Map<ConnectionReceiver, Map<number, string | null>>()
  readonly #rejecter = new ConnectionRejecter()
  readonly #backlog: ConnectionBacklog
  readonly rejected: Record<ConnectionRejectionReason, number> = {
    connections: 0,
    client_connections: 0,
    wait_timeout: 0,
  }
  #openConnections = 0
  #lastNumber = 0

  constructor(settings: AcceptorSettings) {
    this.#settings = settings
    this.#isExempt = clientRangeMatcher([...settings.clientExempt, ...settings.trustedProxies])
    this.#backlog = new ConnectionBacklog((pending) => this.#reject(pending, 'wait_timeout'))
  }

  /** The number of open connections, including those that wait for a worker. */
  get openCount(): number {
    return this.#openConnections
  }

  /** The number of connections that wait for a worker. */
  get waitingCount(): number {
    return this.#backlog.length
  }

  /** Listens, on both loopback addresses for `localhost`. Returns the port. Throws the system error on failure. */
  async listen(port: number): Promise<number> {
    const { host } = this.#settings
    if (host !== 'localhost') return this.#listen(port, host)
    const [first, second] = LOOPBACK_ADDRESSES as [string, string]
    const actualPort = await this.#listen(port, first)
    await this.#listen(actualPort, second).catch(() => {}) // a machine without IPv6
    return actualPort
  }

  async #listen(port: number, host: string): Promise<number> {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ port, host, backlog: KERNEL_BACKLOG }, resolve)
    })
    this.#servers.push(server)
    return (server.address() as { port: number }).port
  }

  /** Adds a worker that is ready to take connections. */
  add(receiver: ConnectionReceiver): void {
    this.#connectionsByWorker.set(receiver, new Map())
    this.#backlog.addFreeReceiver(receiver)
  }

  /** Removes a worker that died, and its connections. */
  remove(receiver: ConnectionReceiver): void {
    const connections = this.#connectionsByWorker.get(receiver)
    this.#connectionsByWorker.delete(receiver)
    const pending = this.#backlog.removeReceiver(receiver)
    if (pending !== null) connections?.delete(pending.number)
    for (const key of connections?.values() ?? []) this.#releaseClient(key)
  }

  /** Records that a worker has taken its connection and is free for the next one. */
  acknowledge(receiver: ConnectionReceiver): void {
    const pending = this.#backlog.acknowledge(receiver)
    if (pending !== null) pending.socket.destroy() // closes only the descriptor of this process
  }

  /** Returns a connection that a worker could not take to the backlog. */
  returnConnection(receiver: ConnectionReceiver): void {
    const pending = this.#backlog.removeReceiver(receiver)
    if (pending !== null) this.#connectionsByWorker.get(receiver)?.delete(pending.number)
    setTimeout(() => {
      if (this.#connectionsByWorker.has(receiver)) this.#backlog.addFreeReceiver(receiver)
    }, RETRY_AFTER_FULL_MS).unref()
  }

  /** Records that connections of a worker were closed. */
  connectionsClosed(receiver: ConnectionReceiver, numbers: readonly number[]): void {
    const connections = this.#connectionsByWorker.get(receiver)
    for (const number of numbers) {
      const key = connections?.get(number)
      if (key === undefined) continue
      connections!.delete(number)
      this.#releaseClient(key)
    }
  }

  /**
   * Stops listening without a reset. Resolves when workers have taken all accepted connections. Closing a listener
   * resets the connections that wait in the kernel. Therefore the acceptor first accepts and holds new connections
   * until no more arrive. Clients that wait do not connect again. Then the acceptor closes the listener and sends the
   * held connections to workers.
   */
  async stop(): Promise<void> {
    this.#backlog.hold()
    await this.#untilQuiet()
    for (const server of this.#servers) server.close()
    this.#backlog.release()
    await this.#backlog.drain(DRAIN_BACKLOG_MS)
    await this.#rejecter.ended()
  }

  /** Resolves after QUIET_CHECKS checks in a row without a new connection, or after MAX_CHECKS in all. */
  async #untilQuiet(): Promise<void> {
    let quiet = 0
    for (let checks = 0; quiet < QUIET_CHECKS && checks < MAX_CHECKS; checks++) {
      const lastNumber = this.#lastNumber
      await sleep(QUIET_CHECK_MS)
      await immediate() // the event loop accepts one connection between two of these, if the kernel has one
      await immediate()
      quiet = this.#lastNumber === lastNumber ? quiet + 1 : 0
    }
  }

  #accept(socket: Socket): void {
    const { connections, clientConnections } = this.#settings
    const address = socket.remoteAddress
    socket.on('error', () => socket.destroy())
    Object.assign(socket, { server: null }) // otherwise node:child_process tracks it in both processes
    if (address === undefined) return void socket.destroy()
    const key = clientConnections === 0 || this.#isExempt(address) ? null : clientAddressKey(address)
    const pending: AcceptedConnection = { number: ++this.#lastNumber, socket, key, acceptedAt: performance.now() }
    this.#openConnections++
    if (key !== null) this.#connectionsByClient.set(key, (this.#connectionsByClient.get(key) ?? 0) + 1)
    const isFull = connections > 0 && this.#openConnections > connections
    const isClientOverLimit = key !== null && this.#connectionsByClient.get(key)! > clientConnections
    if (isFull) this.#reject(pending, 'connections')
    else if (isClientOverLimit) this.#reject(pending, 'client_connections')
    else this.#backlog.add(pending, (receiver) => this.#connectionsByWorker.get(receiver)?.set(pending.number, key))
  }

  #reject({ socket, key }: AcceptedConnection, reason: ConnectionRejectionReason): void {
    this.rejected[reason]++
    this.#releaseClient(key)
    this.#rejecter.reject(socket)
  }

  #releaseClient(key: string | null): void {
    this.#openConnections--
    if (key === null) return
    const remaining = (this.#connectionsByClient.get(key) ?? 1) - 1
    if (remaining > 0) this.#connectionsByClient.set(key, remaining)
    else this.#connectionsByClient.delete(key)
  }
}

/** The message of node:child_process if a worker has no file descriptor left for a handle. */
const HANDLE_NOT_RECEIVED = 'NODE_HANDLE_NACK'

/** Sends connections to a worker until it ends. Calls `onFull` once, when the worker has no file descriptor left. */
export function attachWorker(worker: Worker, acceptor: Acceptor, onFull: () => void): void {
  const receiver: ConnectionReceiver = {
    send({ number, socket, acceptedAt }) {
      const waited = performance.now() - acceptedAt
      const command: WorkerCommand = { to: 'worker', do: 'takeConnection', number, waited }
      worker.send(command, socket, { keepOpen: true }, () => {}) // if the worker has ended, its exit event follows
    },
  }
  worker.on('message', (message: unknown) => {
    if (!isWorkerReport(message)) return
    if (message.is === 'connectionTaken') acceptor.acknowledge(receiver)
    else if (message.is === 'connectionsClosed') acceptor.connectionsClosed(receiver, message.numbers)
  })
  let isFull = false
  worker.process.on('internalMessage', ({ cmd }: { cmd?: unknown }) => {
    if (cmd !== HANDLE_NOT_RECEIVED) return
    if (!isFull) onFull()
    isFull = true
    acceptor.returnConnection(receiver)
  })
  worker.once('exit', () => acceptor.remove(receiver))
  if (!worker.isDead()) acceptor.add(receiver)
}

function rejectionResponse(head: string): string {
  const [method, path = '/'] = head.split(' ', 2)
  const apiError = overloadedError(
    'The server has reached its limit of connections, in total or for this address: try again in a second.',
  )
  const body = apiError.body(envelopeOfPath(path))
  return [
    'HTTP/1.1 500 Internal Server Error',
    `Request-Id: ${randomBytes(9).toString('base64url')}`,
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: private, no-store',
    'Retry-After: 1',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    method === 'HEAD' ? '' : body,
  ].join('\r\n')
}
