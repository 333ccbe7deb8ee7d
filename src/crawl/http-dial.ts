/** A connection to one of the vetted addresses of a host, by TCP or TLS. */

import { connect, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { codeOf, judge, judgeFailed, startTls } from './tls.ts'
import type { Certificate, Vetted } from './visit.ts'
import type { WebLimits } from './web-limits.ts'

/** Why there is no answer: the server's side (`silent`), or a reason of ours (`closed`). */
export type Miss = 'silent' | 'closed'

/** Where a host may be connected to, in the order of trying. `barred`: it has addresses that we do not try. */
export type Reach = { doors: readonly Vetted[]; barred: boolean }

/** `certificate` is null for plain TCP. */
export type Dialled = { socket: Socket | Miss; certificate: Certificate | null }

/** `host`: the name for SNI; `trust`: null for plain TCP. `opened` hears of every socket at once, to end it with the visit. */
export type DialOptions = {
  host: string
  trust: SecureContext | null
  limits: WebLimits
  opened(socket: Socket): void
}

/** How one attempt went: `ours` and `theirs` never came to a TCP connection. */
type Attempt = { socket: Socket; certificate: Certificate | null } | { failed: Certificate } | 'ours' | 'theirs'

/** Errors of this machine: no route, no address of that family, no file or port left, forbidden here. */
const OURS = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EMFILE', 'ENFILE', 'ENOBUFS', 'EACCES', 'EPERM'])

/** Tries one address after the other until TCP connects; a handshake that fails there is the host's answer. */
export async function dial(reach: Reach, options: DialOptions): Promise<Dialled> {
  let barred = reach.barred
  for (const door of reach.doors) {
    const attempt = await attemptAt(door, options)
    if (typeof attempt === 'object') {
      return 'failed' in attempt ? { socket: 'silent', certificate: attempt.failed } : attempt
    }
    if (attempt === 'ours') barred = true
  }
  const certificate: Certificate = { kind: barred ? 'unseen' : 'none' }
  return { socket: barred ? 'closed' : 'silent', certificate: options.trust === null ? null : certificate }
}

function attemptAt(door: Vetted, { host, trust, limits, opened }: DialOptions): Promise<Attempt> {
  return new Promise((resolve) => {
    const tls = trust === null ? null : startTls(door, host, trust)
    const socket = tls ?? connect({ host: door.address, port: door.port })
    opened(socket)
    let connected = false
    let settled = false
    let timer = setTimeout(() => fail(), limits.connect)
    const finish = (attempt: Attempt): void => {
      clearTimeout(timer)
      settled = true
      resolve(attempt)
    }
    const fail = (error?: Error): void => {
      if (settled) return
      if (connected && tls !== null) finish({ failed: judgeFailed(tls, host) })
      else finish(error !== undefined && OURS.has(codeOf(error)) ? 'ours' : 'theirs')
      socket.destroy()
    }
    socket.setNoDelay(true)
    socket.on('error', fail)
    socket.once('close', () => fail())
    socket.once('connect', () => {
      connected = true
      if (tls === null) return finish({ socket, certificate: null })
      clearTimeout(timer)
      timer = setTimeout(fail, limits.handshake)
    })
    tls?.once('secureConnect', () => finish({ socket: tls, certificate: judge(tls) }))
  })
}

/** The verdict on the certificate of a host by a handshake alone. */
export async function handshake(reach: Reach, options: DialOptions & { trust: SecureContext }): Promise<Certificate> {
  const { socket, certificate } = await dial(reach, options)
  if (typeof socket === 'object') socket.destroy()
  return certificate ?? { kind: 'unseen' }
}
