/** Tests the acceptor: it counts and rejects connections before any is read, and loses none that it accepted. */

import assert from 'node:assert/strict'
import type { Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Acceptor, type AcceptorSettings, attachWorker } from '../../../src/server/connections/acceptor.ts'
import {
  type AcceptedConnection,
  ConnectionBacklog,
  type ConnectionReceiver,
} from '../../../src/server/connections/backlog.ts'

const NONE: AcceptorSettings = {
  host: '127.0.0.1',
  connections: 0,
  clientConnections: 0,
  clientExempt: [],
  trustedProxies: [],
}

/** A worker that keeps the connections that it gets. */
function workerOf(acceptor: Acceptor) {
  const handed: AcceptedConnection[] = []
  const taker: ConnectionReceiver = { send: (pending) => void handed.push(pending) }
  return {
    taker,
    handed,
    /** Takes the next connection. */
    async take(): Promise<AcceptedConnection> {
      while (handed.length === 0) await turn()
      const pending = handed.shift()!
      acceptor.acknowledge(taker)
      return pending
    },
  }
}

async function acceptorOf(t: TestContext, settings: Partial<AcceptorSettings> = {}) {
  const acceptor = new Acceptor({ ...NONE, ...settings })
  const port = await acceptor.listen(0)
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await acceptor.stop()
  })
  const open = async (from = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    return socket
  }
  /** Sends the head of a request. Resolves to everything that is received. */
  const ask = async (path: string, from?: string): Promise<string> => {
    const socket = await open(from)
    socket.write(`GET ${path} HTTP/1.1\r\n\r\n`)
    let text = ''
    for await (const piece of socket.setEncoding('utf8')) text += piece
    return text
  }
  return { acceptor, open, ask }
}

test('a connection goes to a free worker, and if the worker dies before it took it, to another one', async (t) => {
  const { acceptor, open } = await acceptorOf(t)
  const [first, second] = [workerOf(acceptor), workerOf(acceptor)]
  acceptor.add(first.taker)
  await open()
  while (first.handed.length === 0) await turn()
  await open()
  while (acceptor.waitingCount === 0) await turn()
  assert.equal(first.handed.length, 1, 'one at a time')
  acceptor.remove(first.taker)
  acceptor.add(second.taker)
  assert.equal((await second.take()).number, 1)
  assert.equal((await second.take()).number, 2)
  assert.equal(acceptor.openCount, 2)
  acceptor.connectionsClosed(second.taker, [1])
  assert.equal(acceptor.openCount, 1)
  acceptor.remove(second.taker)
  assert.equal(acceptor.openCount, 0)
})

test('connections beyond the limit get 500 and Retry-After in the name of the endpoint', async (t) => {
  const { acceptor, open, ask } = await acceptorOf(t, { connections: 1 })
  const { taker, take } = workerOf(acceptor)
  acceptor.add(taker)
  await open()
  const { number } = await take()
  for (const [path, isNested] of [
    ['/v1.0/lookup?token=x', true],
    ['/v1.0/reverseip', true],
    ['//v1.0//redirect/', true],
    ['/v1.0/daily', false],
    ['/docs', false],
  ] as const) {
    const [head = '', body = ''] = (await ask(path)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1.1 500 /, path)
    assert.match(head, /^Retry-After: 1\r$/m)
    assert.match(head, /^Request-Id: \S+\r$/m)
    const output = JSON.parse(body)
    assert.equal((isNested ? output.result : output).error, 'internal_error', path)
  }
  assert.equal(acceptor.rejected.connections, 5)
  acceptor.connectionsClosed(taker, [number])
  await open()
  await take()
})

test('each client address may have a number of connections, unless it is exempt or a trusted proxy', async (t) => {
  const settings = { clientConnections: 1, clientExempt: ['127.0.0.3'], trustedProxies: ['127.0.0.4/32'] }
  const { acceptor, open, ask } = await acceptorOf(t, settings)
  const { taker, take } = workerOf(acceptor)
  acceptor.add(taker)
  for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.3', '127.0.0.4', '127.0.0.4']) {
    await open(from)
    await take()
  }
  assert.match(await ask('/', '127.0.0.1'), /^HTTP\/1.1 500 /)
  assert.equal(acceptor.rejected.client_connections, 1)
  acceptor.remove(taker)
  const other = workerOf(acceptor)
  acceptor.add(other.taker)
  await open('127.0.0.1')
  await other.take()
})

