/**
 * `npm run bench:fuzz`: feeds a million hostile inputs to the parsers. Nothing may throw, hang or grow.
 * Options: `--inputs N`, `--seed N`, `--only KIND`. If an input fails, the bench prints the seed and the number of the
 * input.
 */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { parseArgs } from 'node:util'
import { generate } from 'selfsigned'
import { socialAccounts, startPageText } from '../src/observe/observe.ts'
import { encodeQuery, isAnswerTo } from '../src/probe/dns/message/query.ts'
import { parseReply } from '../src/probe/dns/message/reply.ts'
import { parseContentEncoding } from '../src/probe/http/body.ts'
import { HttpClient } from '../src/probe/http/client.ts'
import { WEB_LIMITS } from '../src/probe/http/limits.ts'
import { isProbeable, resolveRedirect } from '../src/probe/http/redirect-location.ts'
import { charsetDecoderFor, createPageReader } from '../src/probe/page/page.ts'
import { robotsAllow } from '../src/probe/policy/robots.ts'
import { certificateAfterFailure, createTlsContexts } from '../src/probe/tls/handshake.ts'
import { parseName } from '../src/values/domain-name.ts'
import type { IpAddress } from '../src/values/ip-address.ts'
import { usableRecords } from '../src/values/records/dns-record.ts'
import { certificate, dnsMessage, fieldValue, hostName, htmlPage, httpResponse } from './fuzz/inputs.ts'
import { type Metric, metric, report } from './measure/report.ts'
import { type RandomSource, seededRandom } from './world/random.ts'

type Feed = (random: RandomSource) => unknown
type FuzzTarget = { name: string; share: number; open(): Promise<{ feed: Feed; close?(): void }> }

const MEBIBYTE = 1024 * 1024
const DOMAIN = parseName('a.example')!

const FUZZ_TARGETS: readonly FuzzTarget[] = [
  { name: 'dns', share: 0.4, open: async () => ({ feed: feedDns() }) },
  { name: 'fields', share: 0.19, open: async () => ({ feed: feedFields }) },
  { name: 'heads', share: 0.01, open: startHeadFeed },
  { name: 'html', share: 0.2, open: async () => ({ feed: feedHtml }) },
  { name: 'certificates', share: 0.2, open: async () => ({ feed: await feedCertificates() }) },
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
const metrics: Metric[] = []
for (const [salt, target] of FUZZ_TARGETS.entries()) {
  if (values.only === undefined || values.only === target.name) metrics.push(...(await fuzzTarget(target, salt)))
}
report('fuzz', metrics, [`seed ${seed}; peak memory: of the whole process up to then`], { inputs, seed })

async function fuzzTarget({ name, share, open }: FuzzTarget, salt: number): Promise<Metric[]> {
  const count = Math.round(inputs * share)
  const { feed, close } = await open()
  let slowest = 0
  let peak = 0
  const startedAt = performance.now()
  for (let index = 0; index < count; index++) {
    const random = seededRandom(seed, index, salt)
    const before = performance.now()
    try {
      const result = feed(random)
      if (result instanceof Promise) await result
    } catch (error) {
      console.error(`${name}: input ${index} of seed ${seed} failed`)
      throw error
    }
    slowest = Math.max(slowest, performance.now() - before)
    if (index % 1000 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  }
  const seconds = (performance.now() - startedAt) / 1000
  close?.()
  return [
    metric(`${name}: inputs`, count, ''),
    metric(`${name}: rate`, count / seconds, 'inputs/s'),
    metric(`${name}: slowest input`, slowest, 'ms'),
    metric(`${name}: peak memory`, peak / MEBIBYTE, 'MiB'),
  ]
}

function feedDns(): Feed {
  const queries = (['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const).map((type) => {
    const query = encodeQuery('a.example', type, false)
    if (query === null) throw new Error('a.example is not a host name')
    return query
  })
  return (random) => {
    const query = queries[Math.floor(random() * queries.length)]!
    const message = dnsMessage(random, query.bytes)
    isAnswerTo(message, query)
    const reply = parseReply(message, query)
    return reply.outcome === 'records' && usableRecords(query.type, reply.records)
  }
}

function feedFields(random: RandomSource): void {
  const from = new URL('https://a.example/b')
  charsetDecoderFor(Buffer.from(fieldValue(random)), fieldValue(random))
  parseContentEncoding(fieldValue(random))
  const target = resolveRedirect(fieldValue(random), from)
  if (target !== null) isProbeable(target)
  robotsAllow(`User-agent: *\n${fieldValue(random)}: ${fieldValue(random)}\n`, from.origin, 'domaindex')
}

function feedHtml(random: RandomSource): void {
  const reader = createPageReader({ contentType: fieldValue(random), url: 'https://a.example/' })
  const html = htmlPage(random)
  const size = 1 + Math.floor(random() * 4096)
  for (let at = 0; at < html.length; at += size) reader.write(html.subarray(at, at + size))
  const { page } = reader.end()
  socialAccounts(page, DOMAIN)
  startPageText(page.text)
}

/** Changes the names of a real certificate in place. The socket stands in for one whose handshake failed. */
async function feedCertificates(): Promise<Feed> {
  const names = ['a.example', '*.a.example', 'b.example', 'xn--bcher-kva.example'].map((value) => ({
    type: 2 as const,
    value,
  }))
  const generated = await generate([{ name: 'commonName', value: 'a.example' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: names }],
  })
  const der = new X509Certificate(generated.cert).raw
  const from = der.indexOf('a.example') - 12
  const to = der.lastIndexOf('xn--bcher-kva.example') + 24
  return (random) => {
    const parsed = parseCertificate(certificate(random, der, from, to))
    const handle = { getPeerCertificate: () => ({ raw: parsed?.raw }) }
    if (parsed !== null)
      certificateAfterFailure({ _handle: handle } as unknown as TLSSocket, hostName(random), 'legacy')
  }
}

/** If OpenSSL cannot parse the bytes, the handshake fails before there is a certificate. */
function parseCertificate(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der)
  } catch {
    return null
  }
}

/** Sends whole responses over a real connection, which the server closes afterwards. */
async function startHeadFeed() {
  let next: Buffer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(next))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = { address: '127.0.0.1' as IpAddress, port }
  const tlsContexts = createTlsContexts([])
  const feed = async (random: RandomSource): Promise<void> => {
    next = httpResponse(random)
    const endpointsOf = async () => ({ endpoints: [endpoint], hasUnreachable: false })
    const http = new HttpClient({
      endpointsOf,
      tlsContexts,
      userAgent: 'domaindex',
      limits: WEB_LIMITS,
    })
    const reply = await http.get(new URL('http://a.example/'))
    if (typeof reply === 'object') await reply.read(() => {}, WEB_LIMITS)
    http.close()
  }
  return { feed, close: () => server.close() }
}
