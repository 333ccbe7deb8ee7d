/** Hostile inputs from a seed: DNS messages, HTTP fields and heads, pages, and the names of certificates. */

import { type Answer, encode, type Packet } from 'dns-packet'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { HTML_PIECES } from '../../test/probe/page/html-pieces.ts'
import { type RandomSource, randomChoice, randomInt } from '../world/random.ts'

const HOSTS = ['a.example', 'www.a.example', 'b.example', '\\000.example', `${'a'.repeat(63)}.example`, '.']
const FIELD_PIECES = [
  'a',
  'text/html',
  'utf-8',
  '"',
  ';',
  ',',
  '=',
  ' ',
  '\t',
  'charset',
  'gzip',
  'br',
  '/',
  '://',
  '%',
  '[::1]',
  'é',
]

/** An answer to `query` with bytes changed, moved, cut off or added. One in ten is random bytes. */
export function dnsMessage(random: RandomSource, query: Buffer): Buffer {
  if (random() < 0.1) return Buffer.concat([query.subarray(0, 12), randomBytes(random, randomInt(random, 600))])
  const packet: Packet = {
    type: 'response',
    id: 0,
    flags: randomInt(random, 0x800) & ~15,
    questions: [{ type: 'A', name: 'a.example' }],
    answers: Array.from({ length: randomInt(random, 6) }, () => record(random)),
    authorities: Array.from({ length: randomInt(random, 2) }, () => record(random)),
  }
  const message = encode(packet)
  for (let count = randomInt(random, 8); count > 0; count--)
    message[randomInt(random, message.length)] = randomInt(random, 256)
  for (let count = randomInt(random, 3); count > 0; count--) {
    const at = 12 + randomInt(random, message.length - 12)
    message[at] = 0xc0 // a pointer to anywhere
    if (at + 1 < message.length) message[at + 1] = randomInt(random, message.length)
  }
  return random() < 0.2 ? message.subarray(0, 12 + randomInt(random, message.length - 12)) : message
}

function record(random: RandomSource): Answer {
  const name = randomChoice(random, HOSTS.slice(0, 3))
  const data = randomChoice(random, HOSTS.slice(0, 3))
  return randomChoice<Answer>(random, [
    { type: 'A', name, data: '192.0.2.1' },
    { type: 'AAAA', name, data: '2001:db8::1' },
    { type: 'CNAME', name, data },
    { type: 'NS', name, data },
    { type: 'MX', name, data: { preference: randomInt(random, 65_536), exchange: data } },
    {
      type: 'TXT',
      name,
      data: [randomBytes(random, randomInt(random, 200)), randomBytes(random, randomInt(random, 50))],
    },
    { type: 'SOA', name, data: { mname: data, rname: name, serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 } },
  ])
}

/** A field value: usual parts in a wrong order, and random bytes. */
export function fieldValue(random: RandomSource): string {
  let value = ''
  for (let count = randomInt(random, 12); count > 0; count--) {
    value +=
      random() < 0.7 ? randomChoice(random, FIELD_PIECES) : randomBytes(random, randomInt(random, 6)).toString('latin1')
  }
  return random() < 0.02 ? value.repeat(200) : value
}

const HEAD_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 301 Moved',
  'HTTP/1.1 100 Continue',
  'HTTP/1.0 200',
  'HTTP/9.9 999 x',
  'ICY 200',
  'Location: /',
  'Content-Length: 5',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Content-Encoding: gzip',
  'Content-Encoding: zstd',
  'Content-Type: text/html',
  'Set-Cookie: a=b',
  ': nothing',
  ' folded',
  'Connection: close',
]

/** An HTTP response: head lines in any order, random fields, and a body that may not match them. */
export function httpResponse(random: RandomSource): Buffer {
  if (random() < 0.1) return randomBytes(random, randomInt(random, 2000))
  const lines = random() < 0.9 ? ['HTTP/1.1 200 OK'] : []
  for (let count = randomInt(random, 12); count > 0; count--) {
    lines.push(random() < 0.7 ? randomChoice(random, HEAD_LINES) : `${fieldValue(random)}: ${fieldValue(random)}`)
  }
  const body = random() < 0.5 ? Buffer.from('5\r\nhello\r\n0\r\n\r\n') : randomBytes(random, randomInt(random, 3000))
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** A page of a few dozen pieces. One in a thousand repeats them up to two megabytes. */
export function htmlPage(random: RandomSource): Buffer {
  let html = ''
  for (let count = randomInt(random, 60); count > 0; count--) {
    html +=
      random() < 0.8 ? randomChoice(random, HTML_PIECES) : randomBytes(random, randomInt(random, 10)).toString('latin1')
  }
  if (random() < 0.001 && html !== '') html = html.repeat(Math.floor(2_000_000 / html.length))
  return Buffer.from(html, random() < 0.5 ? 'utf8' : 'latin1')
}

/** A certificate with a few changed bytes between `from` and `to`, where its names are. */
export function certificate(random: RandomSource, der: Uint8Array, from: number, to: number): Buffer {
  const changed = Buffer.from(der)
  for (let count = 1 + randomInt(random, 6); count > 0; count--)
    changed[from + randomInt(random, to - from)] = randomInt(random, 256)
  return changed
}

/** A name to compare a certificate with, in the crawler's spelling. */
export function hostName(random: RandomSource): DomainName {
  return (
    parseName(`${fieldValue(random)}.example`) ??
    (randomChoice(random, ['a.example', 'www.a.example', 'c.example']) as DomainName)
  )
}

function randomBytes(random: RandomSource, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; at++) bytes[at] = randomInt(random, 256)
  return bytes
}
