/** Random connections: plain queries, and what differs from them in one place or in several. */

import { type RandomSource, randomChoice, randomInt } from '../../../../bench/world/random.ts'
import { ORIGIN, type Script, TOKEN } from './twin-servers.ts'

const CRLF = '\r\n'

const PARAMETERS: readonly Record<string, unknown>[] = [
  { query: 'example.com' },
  { query: 'from.example' },
  { query: 'unknown.example' },
  { query: 'n1.example' },
  { query: 'n1.example', limit: 2 },
  { query: '192.0.2.2' },
  { query: '192.0.2.2', limit: 50_000 },
  { query: '192.0.2.2', limit: 20 },
  { query: 'example.com', type: 'A' },
  { query: 'not a name' },
  { query: 'bücher.example' },
  { date: '2026-11-19' },
  { date: '2026-11-19', file: 1 },
  { file: '1' },
  { query: 7, next: 'x' },
  {},
]

const ENDPOINTS = [
  'lookup',
  'lookup',
  'redirect',
  'reverseip',
  'reverseip',
  'dnshistory',
  'daily',
  'snapshot',
  'similar',
]

/** Fields that a plain query may have. */
const PLAIN_FIELDS = [
  'Content-Type: application/json',
  'Accept: */*',
  'Accept: text/csv',
  'accept:application/x-ndjson;q=0.9, application/json;q=0.1',
  'User-Agent: agent/1.0 (a; b) "c"',
  'Accept-Encoding: gzip, deflate',
  'accept-encoding:gzip;q=0',
  'Connection: keep-alive',
  'connection:\tKeep-Alive ',
  `Origin: ${ORIGIN}`,
  'Origin: https://other.example',
  'X-Forwarded-For: 198.51.100.7',
  'X-Forwarded-For: 198.51.100.7, 127.0.0.1',
  'x-forwarded-for: unknown',
  'Authorization: Bearer abc',
  'Cookie: a=b; c="d"',
  'X-Empty:',
  'X-Spaces: \t a  b \t ',
  `X-Padding: ${'y'.repeat(1_100)}`, // more than node:http gets at once
] as const

/** Fields and lines that are no part of a plain query, or that parsers could read in different ways. */
const ODD_LINES = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'transfer-encoding : chunked',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: +9',
  'Content-Length: 9, 9',
  'Content-Length : 9',
  'Content-Length: 0x9',
  'Content-Length: 99999999999999999999',
  'Connection: close',
  'Connection: keep-alive, close',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'Expect: nothing',
  'Trailer: X',
  'TE: trailers',
  'Proxy-Connection: close',
  ' folded: line',
  '\tfolded',
  'No colon',
  ': no name',
  'N\u00e4me: value',
  'X-Latin: \u00e9',
  'X-Null: \0',
  'X-Bell: \x07',
  'X-Return: a\rb',
  'X-Newline: a\nb: c',
  'X (comment): y',
  'Host: a',
  `X-Long: ${'y'.repeat(9_000)}`,
] as const

const REQUEST_LINES = [
  'GET /healthz HTTP/1.1',
  `GET /v1.0/lookup?token=${TOKEN}&query=example.com HTTP/1.1`,
  'OPTIONS /v1.0/lookup HTTP/1.1',
  'HEAD /v1.0/lookup HTTP/1.1',
  'PUT /v1.0/lookup HTTP/1.1',
  'post /v1.0/lookup HTTP/1.1',
  'POST /v1.0/lookup HTTP/1.0',
  'POST /v1.0/lookup HTTP/2.0',
  'POST /v1.0/lookup HTTP/1.1 ',
  'POST  /v1.0/lookup HTTP/1.1',
  'POST\t/v1.0/lookup HTTP/1.1',
  'POST /v1.0/lookup/ HTTP/1.1',
  'POST //v1.0/lookup HTTP/1.1',
  'POST /v1.0/LOOKUP HTTP/1.1',
  'POST /v1.0/lookup?a=b HTTP/1.1',
  'POST /v1.0/lookup#a HTTP/1.1',
  'POST /v1.0/look%75p HTTP/1.1',
  'POST http://a/v1.0/lookup HTTP/1.1',
  'POST /v1.0/none HTTP/1.1',
  'POST /v1.0/lookup',
  '',
] as const

