/** Hostile inputs by the seed: DNS messages, fields and heads of HTTP, pages and the names of certificates. */

import { type Answer, encode, type Packet } from 'dns-packet'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { below, type Dice, oneOf } from '../world/random.ts'

const HOSTS = ['a.example', 'www.a.example', 'b.example', '\\000.example', `${'a'.repeat(63)}.example`, '.']
const WORDS = [
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

/** Everything that a fuzzed page is put together from. */
const MARKS = [
  '<',
  '>',
  '</',
  '/>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!doctype html>',
  '&',
  '&#',
  '&#x110000;',
  '&amp',
  ';',
  '"',
  "'",
  '=',
  ' ',
  '\n',
  '\0',
  '<p',
  '<p>',
  '</p>',
  '<a href="',
  '">',
  '</a>',
  '<base href=',
  '<script>',
  '</script>',
  '<script type="application/ld+json">',
  '{"sameAs":[',
  '"https://x.com/a"',
  ']}',
  '<svg>',
  '</svg>',
  '<title>',
  '</title>',
  '<template>',
  '<noscript>',
  '<li hidden>',
  '<table><tr><td>',
  '<meta http-equiv=refresh content="0;url=',
  'https://',
  'facebook.com/',
  'text',
  '\u{1f600}',
]

/** An answer to `query` with bytes changed, moved, cut off or added; now and then nothing but chance. */
export function dnsMessage(dice: Dice, query: Buffer): Buffer {
  if (dice() < 0.1) return Buffer.concat([query.subarray(0, 12), randomBytes(dice, below(dice, 600))])
  const packet: Packet = {
    type: 'response',
    id: 0,
    flags: below(dice, 0x800) & ~15,
    questions: [{ type: 'A', name: 'a.example' }],
    answers: Array.from({ length: below(dice, 6) }, () => record(dice)),
    authorities: Array.from({ length: below(dice, 2) }, () => record(dice)),
  }
  const message = encode(packet)
  for (let times = below(dice, 8); times > 0; times--) message[below(dice, message.length)] = below(dice, 256)
  for (let times = below(dice, 3); times > 0; times--) {
    const at = 12 + below(dice, message.length - 12)
    message[at] = 0xc0 // a pointer to anywhere
    if (at + 1 < message.length) message[at + 1] = below(dice, message.length)
  }
  return dice() < 0.2 ? message.subarray(0, 12 + below(dice, message.length - 12)) : message
}

function record(dice: Dice): Answer {
  const name = oneOf(dice, HOSTS.slice(0, 3))
  const data = oneOf(dice, HOSTS.slice(0, 3))
  return oneOf<Answer>(dice, [
    { type: 'A', name, data: '192.0.2.1' },
    { type: 'AAAA', name, data: '2001:db8::1' },
    { type: 'CNAME', name, data },
    { type: 'NS', name, data },
    { type: 'MX', name, data: { preference: below(dice, 65_536), exchange: data } },
    { type: 'TXT', name, data: [randomBytes(dice, below(dice, 200)), randomBytes(dice, below(dice, 50))] },
    { type: 'SOA', name, data: { mname: data, rname: name, serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 } },
  ])
}

/** The value of a field: its usual parts in a wrong order, and chance. */
export function fieldValue(dice: Dice): string {
  let value = ''
  for (let times = below(dice, 12); times > 0; times--) {
    value += dice() < 0.7 ? oneOf(dice, WORDS) : randomBytes(dice, below(dice, 6)).toString('latin1')
  }
  return dice() < 0.02 ? value.repeat(200) : value
}

const LINES = [
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

/** What a web server sends: lines of a head in any order, fields of chance, and a body that may not fit them. */
export function httpAnswer(dice: Dice): Buffer {
  if (dice() < 0.1) return randomBytes(dice, below(dice, 2000))
  const lines = dice() < 0.9 ? ['HTTP/1.1 200 OK'] : []
  for (let times = below(dice, 12); times > 0; times--) {
    lines.push(dice() < 0.7 ? oneOf(dice, LINES) : `${fieldValue(dice)}: ${fieldValue(dice)}`)
  }
  const body = dice() < 0.5 ? Buffer.from('5\r\nhello\r\n0\r\n\r\n') : randomBytes(dice, below(dice, 3000))
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** A page of a few dozen marks; one in a thousand repeats them to two megabytes. */
export function htmlPage(dice: Dice): Buffer {
  let html = ''
  for (let times = below(dice, 60); times > 0; times--) {
    html += dice() < 0.8 ? oneOf(dice, MARKS) : randomBytes(dice, below(dice, 10)).toString('latin1')
  }
  if (dice() < 0.001 && html !== '') html = html.repeat(Math.floor(2_000_000 / html.length))
  return Buffer.from(html, dice() < 0.5 ? 'utf8' : 'latin1')
}

/** A certificate whose bytes from `from` to `to`, where its names stand, are changed in a few places. */
export function certificate(dice: Dice, der: Uint8Array, from: number, to: number): Buffer {
  const changed = Buffer.from(der)
  for (let times = 1 + below(dice, 6); times > 0; times--) changed[from + below(dice, to - from)] = below(dice, 256)
  return changed
}

/** A name to compare a certificate with, as the crawler spells names. */
export function hostName(dice: Dice): DomainName {
  return (
    parseName(`${fieldValue(dice)}.example`) ?? (oneOf(dice, ['a.example', 'www.a.example', 'c.example']) as DomainName)
  )
}

function randomBytes(dice: Dice, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; at++) bytes[at] = below(dice, 256)
  return bytes
}
