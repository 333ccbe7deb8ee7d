/** The authenticator: resolves a token to an account, with a cache of half a second. */

import { createHash } from 'node:crypto'
import type { Account } from '../../accounts/account.ts'
import { DEFAULT_PLAN_LIMITS, type PlanLimits, type PlanLimitTable, planInForce } from '../../accounts/plan.ts'
import { hashToken, isActive, parseToken } from '../../accounts/token.ts'
import type { Ledger, TokenStanding } from '../../store/port/ledger.ts'
import { type Day, dayOf, type Instant } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import type { ClientLimits } from '../http/limits/client-limits.ts'

/** The caller of a request, with the limits that apply now. */
export type Caller = {
  account: Account
  /** The ID of the token. */
  token: number
  limits: PlanLimits
  now: Instant
  today: Day
}

type AuthenticatorOptions = {
  ledger: Pick<Ledger, 'findToken' | 'findFeed'>
  /** The limits of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  clients: Pick<ClientLimits, 'checkFailures'>
  now: () => Instant
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
}

/** Milliseconds for which a token is cached, so that every process rejects a revoked token within a second. */
const CACHE_MS = 500
/** The maximum number of cached tokens. The oldest is removed first. */
const MAX_CACHED_TOKENS = 10_000

/** What the usage has in place of a token: that of the web page. */
const NO_TOKEN = 0

const NO_FEED_KEY_MESSAGE = 'There is no key: create a link with POST /feed.'
const UNKNOWN_FEED_MESSAGE = 'The link is not valid any more: create another one with POST /feed.'
const SUSPENDED_MESSAGE = 'The account of this token is suspended: ask the operator of this service.'

type CachedToken = { standing: TokenStanding; expiresAt: number }

export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #cache = new Map<string, CachedToken>()
  readonly #pendingLookups = new Map<string, Promise<TokenStanding | null>>()

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * Returns the caller of a token, without a promise if the token is cached. Throws `token_missing` and
   * `token_invalid`. For a token that is not cached, also throws if the address has too many failed authentications.
   */
  authenticate(token: unknown, address: string): Caller | Promise<Caller> {
    const text = typeof token === 'string' ? token.trim() : token
    if (typeof text !== 'string' || text === '') {
      this.#options.clients.checkFailures(address)
      throw new ApiError(text === undefined || text === null || text === '' ? 'token_missing' : 'token_invalid')
    }
    const cached = this.#cache.get(text)
    if (cached !== undefined && this.#options.monotonicMs() < cached.expiresAt) return this.#callerFrom(cached.standing)
    if (cached === undefined) this.#options.clients.checkFailures(address)
    return this.#findToken(text).then((standing) => this.#callerFrom(standing))
  }

  /** The caller of the key of a feed. Throws `token_missing` and `token_invalid`. Its calls have no token. */
  async authenticateFeed(key: string | null, address: string): Promise<Caller> {
    this.#options.clients.checkFailures(address)
    if (key === null) throw new ApiError('token_missing', { msg: NO_FEED_KEY_MESSAGE })
    const account = await this.#options.ledger.findFeed(hashFeedKey(key))
    if (account === null) throw new ApiError('token_invalid', { msg: UNKNOWN_FEED_MESSAGE })
    if (account.suspended !== null) throw new ApiError('token_invalid', { msg: SUSPENDED_MESSAGE })
    return createCaller(account, NO_TOKEN, this.#options.limits ?? DEFAULT_PLAN_LIMITS, this.#options.now())
  }

  #callerFrom(standing: TokenStanding | null): Caller {
    const now = this.#options.now()
    if (standing === null || !isActive(standing.token, now)) throw new ApiError('token_invalid')
    if (standing.account.suspended !== null) throw new ApiError('token_invalid', { msg: SUSPENDED_MESSAGE })
    return createCaller(standing.account, standing.token.id, this.#options.limits ?? DEFAULT_PLAN_LIMITS, now)
  }

  /** Loads a token from the ledger. Concurrent requests share one query. */
  #findToken(text: string): Promise<TokenStanding | null> {
    const pending = this.#pendingLookups.get(text)
    if (pending !== undefined) return pending
    const lookup = this.#loadToken(text).finally(() => this.#pendingLookups.delete(text))
    this.#pendingLookups.set(text, lookup)
    return lookup
  }

  async #loadToken(text: string): Promise<TokenStanding | null> {
    const token = parseToken(text)
    if (token === null) return null
    const expiresAt = this.#options.monotonicMs() + CACHE_MS
    const standing = await this.#options.ledger.findToken(hashToken(token))
    this.#cache.delete(text)
    if (standing !== null) this.#cache.set(text, { standing, expiresAt })
    if (this.#cache.size > MAX_CACHED_TOKENS) this.#cache.delete(this.#cache.keys().next().value ?? '')
    return standing
  }
}

/** The SHA-256 of the key of a feed, by which it is found. */
export function hashFeedKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function createCaller(account: Account, token: number, plans: PlanLimitTable, now: Instant): Caller {
  const today = dayOf(now)
  return { account, token, limits: plans[planInForce(account, today)], now, today }
}
