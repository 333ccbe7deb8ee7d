/** Tests signals to the whole process group of `serve`, as Ctrl-C, `timeout` and a service manager send them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { clientOf } from '../api/client.ts'
import { makeAccount, type Served, serverOf } from '../api/server.ts'
import { until } from '../until.ts'

const CLIENTS = 40
const LINE = '{"endpoint":"lookup","query":"example.com"}\n'

/** Makes the launcher believe that its Node is old, so that it starts another one and forwards signals to it. */
const AS_OLD_NODE = [
  '--import',
  "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})",
]
/** What npx sets. */
const BY_NPX = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'domaindex'" }
/** The chain of npx: a shell, which SIGTERM ends, and two processes of the launcher. */
const CHAIN = ['/bin/sh', '-c', '"$0" "$@"; exit $?', process.execPath, ...AS_OLD_NODE] as const

function signalGroup({ process: { pid } }: Served, name: NodeJS.Signals): void {
  process.kill(-pid!, name)
}

/** Sends requests on a keep-alive connection until the server announces its end. Returns the statuses. */
async function askUntilTheLast(address: string, onAnswer: () => void): Promise<number[]> {
  const { get, close } = clientOf(address)
  const statuses: number[] = []
  for (let isLast = false; !isLast; onAnswer()) {
    const answer = await get('/healthz')
    statuses.push(answer.status)
    isLast = answer.isLast
  }
  close()
  return statuses
}

async function connectTo(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Whether the server has closed its listener. */
function refuses(address: string): Promise<boolean> {
  return connectTo(address).then(
    (socket) => {
      socket.destroy()
      return false
    },
    () => true,
  )
}

/** Sends a batch without its last byte. Its `finish` sends that, and returns the response. */
async function startBatch(t: TestContext, { address }: Served, token: string) {
  const socket = await connectTo(address)
  t.after(() => socket.destroy())
  let text = ''
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', resolve).on('close', resolve)
  })
  socket.write(
    `POST /batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/x-ndjson\r\nContent-Length: ${LINE.length}\r\n\r\n${LINE.slice(0, -1)}`,
  )
  return async (): Promise<string> => {
    socket.write(LINE.slice(-1))
    await ended
    return text
  }
}

/** Starts a server that leads a process group. */
async function serveGroup(t: TestContext, command: readonly [string, ...string[]], env: Record<string, string> = {}) {
  const { serve, withStore } = serverOf(t)
  const { token } = await withStore((store) => makeAccount(store, 'premium'))
  const server = await serve(env, [], { command, detached: true })
  t.after(() => {
    if (server.process.exitCode === null && server.process.signalCode === null) signalGroup(server, 'SIGKILL')
  })
  return { server, token }
}

suite('a signal to the process group', { skip: process.platform === 'win32' }, () => {
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    test(`${name} loses no request under load`, async (t) => {
      const { server, token } = await serveGroup(t, CHAIN, BY_NPX)
      const finishBatch = await startBatch(t, server, token)
      let answers = 0
      const clients = Array.from({ length: CLIENTS }, () => askUntilTheLast(server.address, () => answers++))
      await until(() => answers > 10 * CLIENTS)
      signalGroup(server, name)
      for (const statuses of await Promise.all(clients)) assert.deepEqual([...new Set(statuses)], [200])
      await until(() => refuses(server.address))
      assert.match(await finishBatch(), /^HTTP\/1\.1 200 /)
      await server.outcome
    })

  test('a second Ctrl-C ends the server and its workers at once', async (t) => {
    const { server, token } = await serveGroup(t, [process.execPath, ...AS_OLD_NODE])
    await startBatch(t, server, token)
    let isOver = false
    void server.outcome.then(() => (isOver = true))
    await until(() => {
      if (!isOver) signalGroup(server, 'SIGINT')
      return isOver
    })
    const { code, signal } = await server.outcome // once the workers have closed their output too
    // A process that is ending no longer listens for signals: one more then ends it by the signal, 130 to a shell too.
    assert.ok(code === 130 || signal === 'SIGINT', `it ended after the shutdown, with ${code ?? signal}`)
  })
})
