/** The acceptor: the primary accepts every connection, within limits, and hands it to a worker that is free to take it. */

import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { clientKey, rangesHold } from '../../words/client-address.ts'
import { Backlog, type Pending, type Taker } from './backlog.ts'
import { closeListener } from './closing.ts'
import { type Command, isReport } from './messages.ts'
import { Refuser } from './refuser.ts'

/** The settings of the limits; 0 for no limit. */
export type AcceptorSettings = {
  host: string
  connections: number
  clientConnections: number
  clientExempt: readonly string[]
  trustedProxies: readonly string[]
}

export type RefusedFor = 'connections' | 'client_connections' | 'waited'

/** Milliseconds until a worker that had no descriptor for a connection is handed one again. */
const AGAIN = 100
/** Connections that the kernel keeps until they are accepted. */
const KERNEL_BACKLOG = 4_096
/** Milliseconds that the connections which were accepted have to be taken after the listener was closed. */
const PATIENCE = 5_000
const LOOPBACK = ['127.0.0.1', '::1']

export class Acceptor {
  readonly #settings: AcceptorSettings
  readonly #isExempt: (address: string) => boolean
  readonly #servers: Server[] = []
  readonly #clients = new Map<string, number>()
  /** The connections that each worker has, with what each is counted under. */
  readonly #taken = new Map<Taker, Map<number, string | null>>()
  readonly #refuser: Refuser
  readonly #backlog: Backlog
  readonly refused: Record<RefusedFor, number> = { connections: 0, client_connections: 0, waited: 0 }
  #open = 0
  #last = 0

  constructor(settings: AcceptorSettings) {
    this.#settings = settings
    this.#isExempt = rangesHold([...settings.clientExempt, ...settings.trustedProxies])
    this.#refuser = new Refuser()
    this.#backlog = new Backlog((pending) => this.#refuse(pending, 'waited'))
  }

  /** Connections that are open, those that wait for a worker included. */
  get open(): number {
    return this.#open
  }

  /** Connections that wait for a worker. */
  get waiting(): number {
    return this.#backlog.length
  }

  /** Listens; `localhost` is both of its addresses. Returns the port. Throws the system's error if that is impossible. */
  async listen(port: number): Promise<number> {
    const { host } = this.#settings
    if (host !== 'localhost') return this.#listen(port, host)
    const [first, second] = LOOPBACK as [string, string]
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
  add(taker: Taker): void {
    this.#taken.set(taker, new Map())
    this.#backlog.free(taker)
  }

  /** A worker has died, and its connections with it. */
  remove(taker: Taker): void {
    const taken = this.#taken.get(taker)
    this.#taken.delete(taker)
    const pending = this.#backlog.forget(taker)
    if (pending !== null) taken?.delete(pending.number)
    for (const key of taken?.values() ?? []) this.#release(key)
  }

  /** A worker has taken the connection that it was handed, and is free for the next. */
  acknowledge(taker: Taker): void {
    const pending = this.#backlog.acknowledge(taker)
    if (pending !== null) pending.socket.destroy() // the worker has it now: this closes our side of it only
  }

  /** A worker could not take the connection that it was handed, which waits for one that can. */
  takeBack(taker: Taker): void {
    const pending = this.#backlog.forget(taker)
    if (pending !== null) this.#taken.get(taker)?.delete(pending.number)
    setTimeout(() => {
      if (this.#taken.has(taker)) this.#backlog.free(taker)
    }, AGAIN).unref()
  }

  /** Connections of a worker were closed. */
  forget(taker: Taker, numbers: readonly number[]): void {
    const taken = this.#taken.get(taker)
    for (const number of numbers) {
      const key = taken?.get(number)
      if (key === undefined) continue
      taken!.delete(number)
      this.#release(key)
    }
  }

  /** Accepts no more; resolves when workers have taken all that was accepted. */
  async stop(): Promise<void> {
    await Promise.all(this.#servers.map(closeListener))
    await this.#backlog.empty(PATIENCE)
    await this.#refuser.ended()
  }

  #accept(socket: Socket): void {
    const { connections, clientConnections } = this.#settings
    const { remoteAddress: address } = socket
    socket.on('error', () => socket.destroy())
    Object.assign(socket, { server: null }) // otherwise node:child_process keeps books about it in both processes
    if (address === undefined) return void socket.destroy()
    const key = clientConnections === 0 || this.#isExempt(address) ? null : clientKey(address)
    const pending: Pending = { number: ++this.#last, socket, key, at: performance.now() }
    this.#open++
    if (key !== null) this.#clients.set(key, (this.#clients.get(key) ?? 0) + 1)
    const isFull = connections > 0 && this.#open > connections
    const isGreedy = key !== null && this.#clients.get(key)! > clientConnections
    if (isFull) this.#refuse(pending, 'connections')
    else if (isGreedy) this.#refuse(pending, 'client_connections')
    else this.#backlog.add(pending, (taker) => this.#taken.get(taker)?.set(pending.number, key))
  }

  #refuse({ socket, key }: Pending, reason: RefusedFor): void {
    this.refused[reason]++
    this.#release(key)
    this.#refuser.refuse(socket)
  }

  #release(key: string | null): void {
    this.#open--
    if (key === null) return
    const left = (this.#clients.get(key) ?? 1) - 1
    if (left > 0) this.#clients.set(key, left)
    else this.#clients.delete(key)
  }
}

/** What node:child_process says of a handle that did not get across: the worker has no file descriptor left. */
const NOT_TAKEN = 'NODE_HANDLE_NACK'

/** Lets a worker take connections until it ends; `onFull` hears once if it has no file descriptor left for one. */
export function takeConnections(worker: Worker, acceptor: Acceptor, onFull: () => void): void {
  const taker: Taker = {
    hand({ number, socket, at }) {
      const command: Command = { to: 'worker', do: 'take', number, waited: performance.now() - at }
      worker.send(command, socket, { keepOpen: true }, () => {}) // of a worker that is gone its exit is heard of
    },
  }
  worker.on('message', (message: unknown) => {
    if (!isReport(message)) return
    if (message.is === 'taken') acceptor.acknowledge(taker)
    else if (message.is === 'closed') acceptor.forget(taker, message.numbers)
  })
  let isFull = false
  worker.process.on('internalMessage', ({ cmd }: { cmd?: unknown }) => {
    if (cmd !== NOT_TAKEN) return
    if (!isFull) onFull()
    isFull = true
    acceptor.takeBack(taker)
  })
  worker.once('exit', () => acceptor.remove(taker))
  if (!worker.isDead()) acceptor.add(taker)
}
