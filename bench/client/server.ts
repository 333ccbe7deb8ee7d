/** The server of bench:client, in a process of its own: sends one large file, and one answer to every other request. */

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOOKUP_EXAMPLE } from '../../src/api/endpoints/examples.ts'

const CHUNK = Buffer.alloc(65_536, 'a name in a list')
const chunks = Number(process.argv[2])

const hash = createHash('sha256')
for (let index = 0; index < chunks; index++) hash.update(CHUNK)
const fileHeaders = {
  ETag: '"file"',
  'Content-Length': String(chunks * CHUNK.length),
  'Repr-Digest': `sha-256=:${hash.digest('base64')}:`,
}
const answer = JSON.stringify(LOOKUP_EXAMPLE)
const answerHeaders = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(answer)) }

const server = createServer(async (request, response) => {
  if (!request.url!.startsWith('/files/')) return void response.writeHead(200, answerHeaders).end(answer)
  response.writeHead(200, fileHeaders)
  for (let index = 0; index < chunks; index++)
    if (!response.write(CHUNK)) await new Promise((resolve) => response.once('drain', resolve))
  response.end()
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
