/** A few servers on loopback, names that resolve to them, and a web prober for both. */

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { generate } from 'selfsigned'
import type { Resolver } from '../../src/probe/dns/resolver.ts'
import { type Guard, makeGuard, type PortMapping } from '../../src/probe/guard.ts'
import type { WebLimits } from '../../src/probe/http/limits.ts'
import type { CertificateResult, WebProbeResult } from '../../src/probe/probe-result.ts'
import { createWebProber, type WebProber } from '../../src/probe/web.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../src/values/ip-address.ts'

export type KeyAndCertificate = { key: string; cert: string }
/** What a server sends on each connection. `request` is everything it received up to the end of a head. */
export type Answerer = (request: string, socket: Socket) => void

export const AGENT = 'domaindex/0.1 (+https://domaindex.example)'
export const HOME = '127.0.0.1' as IpAddress

const EC = { keyType: 'ec', algorithm: 'sha256' } as const

export async function makeAuthority(name = 'An authority'): Promise<KeyAndCertificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...EC,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return { key: made.private, cert: made.cert }
}

/** A certificate for these names. `ca` null: self-signed. Days count from now. */
export async function certify(
  names: readonly string[],
  ca: KeyAndCertificate | null,
  days: { from: number; to: number } = { from: -1, to: 30 },
): Promise<KeyAndCertificate> {
  const made = await generate([{ name: 'commonName', value: names[0] ?? 'nobody' }], {
    ...EC,
    ...(ca === null ? {} : { ca }),
    notBeforeDate: new Date(Date.now() + days.from * 86_400_000),
    notAfterDate: new Date(Date.now() + days.to * 86_400_000),
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2 as const, value })) }],
  })
  return { key: made.private, cert: made.cert }
}

export const authority = await makeAuthority()

export class Internet {
  readonly stands: PortMapping[] = []
  /** Every accepted connection, as `address:mapped port`. */
  readonly taken: string[] = []
  readonly asked: string[] = []
  /** PEM, trusted in addition to Node's roots. */
  readonly roots = [authority.cert]
  readonly #names = new Map<string, readonly string[] | (() => readonly string[])>()
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #webs: WebProber[] = []

  constructor(t: Pick<TestContext, 'after'>) {
    t.after(() => this.#close())
  }

  /** Resolves a name to loopback addresses, or to what a function returns each time. */
  name(host: string, ...addresses: string[]): this {
    return this.nameBy(host, () => addresses)
  }

  nameBy(host: string, addresses: () => readonly string[]): this {
    this.#names.set(host, addresses)
    return this
  }

  /** Serves plain HTTP, or the bytes of `answer`, at `address` and port 80. */
  plain(answer: Answerer, address: string = HOME): Promise<this> {
    return this.stand(
      createServer((socket) => this.#converse(socket, answer)),
      80,
      address,
    )
  }

  /** The same over TLS at port 443. */
  secure(answer: Answerer, identity: KeyAndCertificate & TlsOptions, address: string = HOME): Promise<this> {
    const server = createTlsServer(identity, (socket) => this.#converse(socket, answer))
    server.on('tlsClientError', () => {})
    return this.stand(server, 443, address)
  }

  async stand(server: Server, standsFor: number, address: string): Promise<this> {
    server.on('connection', (socket: Socket) => {
      this.taken.push(`${address}:${standsFor}`)
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    this.#servers.push(server)
    const { port } = server.address() as { port: number }
    this.stands.push({ address: parseAddress(address)!, port, publicPort: standsFor })
    return this
  }

  /** A port that refuses connections. */
  async refuse(standsFor: number, address: string = HOME): Promise<this> {
    await this.stand(createServer(), standsFor, address)
    await new Promise((resolve) => this.#servers.pop()?.close(resolve))
    return this
  }

  get resolver(): Resolver {
    return {
      resolve: async (host, type) => {
        this.asked.push(`${host} ${type}`)
        const addresses = this.#names.get(host)
        if (addresses === undefined) return { outcome: 'nxdomain' }
        const all = typeof addresses === 'function' ? addresses() : addresses
        const records = all.filter((address) => (type === 'A') === !address.includes(':'))
        return { outcome: 'records', records, aliases: [] }
      },
      close: async () => {},
    }
  }

  get guard(): Guard {
    return makeGuard({ portMappings: this.stands })
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')))
  }

  web(limits: Partial<WebLimits> = {}, resolver: Resolver = this.resolver): WebProber {
    const web = createWebProber({ resolver, guard: this.guard, roots: this.roots, userAgent: AGENT, limits })
    this.#webs.push(web)
    return web
  }

  /** Probes a name with its addresses. */
  async look(host: string, limits?: Partial<WebLimits>): Promise<WebProbeResult | null> {
    const known = this.#names.get(host) ?? []
    const addresses = (typeof known === 'function' ? known() : known).map((text) => parseAddress(text)!)
    return this.web(limits).probe(named(host), { addresses })
  }

  #converse(socket: Socket, answer: Answerer): void {
    let received = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const request = received.slice(0, end)
        received = received.slice(end + 4)
        answer(request, socket)
      }
    })
  }

  async #close(): Promise<void> {
    await Promise.all(this.#webs.map((web) => web.close()))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

export function named(host: string): DomainName {
  const name = parseName(host)
  if (name === null) throw new TypeError(`${host} is no name`)
  return name
}

/** A complete response with its length. */
export function answer(status: number, fields: Record<string, string> = {}, body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body as string)
  const lines = Object.entries({ 'content-length': String(bytes.length), ...fields }).map(
    ([key, value]) => `${key}: ${value}`,
  )
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('\r\n')}\r\n\r\n`), bytes])
}

export const PAGE = '<title>A page</title><p>Words of the page.</p>'

export function page(body: string | Uint8Array = PAGE, fields: Record<string, string> = {}): Buffer {
  return answer(200, { 'content-type': 'text/html; charset=utf-8', ...fields }, body)
}

/** Responds by path, with 404 for robots.txt and every other missing path. */
export function paths(table: Record<string, Buffer | string>): Answerer {
  return (request, socket) => {
    const [, path = ''] = request.split(' ', 2)
    socket.write(table[path] ?? answer(404, { 'content-type': 'text/html' }, 'nothing here'))
  }
}

/** Writes the same bytes for as long as the client reads. */
export function endless(socket: Socket, start: string | Buffer, piece: Buffer): void {
  socket.write(start)
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

/** The verdict on a certificate, without its bytes. */
export function verdictOf(seen: WebProbeResult | null): CertificateResult | undefined {
  if (seen?.certificate.kind !== 'presented') return seen?.certificate
  const { der: _bytes, ...verdict } = seen.certificate
  return verdict
}
