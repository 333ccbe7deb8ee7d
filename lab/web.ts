/** The web servers of the lab: both ports of every machine, on free ports of its address. */

import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, type TlsOptions } from 'node:tls'
import type { PortMapping } from '../src/probe/guard.ts'
import { type IpAddress, parseAddress } from '../src/values/ip-address.ts'
import type { Identity, Kind } from './authority.ts'
import { HARBOUR, MACHINES, type PortBehaviour } from './hosts.ts'
import type { Site } from './site.ts'
import { type LabAddresses, openSockets, type Sockets } from './sockets.ts'
import { answer } from './web-answer.ts'

export type WebServers = {
  portMappings: readonly PortMapping[]
  disconnectFamily(family: 4 | 6): Promise<void>
  close(): Promise<void>
}

/** Allows a server to use weak certificates and old protocols. */
const WEAK = 'DEFAULT:@SECLEVEL=0'

/** `siteAt`: returns the current site of a host. `identities`: one for each kind of certificate. */
export type Content = { siteAt: (host: string) => Site | undefined; identities: ReadonlyMap<Kind, Identity> }

type Listeners = Record<Exclude<PortBehaviour, 'refused'>, (socket: Socket) => void>

/** Starts every machine. It leaves out `::1` on a computer without IPv6. Throws if the addresses are not available. */
export async function startWeb(content: Content, addresses: LabAddresses = 'per_host'): Promise<WebServers> {
  const listeners = listenersOf(content)
  const sockets = await openSockets(addresses)
  const opened = Object.entries(MACHINES).flatMap(([text, { plain, secure }]) => {
    const address = parseAddress(text)!
    return [open(sockets, listeners, address, plain, 80), open(sockets, listeners, address, secure, 443)]
  })
  const portMappings = (await Promise.all(opened)).filter((mapping) => mapping !== null)
  if (portMappings.some(({ address }) => address === HARBOUR))
    return { portMappings, disconnectFamily: sockets.disconnectFamily, close: sockets.close }
  await sockets.close()
  throw new Error(`this computer does not answer on ${HARBOUR}: start the lab on one address`)
}

async function open(
  sockets: Sockets,
  listeners: Listeners,
  address: IpAddress,
  side: PortBehaviour,
  publicPort: number,
): Promise<PortMapping | null> {
  const port =
    side === 'refused' ? await sockets.reserveClosedPort(address) : await sockets.listen(address, listeners[side])
  if (port === null) return null
  const at = sockets.addressOf(address)
  return at === address ? { address, port, publicPort } : { address, port, publicPort, connectTo: at }
}

/** The HTTP servers do not listen themselves: they receive connections of many ports. */
function listenersOf(content: Content): Listeners {
  const plain = createHttp((request, response) => answer(content.siteAt, request, response))
  const shared = { ...content.identities.get('other'), ALPNProtocols: ['http/1.1'], SNICallback: chooser(content) }
  const encrypted = (options: TlsOptions = {}) => {
    const server = createHttps({ ...shared, ...options }, (request, response) =>
      answer(content.siteAt, request, response),
    )
    return (socket: Socket) => void server.emit('connection', socket)
  }
  const modern = createSecureServer({ ...shared, ALPNProtocols: ['h2'] }, (request, response) =>
    // the compatible API has everything that a response needs
    answer(content.siteAt, request as unknown as IncomingMessage, response as unknown as ServerResponse),
  )
  return {
    http: (socket) => void plain.emit('connection', socket),
    https: encrypted(),
    mute: (socket) => void socket.resume(),
    banner: (socket) => void socket.resume().write('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'),
    cut: (socket) => void socket.once('data', () => socket.destroy()),
    old: encrypted({ minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: WEAK }),
    demanding: encrypted({ requestCert: true, rejectUnauthorized: true }),
    http2: (socket) => void modern.emit('connection', socket),
  }
}

/** Returns the certificate of the requested host, or one of another host if the name is unknown. */
function chooser({ siteAt, identities }: Content): NonNullable<TlsOptions['SNICallback']> {
  const contexts = new Map<Kind, SecureContext>()
  for (const [kind, identity] of identities) contexts.set(kind, createSecureContext({ ...identity, ciphers: WEAK }))
  return (host, done) => done(null, contexts.get(siteAt(host)?.certificate ?? (siteAt(host) ? 'valid' : 'other')))
}
