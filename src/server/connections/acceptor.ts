/** The acceptor: the primary accepts every connection, within limits, and hands it to a worker that is free to take it. */

import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { clientAddressKey, clientRangeMatcher } from '../../values/client-address.ts'
import { isWorkerReport, type WorkerCommand } from '../processes/messages.ts'
import { type AcceptedConnection, ConnectionBacklog, type ConnectionReceiver } from './backlog.ts'
import { closeListener } from './close-listener.ts'
import { ConnectionRejecter } from './connection-rejecter.ts'

/** The settings of the limits; 0 for no limit. */
export type AcceptorSettings = {
  host: string
  connections: number
  clientConnections: number
  clientExempt: readonly string[]
  trustedProxies: readonly string[]
}

export type ConnectionRejectionReason = 'connections' | 'client_connections' | 'wait_timeout'

/** Milliseconds until a worker that had no descriptor for a connection is handed one again. */
const RETRY_AFTER_FULL_MS = 100
/** Connections that the kernel keeps until they are accepted. */
const KERNEL_BACKLOG = 4_096
/** Milliseconds that the connections which were accepted have to be taken after the listener was closed. */
const DRAIN_BACKLOG_MS = 5_000
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1']

export class Acceptor {
  readonly #settings: AcceptorSettings
  readonly #isExempt: (address: string) => boolean
  readonly #servers: Server[] = []
  readonly #connectionsByClient = new Map<string, number>()
  /** The connections that each worker has, with what each is counted under. */
  readonly #connectionsByWorker = new Map<ConnectionReceiver, Map<number, string | null>>()
  readonly #rejecter: ConnectionRejecter
  readonly #backlog: ConnectionBacklog
  readonly rejected: Record<ConnectionRejectionReason, number> = {
    connections: 0,
    client_connections: 0,
    wait_timeout: 0,
  }
  openConnections = 0
  #lastNumber = 0

  constructor(settings: AcceptorSettings) {
    this.#settings = settings
    this.#isExempt = clientRangeMatcher([...settings.clientExempt, ...settings.trustedProxies])
    this.#rejecter = new ConnectionRejecter()
    this.#backlog = new ConnectionBacklog((pending) => this.#reject(pending, 'wait_timeout'))
  }

  /** Connections that are open, those that wait for a worker included. */
  get openCount(): number {
    return this.openConnections
  }

  /** Connections that wait for a worker. */
  get waitingCount(): number {
    return this.#backlog.length
  }

