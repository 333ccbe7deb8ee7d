/** Sends one response of a lab web server: selects the site by the Host header, then the reply by the path. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { type Reply, reply, type Site } from './site.ts'

const MISDIRECTED = reply(421, 'Nobody of that name lives here.')
const NOT_FOUND = reply(404, 'There is nothing here.')

export function answer(
  siteAt: (host: string) => Site | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const host = request.headers.host ?? request.headers[':authority'] ?? ''
  const site = siteAt(String(host).toLowerCase().replace(/:\d+$/, ''))
  const reply = site === undefined ? MISDIRECTED : choose(site, request)
  if ('wire' in reply) pipeline(Readable.from(reply.wire()), request.socket, () => {})
  else send(reply, response)
}

function choose(site: Site, { socket, url = '/' }: IncomingMessage): Reply {
  if (url === '/robots.txt') return site.robots ?? NOT_FOUND
  const answering = 'encrypted' in socket ? site.secure : site.plain
  return typeof answering === 'function' ? answering(url) : answering
}

/** Sends a body of several chunks as chunked, and ignores that the client may disconnect. */
function send({ status, headers, body }: Exclude<Reply, { wire: unknown }>, response: ServerResponse): void {
  response.writeHead(status, headers)
  if (typeof body === 'function') pipeline(Readable.from(body()), response, () => {})
  else response.end(body)
}
