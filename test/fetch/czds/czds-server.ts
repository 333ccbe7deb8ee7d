/** A local server that speaks the CZDS REST API (version 1.0.9), with the faults that a test requests. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { until } from '../../until.ts'

export const USER = 'ann@example.com'
export const PASSWORD = 'correct horse'

export type Zone = { bytes: Buffer; modified: string }

/** `answers`: the responses that the next requests of a path get instead, in turn. */
export type State = {
  zones: Record<string, Zone>
  links: string[] | null
  answers: Record<string, ((request: IncomingMessage, response: ServerResponse) => unknown)[]>
  isRangeRead: boolean
  token: string
}

export async function czdsServer(t: TestContext, zones: Record<string, Zone>) {
  const state: State = { zones, links: null, answers: {}, isRangeRead: true, token: 'token-1' }
  const seen: { line: string; headers: IncomingMessage['headers'] }[] = []
  let [busy, most] = [0, 0]
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++busy)
    response.on('close', () => busy--)
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers })
    const instead = state.answers[`${request.method} ${request.url}`]?.shift()
    if (instead !== undefined) instead(request, response)
    else if (request.url === '/api/authenticate') await authenticate(state, request, response)
    else if (request.headers.authorization !== `Bearer ${state.token}`) response.writeHead(401).end()
    else if (request.url === '/czds/downloads/links') response.end(JSON.stringify(state.links ?? linksOf(state, base)))
    else sendZone(state, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { base, state, seen, maxAtOnce: () => most, lines: () => seen.map(({ line }) => line) }
}

function linksOf({ zones }: State, base: string): string[] {
  return Object.keys(zones).map((zone) => `${base}/czds/downloads/${zone}.zone`)
}

async function authenticate({ token }: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const piece of request) text += piece
  const { username, password } = JSON.parse(text)
  if (username !== USER || password !== PASSWORD)
    response.writeHead(401).end('{"message":"Invalid username or password."}')
  else response.end(JSON.stringify({ accessToken: token, message: 'Authentication Successful' }))
}

function sendZone({ zones, isRangeRead }: State, request: IncomingMessage, response: ServerResponse): void {
  const name = /^\/czds\/downloads\/(.+)\.zone$/.exec(request.url ?? '')?.[1] ?? ''
  const zone = zones[name]
  if (zone === undefined) {
    response.writeHead(404).end()
    return
  }
  const { bytes, modified } = zone
  const headers = {
    'content-type': 'application/x-gzip',
    'content-disposition': `attachment;filename=${name}.txt.gz`,
    'last-modified': modified,
  }
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
  const isPart = isRangeRead && from > 0 && request.headers['if-range'] === modified
  const sent = bytes.subarray(isPart ? from : 0)
  const range = isPart ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}
  response.writeHead(isPart ? 206 : 200, { ...headers, ...range, 'content-length': sent.length })
  response.end(request.method === 'HEAD' ? undefined : sent)
}

/**
 * A response that sends so many bytes of a zone and then breaks the connection. Bytes that are still in buffers are
 * lost.
 */
export const breakOff =
  ({ bytes, modified }: Zone, after: number, haveCome: () => boolean = () => true) =>
  async (_: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'last-modified': modified, 'content-length': bytes.length })
    response.write(bytes.subarray(0, after))
    await until(haveCome)
    response.socket!.end()
  }

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(code, headers).end('{"message":"x"}')
  }