  /** Listens; `localhost` is both of its addresses. Returns the port. Throws the system's error if that is impossible. */
  async listen(port: number): Promise<number> {
    const { host } = this.#settings
    if (host !== 'localhost') return this.#listen(port, host)
    const [first, second] = LOOPBACK_ADDRESSES as [string, string]
    const got = await this.#listen(port, first)
    await this.#listen(got, second).catch(() => {}) // a machine without IPv6
    return got
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

  /** A worker serves: it takes connections from now on. */
  add(taker: ConnectionReceiver): void {
    this.#connectionsByWorker.set(taker, new Map())
    this.#backlog.addFreeReceiver(taker)
  }

  /** A worker has died, and its connections with it. */
  remove(taker: ConnectionReceiver): void {
    const taken = this.#connectionsByWorker.get(taker)
    this.#connectionsByWorker.delete(taker)
    const pending = this.#backlog.removeReceiver(taker)
    if (pending !== null) taken?.delete(pending.number)
    for (const key of taken?.values() ?? []) this.#releaseClient(key)
  }

  /** A worker has taken the connection that it was handed, and is free for the next. */
  acknowledge(taker: ConnectionReceiver): void {
    const pending = this.#backlog.acknowledge(taker)
    if (pending !== null) pending.socket.destroy() // the worker has it now: this closes our side of it only
  }

  /** A worker could not take the connection that it was handed, which waits for one that can. */
  returnConnection(taker: ConnectionReceiver): void {
    const pending = this.#backlog.removeReceiver(taker)
    if (pending !== null) this.#connectionsByWorker.get(taker)?.delete(pending.number)
    setTimeout(() => {
      if (this.#connectionsByWorker.has(taker)) this.#backlog.addFreeReceiver(taker)
    }, RETRY_AFTER_FULL_MS).unref()
  }

  /** Connections of a worker were closed. */
  connectionsClosed(taker: ConnectionReceiver, numbers: readonly number[]): void {
    const taken = this.#connectionsByWorker.get(taker)
    for (const number of numbers) {
      const key = taken?.get(number)
      if (key === undefined) continue
      taken!.delete(number)
      this.#releaseClient(key)
    }
  }

  /** Accepts no more; resolves when workers have taken all that was accepted. */
  async stop(): Promise<void> {
    await Promise.all(this.#servers.map(closeListener))
    await this.#backlog.drain(DRAIN_BACKLOG_MS)
    await this.#rejecter.ended()
  }

  #accept(socket: Socket): void {
    const { connections, clientConnections } = this.#settings
    const { remoteAddress: address } = socket
    socket.on('error', () => socket.destroy())
    Object.assign(socket, { server: null }) // otherwise node:child_process keeps records of it in both processes
    if (address === undefined) return void socket.destroy()
    const key = clientConnections === 0 || this.#isExempt(address) ? null : clientAddressKey(address)
    const pending: AcceptedConnection = { number: ++this.#lastNumber, socket, key, acceptedAt: performance.now() }
    this.openConnections++
    if (key !== null) this.#connectionsByClient.set(key, (this.#connectionsByClient.get(key) ?? 0) + 1)
    const isFull = connections > 0 && this.openConnections > connections
    const isGreedy = key !== null && this.#connectionsByClient.get(key)! > clientConnections
    if (isFull) this.#reject(pending, 'connections')
    else if (isGreedy) this.#reject(pending, 'client_connections')
    else this.#backlog.add(pending, (taker) => this.#connectionsByWorker.get(taker)?.set(pending.number, key))
  }

  #reject({ socket, key }: AcceptedConnection, reason: ConnectionRejectionReason): void {
    this.rejected[reason]++
    this.#releaseClient(key)
    this.#rejecter.reject(socket)
  }

  #releaseClient(key: string | null): void {
    this.openConnections--
    if (key === null) return
    const left = (this.#connectionsByClient.get(key) ?? 1) - 1
    if (left > 0) this.#connectionsByClient.set(key, left)
    else this.#connectionsByClient.delete(key)
  }
}

/** What node:child_process says of a handle that did not get across: the worker has no file descriptor left. */
const HANDLE_NOT_RECEIVED = 'NODE_HANDLE_NACK'

/** Lets a worker take connections until it ends; `onFull` hears once if it has no file descriptor left for one. */
export function attachWorker(worker: Worker, acceptor: Acceptor, onFull: () => void): void {
  const taker: ConnectionReceiver = {
    send({ number, socket, acceptedAt: at }) {
      const command: WorkerCommand = { to: 'worker', do: 'takeConnection', number, waited: performance.now() - at }
      worker.send(command, socket, { keepOpen: true }, () => {}) // of a worker that is gone its exit is heard of
    },
  }
  worker.on('message', (message: unknown) => {
    if (!isWorkerReport(message)) return
    if (message.is === 'connectionTaken') acceptor.acknowledge(taker)
    else if (message.is === 'connectionsClosed') acceptor.connectionsClosed(taker, message.numbers)
  })
  let isFull = false
  worker.process.on('internalMessage', ({ cmd }: { cmd?: unknown }) => {
    if (cmd !== HANDLE_NOT_RECEIVED) return
    if (!isFull) onFull()
    isFull = true
    acceptor.returnConnection(taker)
  })
  worker.once('exit', () => acceptor.remove(taker))
  if (!worker.isDead()) acceptor.add(taker)
}
