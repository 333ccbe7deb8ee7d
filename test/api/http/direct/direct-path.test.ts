/** The direct path: its responses are those of node:http, byte for byte, whatever a client sends. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { seededRandom } from '../../../../bench/world/random.ts'
import { randomScript } from './scripts.ts'
import { type Script, startTwin, TOKEN, type Twin } from './twin-servers.ts'

const SCRIPTS = 400
const DRAINED_SCRIPTS = 50

const [direct, plain] = await Promise.all([startTwin(true), startTwin(false)])
after(() => Promise.all([direct.close(), plain.close()]))

/** Runs scripts on both servers. Returns how many requests the direct path answered. */
async function compare(scripts: number, seed: number): Promise<number> {
  const before = plain.parsedByNode() - direct.parsedByNode()
  for (let index = 0; index < scripts; index++) {
    const script = randomScript(seededRandom(seed, index, 0))
    const [actual, expected] = [await direct.run(script), await plain.run(script)]
    assert.deepEqual(actual, expected, `script ${index}: ${JSON.stringify(script.segments.map(String))}`)
  }
  return plain.parsedByNode() - direct.parsedByNode() - before
}

function query(parameters: object, ...fields: string[]): Buffer {
  const body = JSON.stringify({ token: TOKEN, ...parameters })
  const lines = ['POST /v1.0/reverseip HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body]
  return Buffer.from(lines.join('\r\n'))
}

/** Runs one script on both servers, and returns the response to its last request without its head. */
async function lastBody(script: Script): Promise<string> {
  const [actual, expected] = [await direct.run(script), await plain.run(script)]
  assert.deepEqual(actual, expected)
  return actual.text.split('\r\n\r\n').at(-1)!
}

function assertNothingIsLeft({ api }: Twin): void {
  const { openConnections, pendingRequests, unparsedBytes } = api.connections
  assert.deepEqual(
    { openConnections, pendingRequests, unparsedBytes },
    { openConnections: 0, pendingRequests: 0, unparsedBytes: 0 },
  )
}

test('random connections get the same bytes with and without the direct path, and leave nothing behind', async () => {
  const taken = await compare(SCRIPTS, 1)
  assert.ok(taken > SCRIPTS / 2, `the direct path answered only ${taken} requests`)
  for (const twin of [direct, plain]) assertNothingIsLeft(twin)
})

test('a long page in parts is complete on the direct path, plain and in chunks of gzip, and the connection stays usable', async () => {
  const long = { query: '192.0.2.2', limit: 50_000 }
  const before = plain.parsedByNode() - direct.parsedByNode()
  const body = await lastBody({ segments: [query({}), query(long)], ending: 'stay' })
  assert.equal(JSON.parse(body).result.length, 8_000)
  const after = {
    segments: [query({}), query(long, 'Accept-Encoding: gzip'), query({ query: 'n1.example', limit: 1 })],
  }
  assert.equal(JSON.parse(await lastBody({ ...after, ending: 'stay' })).result.length, 1)
  assert.equal(plain.parsedByNode() - direct.parsedByNode() - before, 3)
})

test('while the server drains, responses on the direct path announce and close the connection', async () => {
  direct.api.drain()
  plain.api.drain()
  await compare(DRAINED_SCRIPTS, 2)
  for (const twin of [direct, plain]) assertNothingIsLeft(twin)
})