const ODD_BODIES = [
  '{',
  '[]',
  'null',
  '""',
  '{"token":7}',
  '{"token":"bad","query":"example.com"}',
  '\u00ef\u00bb\u00bf{}',
  '\u00ff',
] as const

/** The ways in which a request differs from a plain query. */
const DIFFERENCES = ['body', 'line', 'length', 'added', 'removed', 'separator', 'byte'] as const
type Difference = (typeof DIFFERENCES)[number]

/** Returns a connection: up to four plain queries, then up to two other requests. */
export function randomScript(random: RandomSource): Script {
  const plain = Array.from({ length: randomInt(random, 5) }, () => randomRequest(random, []))
  const others = Array.from({ length: randomInt(random, 3) }, () => {
    const differences = [
      randomChoice(random, DIFFERENCES),
      ...(random() < 0.3 ? [randomChoice(random, DIFFERENCES)] : []),
    ]
    return randomRequest(random, differences)
  })
  const requests = [...plain, ...others]
  const way = random()
  const segments = way < 0.1 ? cut([Buffer.concat(requests)], random) : way < 0.3 ? cut(requests, random) : requests
  return { segments, ending: randomChoice(random, ['stay', 'stay', 'end', 'destroy']) }
}

function randomRequest(random: RandomSource, differences: readonly Difference[]): Buffer {
  const has = (difference: Difference): boolean => differences.includes(difference)
  const body = has('body') ? randomChoice(random, ODD_BODIES) : plainBody(random)
  const line = has('line')
    ? randomChoice(random, REQUEST_LINES)
    : `POST /v1.0/${randomChoice(random, ENDPOINTS)} HTTP/1.1`
  const length = body.length + (has('length') ? randomInt(random, 9) - 4 : 0)
  const fields = ['Host: localhost', `Content-Length: ${length}`]
  for (let count = randomInt(random, 4); count > 0; count--) fields.push(randomChoice(random, PLAIN_FIELDS))
  if (has('added')) fields.splice(randomInt(random, fields.length + 1), 0, randomChoice(random, ODD_LINES))
  if (has('removed')) fields.splice(randomInt(random, fields.length), 1)
  const separator = has('separator') ? randomChoice(random, ['\n', '\r', '\r\n\r\n']) : CRLF
  const request = Buffer.from([line, ...fields, '', body].join(separator), 'latin1')
  return has('byte') ? changed(request, random) : request
}

/** The body of a plain query as the characters of its bytes. */
function plainBody(random: RandomSource): string {
  const parameters = { ...(random() < 0.95 && { token: TOKEN }), ...randomChoice(random, PARAMETERS) }
  return Buffer.from(JSON.stringify(parameters)).toString('latin1')
}

/** Changes, inserts or removes one byte. */
function changed(request: Buffer, random: RandomSource): Buffer {
  const at = randomInt(random, request.length)
  const byte = Buffer.from([
    random() < 0.5 ? randomInt(random, 256) : randomChoice(random, [...Buffer.from(' \t\r\n:,;\0')]),
  ])
  const kept = randomChoice(random, [at, at + 1])
  return Buffer.concat([request.subarray(0, at), ...(random() < 0.7 ? [byte] : []), request.subarray(kept)])
}

/** Cuts some segments at random places. */
function cut(segments: readonly Buffer[], random: RandomSource): Buffer[] {
  return segments.flatMap((segment) => {
    const at = randomInt(random, segment.length + 1)
    return [segment.subarray(0, at), segment.subarray(at)].filter((part) => part.length > 0)
  })
}
