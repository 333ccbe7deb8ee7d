/** A connection to one of the vetted addresses of a host, by TCP or TLS. */

import { connect, type Socket } from 'node:net'
import { waitFor } from './patience.ts'
import { codeOf, judge, judgeFailed, type Manner, startTls, type Trust } from './tls.ts'
import type { Turns } from './turns.ts'
import type { Certificate, Vetted } from './visit.ts'
import type { WebLimits } from './web-limits.ts'

/** Why there is no answer: the server's side (`silent`), or a reason of ours (`closed`). */
export type Miss = 'silent' | 'closed'

/** Where a host may be connected to, in the order of trying. `barred`: it has addresses that we do not try. */
export type Reach = { doors: readonly Vetted[]; barred: boolean }

/** `certificate` is null for plain TCP, `door` where no connection came about. */
export type Dialled = { socket: Socket | Miss; certificate: Certificate | null; door: Vetted | null }

/** `host`: the name for SNI; `trust`: null for plain TCP. `opened` hears of every socket at once, to end it with the visit. */
export type DialOptions = {
  host: string
  trust: Trust | null
  /** `http2`: for a server that is known to speak nothing else; there is no second handshake then. */
  manner?: 'usual' | 'http2'
  limits: WebLimits
  /** None: nobody has to wait. */
  turns?: Turns | undefined
  opened(socket: Socket): void
}

/**
 * How one attempt went: `ours` and `theirs` never came to a TCP connection. `failed`: a handshake, and what was shown before;
 * `final`: another manner would not help, as time ran out, or the server turned us away after it had shown its certificate.
 */
type Attempt = Connected | Failed | 'ours' | 'theirs'
type Failed = { failed: Certificate; final: boolean; next: Manner }
type Connected = { socket: Socket; certificate: Certificate | null }

/** Errors of this machine: no route, no address of that family, no file or port left, forbidden here. */
const OURS = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EMFILE', 'ENFILE', 'ENOBUFS', 'EACCES', 'EPERM'])

const LATE = new Error('no time is left')

/** The server speaks none of the protocols that were named (RFC 7301, chapter 3.2). */
const NO_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/** Tries one address after the other, each in its turn, until TCP connects; a handshake that fails there is the host's answer. */
export async function dial(reach: Reach, options: DialOptions): Promise<Dialled> {
  const { trust, turns, manner = 'usual' } = options
  let { barred } = reach
  let held: Vetted | null = null
  for (const door of turns?.sort(reach.doors) ?? reach.doors) {
    if (turns !== undefined && !(await turns.at(door))) {
      held ??= door
      continue
    }
    const attempt = await attemptAt(door, manner, options)
    if (typeof attempt === 'object')
      return 'failed' in attempt ? await again(door, attempt, options) : { ...attempt, door }
    if (attempt === 'ours') barred = true
  }
  if (turns !== undefined && held !== null) turns.held ??= held.address
  barred ||= held !== null
  const certificate: Certificate = { kind: barred ? 'unseen' : 'none' }
  return { socket: barred ? 'closed' : 'silent', certificate: trust === null ? null : certificate, door: null }
}

/** A handshake that failed is offered once more in another manner; the verdict is the first one that there was. */
async function again(door: Vetted, first: Failed, options: DialOptions): Promise<Dialled> {
  const isLast = first.final || options.manner === 'http2'
  const second = isLast ? null : await attemptAt(door, first.next, options)
  const last = typeof second === 'object' ? second : null
  const { socket, certificate } = last !== null && 'socket' in last ? last : missed(last?.failed ?? first.failed)
  return { socket, certificate: first.failed.kind === 'shown' ? first.failed : certificate, door }
}

function missed(certificate: Certificate): Pick<Dialled, 'socket' | 'certificate'> {
  return { socket: 'silent', certificate }
}

function attemptAt(door: Vetted, manner: Manner, { host, trust, limits, opened }: DialOptions): Promise<Attempt> {
  return new Promise((resolve) => {
    const ending = (error: Error | null) => fail(error)
    const tls = trust === null ? null : startTls(door, host, { trust, manner, ending })
    const socket = tls ?? connect({ host: door.at ?? door.address, port: door.port })
    opened(socket)
    let connected = false
    let settled = false
    let stop = waitFor(limits.connect, () => fail(LATE))
    const finish = (attempt: Attempt): void => {
      stop()
      settled = true
      resolve(attempt)
    }
    const fail = (error: Error | null): void => {
      if (settled) return
      if (connected && tls !== null) finish(failure(judgeFailed(tls, host, manner), error))
      else finish(error !== null && OURS.has(codeOf(error)) ? 'ours' : 'theirs')
      socket.destroy()
    }
    socket.setNoDelay(true)
    socket.on('error', fail)
    socket.once('close', () => fail(null))
    socket.once('connect', () => {
      connected = true
      if (tls === null) return finish({ socket, certificate: null })
      stop()
      stop = waitFor(limits.handshake, () => fail(LATE))
    })
    tls?.once('secureConnect', () => finish({ socket: tls, certificate: judge(tls, manner) }))
  })
}

function failure(failed: Certificate, error: Error | null): Failed {
  const code = error === null ? '' : codeOf(error)
  const turnedAway = failed.kind === 'shown' && code.includes('ALERT') && code !== NO_PROTOCOL
  return { failed, final: error === LATE || turnedAway, next: code === NO_PROTOCOL ? 'http2' : 'old' }
}

/** The verdict on the certificate of a host by a handshake alone. */
export async function handshake(reach: Reach, options: DialOptions & { trust: Trust }): Promise<Certificate> {
  const { socket, certificate } = await dial(reach, options)
  if (typeof socket === 'object') socket.destroy()
  return certificate ?? { kind: 'unseen' }
}