test('connections that were accepted before the listener closed are passed on first, and later clients are refused', async (t) => {
  const { acceptor, open } = await acceptorOf(t)
  await Promise.all(Array.from({ length: 20 }, () => open())) // the kernel has accepted them, but the acceptor not all of them
  const stopped = acceptor.stop()
  const { taker, take } = workerOf(acceptor)
  acceptor.add(taker)
  for (let count = 0; count < 20; count++) await take()
  await stopped
  await assert.rejects(open(), { code: 'ECONNREFUSED' })
})

test('however long it takes, connections that the kernel holds are accepted before the listener closes', async (t) => {
  const { acceptor, open } = await acceptorOf(t)
  const sockets = await Promise.all(Array.from({ length: 200 }, () => open()))
  let reset = 0
  for (const socket of sockets) socket.on('error', () => reset++)
  let now = performance.now()
  t.mock.method(performance, 'now', () => (now += 1_000)) // a machine so busy that seconds pass between two checks
  const stopped = acceptor.stop()
  const { taker, take } = workerOf(acceptor)
  acceptor.add(taker)
  for (let count = 0; count < 200; count++) await take()
  t.mock.reset()
  await stopped
  await turn()
  assert.equal(reset, 0)
})

test('if a worker has no file descriptor for a connection, it is reported once, and soon gets connections again', async (t) => {
  const { acceptor, open } = await acceptorOf(t)
  const sent: number[] = []
  const worker = Object.assign(new EventEmitter(), {
    process: new EventEmitter(),
    isDead: () => false,
    send: ({ number }: { number: number }) => sent.push(number),
  })
  let full = 0
  attachWorker(worker as unknown as Worker, acceptor, () => full++)
  await open()
  for (let tried = 1; tried <= 3; tried++) {
    while (sent.length < tried) await turn()
    worker.process.emit('internalMessage', { cmd: 'NODE_HANDLE_NACK' })
    assert.equal(acceptor.waitingCount, 1, 'it waits for a worker that can take it')
  }
  while (sent.length < 4) await turn()
  worker.emit('message', { to: 'primary', is: 'connectionTaken' })
  assert.deepEqual([sent, full, acceptor.waitingCount, acceptor.openCount], [[1, 1, 1, 1], 1, 0, 1])
  worker.emit('exit')
  assert.equal(acceptor.openCount, 0)
})

test('if many connections wait, the newest is passed on first, and if few wait, the oldest', () => {
  const handed: number[] = []
  const backlog = new ConnectionBacklog(() => {})
  const taker: ConnectionReceiver = { send: ({ number }) => void handed.push(number) }
  for (let number = 1; number <= 66; number++)
    backlog.add({ number, acceptedAt: performance.now() } as AcceptedConnection, () => {})
  backlog.addFreeReceiver(taker)
  for (let count = 0; count < 3; count++) backlog.acknowledge(taker)
  assert.deepEqual(handed, [66, 65, 1, 2])
})

test('connections that a worker got and never took are rejected when it ends after the others were given up', async () => {
  const refused: number[] = []
  const backlog = new ConnectionBacklog(({ number }) => void refused.push(number))
  const taker: ConnectionReceiver = { send: () => {} }
  const pending = (number: number) => ({ number, acceptedAt: performance.now() }) as AcceptedConnection
  backlog.addFreeReceiver(taker)
  for (const number of [1, 2]) backlog.add(pending(number), () => {})
  await backlog.drain(1)
  assert.deepEqual(refused, [2])
  assert.equal(backlog.removeReceiver(taker)?.number, 1)
  assert.deepEqual(refused, [2, 1])
})

test('a connection that a dead worker did not take is rejected if no other worker takes it in time', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const rejected: number[] = []
  const backlog = new ConnectionBacklog(({ number }) => void rejected.push(number))
  const receiver: ConnectionReceiver = { send: () => {} }
  backlog.addFreeReceiver(receiver)
  backlog.add({ number: 1, acceptedAt: now } as AcceptedConnection, () => {})
  backlog.removeReceiver(receiver)
  now = 9_000
  t.mock.timers.tick(100)
  assert.deepEqual(rejected, [])
  now = 11_000
  t.mock.timers.tick(100)
  assert.deepEqual(rejected, [1])
})
