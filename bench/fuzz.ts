/**
 * Hostile input, a million times by default: nothing may throw, hang or grow. `--inputs N`, `--seed N`, `--only KIND`;
 * a failure prints the seed and the number of the input that it came with.
 */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { parseArgs } from 'node:util'
import { generate } from 'selfsigned'
import { startPageText } from '../src/observe/page-text.ts'
import { socialAccounts } from '../src/observe/social/social-accounts.ts'
import { encodeQuery, isAnswerTo } from '../src/probe/dns/message/query.ts'
import { parseReply } from '../src/probe/dns/message/reply.ts'
import { parseContentEncoding } from '../src/probe/http/body.ts'
import { HttpClient } from '../src/probe/http/client.ts'
import { WEB_LIMITS } from '../src/probe/http/limits.ts'
import { isProbeable, resolveRedirect } from '../src/probe/http/redirect-location.ts'
import { charsetDecoderFor } from '../src/probe/page/charset.ts'
import { createPageReader } from '../src/probe/page/page.ts'
import { robotsAllow } from '../src/probe/policy/robots.ts'
import { certificateAfterFailure, createTlsContexts } from '../src/probe/tls/handshake.ts'
import { usableRecords } from '../src/values/dns-record.ts'
import { parseName } from '../src/values/domain-name.ts'
import type { IpAddress } from '../src/values/ip-address.ts'
import { certificate, dnsMessage, fieldValue, hostName, htmlPage, httpAnswer } from './fuzz/inputs.ts'
import { figure, type Line, report } from './measure/report.ts'
import { type Dice, diceOf } from './world/random.ts'

type Feed = (dice: Dice) => unknown
type Kind = { what: string; share: number; open(): Promise<{ feed: Feed; close?(): void }> }

const MEBIBYTE = 1024 * 1024
const DOMAIN = parseName('a.example')!

const KINDS: readonly Kind[] = [
  { what: 'dns', share: 0.4, open: async () => ({ feed: feedDns() }) },
  { what: 'fields', share: 0.19, open: async () => ({ feed: feedFields }) },
  { what: 'heads', share: 0.01, open: openHeads },
  { what: 'html', share: 0.2, open: async () => ({ feed: feedHtml }) },
  { what: 'certificates', share: 0.2, open: async () => ({ feed: await feedCertificates() }) },
]

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})
const inputs = Number(values.inputs)
const seed = Number(values.seed)
const lines: Line[] = []
for (const [salt, kind] of KINDS.entries()) {
  if (values.only === undefined || values.only === kind.what) lines.push(...(await run(kind, salt)))
}
report('fuzz', lines, [`seed ${seed}; peak memory is that of the whole process by then`], { inputs, seed })

async function run({ what, share, open }: Kind, salt: number): Promise<Line[]> {
  const count = Math.round(inputs * share)
  const { feed, close } = await open()
  let slowest = 0
  let peak = 0
  const begun = performance.now()
  for (let index = 0; index < count; index++) {
    const dice = diceOf(seed, index, salt)
    const before = performance.now()
    try {
      const fed = feed(dice)
      if (fed instanceof Promise) await fed
    } catch (error) {
      console.error(`${what}: input ${index} of seed ${seed} failed`)
      throw error
    }
    slowest = Math.max(slowest, performance.now() - before)
    if (index % 1000 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  }
  const seconds = (performance.now() - begun) / 1000
  close?.()
  return [
    figure(`${what}: inputs`, count, ''),
    figure(`${what}: rate`, count / seconds, 'inputs/s'),
    figure(`${what}: slowest input`, slowest, 'ms'),
    figure(`${what}: peak memory`, peak / MEBIBYTE, 'MiB'),
  ]
}

function feedDns(): Feed {
  const queries = (['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const).map((type) => {
    const query = encodeQuery('a.example', type, false)
    if (query === null) throw new Error('a.example is no host')
    return query
  })
  return (dice) => {
    const query = queries[Math.floor(dice() * queries.length)]!
    const message = dnsMessage(dice, query.bytes)
    isAnswerTo(message, query)
    const said = parseReply(message, query)
    return said.outcome === 'records' && usableRecords(query.type, said.records)
  }
}

function feedFields(dice: Dice): void {
  const from = new URL('https://a.example/b')
  charsetDecoderFor(Buffer.from(fieldValue(dice)), fieldValue(dice))
  parseContentEncoding(fieldValue(dice))
  const target = resolveRedirect(fieldValue(dice), from)
  if (target !== null) isProbeable(target)
  robotsAllow(`User-agent: *\n${fieldValue(dice)}: ${fieldValue(dice)}\n`, from.origin, 'domaindex')
}

function feedHtml(dice: Dice): void {
  const reader = createPageReader({ contentType: fieldValue(dice), url: 'https://a.example/' })
  const html = htmlPage(dice)
  const size = 1 + Math.floor(dice() * 4096)
  for (let at = 0; at < html.length; at += size) reader.write(html.subarray(at, at + size))
  const { page } = reader.end()
  socialAccounts(page, DOMAIN)
  startPageText(page.text)
}

/** A real certificate, its names changed in place; the socket is a stand-in for one whose handshake failed. */
async function feedCertificates(): Promise<Feed> {
  const names = ['a.example', '*.a.example', 'b.example', 'xn--bcher-kva.example'].map((value) => ({
    type: 2 as const,
    value,
  }))
  const made = await generate([{ name: 'commonName', value: 'a.example' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: names }],
  })
  const der = new X509Certificate(made.cert).raw
  const from = der.indexOf('a.example') - 12
  const to = der.lastIndexOf('xn--bcher-kva.example') + 24
  return (dice) => {
    const shown = readable(certificate(dice, der, from, to))
    const handle = { getPeerCertificate: () => ({ raw: shown?.raw }) }
    if (shown !== null) certificateAfterFailure({ _handle: handle } as unknown as TLSSocket, hostName(dice), 'legacy')
  }
}

/** What OpenSSL does not read is no certificate: the handshake ends before it comes. */
function readable(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der)
  } catch {
    return null
  }
}

/** Whole answers over a real connection, which the server closes behind them. */
async function openHeads() {
  let next: Buffer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(next))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const door = { address: '127.0.0.1' as IpAddress, port }
  const trust = createTlsContexts([])
  const feed = async (dice: Dice): Promise<void> => {
    next = httpAnswer(dice)
    const reach = async () => ({ endpoints: [door], hasUnreachable: false })
    const http = new HttpClient({ endpointsOf: reach, tlsContexts: trust, userAgent: 'domaindex', limits: WEB_LIMITS })
    const reply = await http.get(new URL('http://a.example/'))
    if (typeof reply === 'object') await reply.read(() => {}, WEB_LIMITS)
    http.close()
  }
  return { feed, close: () => server.close() }
}
