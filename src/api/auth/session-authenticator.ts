/**
 * The authenticator of the web page: resolves the session of a cookie to an account, with a cache of half a second, and
 * checks that a request comes from a page of this server.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { DEFAULT_PLAN_LIMITS, type PlanLimitTable, planInForce } from '../../accounts/plan.ts'
import { hashSecret, sessionEnd, type WebSession } from '../../accounts/session.ts'
import type { SessionStanding, SignIns } from '../../store/port/accounts/sign-in.ts'
import { dayOf, type Instant } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import type { Caller } from './authenticator.ts'

/** The caller of a request of the web page. Its token is 0. */
export type SessionCaller = Caller & { session: WebSession }

type SessionAuthenticatorOptions = {
  ledger: Pick<SignIns, 'findSession' | 'touchSession'>
  origins: Pick<OriginCheck, 'check'>
  /** The limits of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  now: () => Instant
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  onFault: (fault: unknown) => void
}

/** The token under which the calls of sessions are recorded. */
const SESSION_TOKEN = 0

export const SESSION_COOKIE = '__Host-domaindex'
const COOKIE_PATTERN = new RegExp(`(?:^|; *)${SESSION_COOKIE}=([^;]*)`)

/** Milliseconds for which a session is cached, so that every process rejects an ended one within a second. */
const CACHE_MS = 500
/** The maximum number of cached sessions. The oldest is removed first. */
const MAX_CACHED_SESSIONS = 10_000
/** Seconds between two records that a session is in use. */
const TOUCH_SECONDS = 60

type CachedSession = { standing: SessionStanding; expiresAt: number }

export class SessionAuthenticator {
  readonly #options: SessionAuthenticatorOptions
  readonly #cache = new Map<string, CachedSession>()

  constructor(options: SessionAuthenticatorOptions) {
    this.#options = options
  }

  /**
   * Returns the caller of a request. `csrf`: whether the request must come from a page of this server and have the
   * header X-CSRF-Token, because it changes something or is charged. Throws `session_missing` and `origin_refused`.
   */
  async authenticateSession(request: ApiRequest, { csrf }: { csrf: boolean }): Promise<SessionCaller> {
    const secret = sessionSecret(request)
    const caller = secret === null ? null : await this.#findCaller(secret)
    if (secret === null || caller === null) throw new ApiError('session_missing')
    request.accessRecord.account = caller.account.id
    if (csrf) {
      this.#options.origins.check(request)
      if (!isEqual(String(request.headers['x-csrf-token'] ?? ''), csrfToken(secret)))
        throw new ApiError('origin_refused')
    }
    return caller
  }

  /** The session of a request without any check of its origin; null if there is none. `csrf`: its CSRF token. */
  async findSession(request: ApiRequest): Promise<{ caller: SessionCaller; csrf: string } | null> {
    const secret = sessionSecret(request)
    const caller = secret === null ? null : await this.#findCaller(secret)
    return secret === null || caller === null ? null : { caller, csrf: csrfToken(secret) }
  }

  async #findCaller(secret: string): Promise<SessionCaller | null> {
    const { now: clock, limits = DEFAULT_PLAN_LIMITS } = this.#options
    const standing = await this.#findStanding(secret)
    const now = clock()
    if (standing === null) return null
    const { account, session } = standing
    if (account.suspended !== null || sessionEnd(session) <= now) return null
    this.#touch(session, now)
    const today = dayOf(now)
    return { account, session, token: SESSION_TOKEN, limits: limits[planInForce(account, today)], now, today }
  }

  async #findStanding(secret: string): Promise<SessionStanding | null> {
    const { ledger, monotonicMs } = this.#options
    const cached = this.#cache.get(secret)
    if (cached !== undefined && monotonicMs() < cached.expiresAt) return cached.standing
    const hash = hashSecret(secret)
    if (hash === null) return null
    const expiresAt = monotonicMs() + CACHE_MS
    const standing = await ledger.findSession(hash)
    this.#cache.delete(secret)
    if (standing !== null) this.#cache.set(secret, { standing, expiresAt })
    if (this.#cache.size > MAX_CACHED_SESSIONS) this.#cache.delete(this.#cache.keys().next().value ?? '')
    return standing
  }

  /** Records at most once a minute that a session is in use. No request waits for it. */
  #touch(session: WebSession, now: Instant): void {
    if (now - session.last_used < TOUCH_SECONDS) return
    session.last_used = now // the cached one, so that this process writes once
    this.#options.ledger.touchSession(session.id, now).catch(this.#options.onFault)
  }
}

/** The CSRF token of a session: whoever knows it knows the cookie, which no script can read. */
export function csrfToken(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url')
}

function sessionSecret({ headers }: ApiRequest): string | null {
  return COOKIE_PATTERN.exec(headers.cookie ?? '')?.[1] ?? null
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Checks that a request of a browser comes from a page of this server. */
export class OriginCheck {
  readonly #publicOrigin: string | null

  /** `publicUrl`: the address that users see; null if it is the host that they request. */
  constructor(publicUrl: string | null) {
    this.#publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  }

  /**
   * Throws `origin_refused` if the headers Sec-Fetch-Site (W3C Fetch Metadata) or Origin (RFC 6454) name another page.
   * A client that sends neither is not a browser.
   */
  check({ headers }: ApiRequest): void {
    const site = headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin') throw new ApiError('origin_refused')
    const { origin } = headers
    if (origin === undefined) return
    if (this.#publicOrigin !== null ? origin === this.#publicOrigin : hostOf(origin) === headers.host) return
    throw new ApiError('origin_refused')
  }
}

/** The host and port of an origin; null if it is not the origin of a web page. A proxy may have ended its TLS. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
