/** One answer of a web server of the lab: the site by the Host field, then what it says to the path. */

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
  const said = site === undefined ? MISDIRECTED : choose(site, request)
  if ('wire' in said) pipeline(Readable.from(said.wire()), request.socket, () => {})
  else send(said, response)
}

function choose(site: Site, { socket, url = '/' }: IncomingMessage): Reply {
  if (url === '/robots.txt') return site.robots ?? NOT_FOUND
  const answering = 'encrypted' in socket ? site.secure : site.plain
  return typeof answering === 'function' ? answering(url) : answering
}

/** A body in pieces goes out chunked; nobody minds when the client hangs up. */
function send({ status, headers, body }: Exclude<Reply, { wire: unknown }>, response: ServerResponse): void {
  response.writeHead(status, headers)
  if (typeof body === 'function') pipeline(Readable.from(body()), response, () => {})
  else response.end(body)
}
