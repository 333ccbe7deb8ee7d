/** Two API servers with equal content, one with the direct path and one without, and connections to them. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../../../src/accounts/token.ts'
import { type Api, createApi } from '../../../../src/api/api.ts'
import { ApiMetrics } from '../../../../src/api/http/metrics.ts'
import { openFolderFileStore } from '../../../../src/jobs/file-store/folder.ts'
import type { Observation } from '../../../../src/observe/observation.ts'
import { parseObservation } from '../../../../src/observe/observation-parser.ts'
import { openSimilarityService } from '../../../../src/similar/query/similarity-service.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { openStore } from '../../../../src/store/open.ts'
import { parseInstant } from '../../../../src/values/time.ts'
import { hosted, redirecting } from '../../../spec/observations.ts'
import { TESTER } from '../../../tester.ts'

/** One connection: segments, each sent when the server has read the one before, and how the client ends it. */
export type Script = { segments: readonly Buffer[]; ending: 'stay' | 'end' | 'destroy' }

/** What a client received, with the values replaced that differ between any two requests. */
export type Received = { text: string; isClosed: boolean }

/** `parsedByNode`: the number of requests that node:http has parsed. */
export type Twin = {
  api: Api
  parsedByNode: () => number
  run: (script: Script) => Promise<Received>
  close: () => Promise<void>
}

/** The only origin that may read responses. */
export const ORIGIN = 'https://allowed.example'
export const TOKEN = makeToken(new Uint8Array(TOKEN_BYTES).fill(7))
const NOW = parseInstant('2026-11-20T12:00:00Z')!
/** More rows than one chunk of a response contains. */
const NAMES_ON_ONE_ADDRESS = 8_000
/** The number of iterations of the event loop without a byte after which a server has nothing more to send. */
const QUIET_ITERATIONS = 3

/** A plain query for example.com, with text `before` its request line. */
export function queryText(endpoint: string, before = ''): string {
  const body = JSON.stringify({ token: TOKEN, query: 'example.com' })
  return `${before}POST /v1.0/${endpoint} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Starts one of the two servers. */
export async function startTwin(directPath: boolean): Promise<Twin> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-twin-'))
  const secret = 'a secret that both servers share!'
  const options = { access: 'write', ledger: 'thread', secret, now: () => NOW } as const
  const store = await openStore(`sqlite:${join(folder, 'domaindex.db')}`, options)
  await store.ledger
    .as(TESTER)
    .createAccount(
      { email: 'user@example.com', role: 'user', plan: 'premium', periods: [], addons: [] },
      NOW,
      newTokenRecord(TOKEN, 'test', null),
    )
  const lines = [hosted('example.com', ['192.0.2.1']), redirecting('from.example', 'example.com')]
  for (let index = 0; index < NAMES_ON_ONE_ADDRESS; index++) lines.push(hosted(`n${index}.example`, ['192.0.2.2']))
  const observations = lines.map((line) => parseObservation(JSON.stringify(line)) as Observation)
  assert.deepEqual(new Set(await ingest(store, observations)), new Set(['applied']))
  const api = await createApi({
    store,
    similarSearch: openSimilarityService(store),
    fileStore: openFolderFileStore(join(folder, 'files')),
    settings: { cors: [ORIGIN], trustedProxies: ['127.0.0.1'], directPath },
    now: () => NOW,
    monotonicMs: () => 0,
    log: pino({ level: 'silent' }),
    metrics: new ApiMetrics(),
  })
  const close = async (): Promise<void> => {
    await api.app.close()
    await store.close()
    await rm(folder, { recursive: true })
  }
  return { api, close, ...(await listen(api)) }
}

async function listen(api: Api): Promise<Pick<Twin, 'parsedByNode' | 'run'>> {
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
  const sockets: Socket[] = []
  const open = new Set<IncomingMessage>()
  let parsed = 0
  api.app.server.on('connection', (socket) => sockets.push(socket))
  api.app.server.on('request', (request, response) => {
    parsed++
    open.add(request)
    response.on('close', () => open.delete(request))
  })
  const needsRest = (request: IncomingMessage): boolean => !request.complete && request.listenerCount('data') > 0
  /** Whether the server works on a request, and does not wait for the rest of its body. */
  const isBusy = (): boolean => api.connections.pendingRequests > [...open].filter(needsRest).length
  const run = async ({ segments, ending }: Script): Promise<Received> => {
    const client = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true, noDelay: true })
    let text = ''
    let isClosed = false
    client.setEncoding('latin1').on('data', (chunk) => (text += chunk))
    client.on('error', () => {}).on('end', () => (isClosed = true))
    while (sockets.length === 0) await turn()
    const server = sockets.pop()!
    for (const segment of segments) {
      client.write(segment)
      await untilQuiet(isBusy, client, server)
    }
    if (ending === 'end') client.end()
    await untilQuiet(isBusy, client, server)
    client.destroy()
    while (api.connections.openConnections > 0) await turn()
    return { text: withoutVariables(text), isClosed }
  }
  return { parsedByNode: () => parsed, run }
}

/** Resolves when the server has read everything, answers nothing, and the client has received what was sent. */
async function untilQuiet(isBusy: () => boolean, client: Socket, server: Socket): Promise<void> {
  for (let quiet = 0; quiet < QUIET_ITERATIONS; quiet++) {
    await turn()
    const isRead = server.destroyed || server.bytesRead === client.bytesWritten
    const isReceived = client.destroyed || client.bytesRead === server.bytesWritten
    if (!isRead || !isReceived || isBusy()) quiet = 0
  }
}

/** Replaces request IDs, times, and the remaining calls, which each server learns from its ledger now and then. */
function withoutVariables(text: string): string {
  return text
    .replace(/^Request-Id: [\w-]+\r$/gm, 'Request-Id: *')
    .replace(/^Date: [\w ,:]+\r$/gm, 'Date: *')
    .replace(/^RateLimit: "daily";r=\d+;/gm, 'RateLimit: "daily";r=*;')
}
