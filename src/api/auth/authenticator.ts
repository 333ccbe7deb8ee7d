/** The gate: from a token to the account that calls, trusted for half a second before the ledger is asked again. */

import type { Account } from '../../accounts/account.ts'
import { DEFAULT_PLAN_LIMITS, type PlanLimits, type PlanLimitTable, planInForce } from '../../accounts/plan.ts'
import { hashToken, isActive, parseToken } from '../../accounts/token.ts'
import type { Ledger, TokenStanding } from '../../store/port/ledger.ts'
import { type Day, dayOf, type Instant } from '../../values/time.ts'
import { ApiError } from '../errors.ts'
import type { ClientLimits } from '../http/limits/client-limits.ts'

/** Who calls, with what the account may have at this moment. */
export type Caller = {
  account: Account
  /** Number of the token. */
  token: number
  limits: PlanLimits
  now: Instant
  today: Day
}

export type AuthenticatorOptions = {
  ledger: Pick<Ledger, 'findToken'>
  /** Of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  clients: Pick<ClientLimits, 'checkFailures'>
  now: () => Instant
  /** Milliseconds of a clock that is never set. */
  monotonicMs: () => number
}

/** Milliseconds for which a token's standing is trusted: a revoked one is refused everywhere within a second. */
const CACHE_MS = 500
/** Tokens that are remembered, the oldest forgotten first. */
const MAX_CACHED_TOKENS = 10_000

const SUSPENDED_MESSAGE = 'The account is suspended, and its tokens are not active: ask the operator of this service.'

type CachedToken = { found: TokenStanding; until: number }

export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #cache = new Map<string, CachedToken>()
  readonly #pendingLookups = new Map<string, Promise<TokenStanding | null>>()

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * The caller that a token stands for, at once if the token is remembered. Throws `token_missing` and `token_invalid`, and the
   * refusal of a token that is not remembered, from an address with too many that were none.
   */
  authenticate(token: unknown, address: string): Caller | Promise<Caller> {
    const text = typeof token === 'string' ? token.trim() : token
    if (typeof text !== 'string' || text === '') {
      this.#options.clients.checkFailures(address)
      throw new ApiError(text === undefined || text === null || text === '' ? 'token_missing' : 'token_invalid')
    }
    const known = this.#cache.get(text)
    if (known !== undefined && this.#options.monotonicMs() < known.until) return this.#callerFrom(known.found)
    if (known === undefined) this.#options.clients.checkFailures(address)
    return this.#findToken(text).then((standing) => this.#callerFrom(standing))
  }

  #callerFrom(standing: TokenStanding | null): Caller {
    const now = this.#options.now()
    if (standing === null || !isActive(standing.token, now)) throw new ApiError('token_invalid')
    if (standing.account.suspended !== null) throw new ApiError('token_invalid', { msg: SUSPENDED_MESSAGE })
    return createCaller(standing, this.#options.limits ?? DEFAULT_PLAN_LIMITS, now)
  }

  /** Asks the ledger, once for all that ask at the same time. */
  #findToken(text: string): Promise<TokenStanding | null> {
    const pending = this.#pendingLookups.get(text)
    if (pending !== undefined) return pending
    const asking = this.#loadToken(text).finally(() => this.#pendingLookups.delete(text))
    this.#pendingLookups.set(text, asking)
    return asking
  }

  async #loadToken(text: string): Promise<TokenStanding | null> {
    const token = parseToken(text)
    if (token === null) return null
    const until = this.#options.monotonicMs() + CACHE_MS
    const standing = await this.#options.ledger.findToken(hashToken(token))
    this.#cache.delete(text)
    if (standing !== null) this.#cache.set(text, { found: standing, until })
    if (this.#cache.size > MAX_CACHED_TOKENS) this.#cache.delete(this.#cache.keys().next().value ?? '')
    return standing
  }
}

function createCaller({ account, token }: TokenStanding, plans: PlanLimitTable, now: Instant): Caller {
  const today = dayOf(now)
  return { account, token: token.id, limits: plans[planInForce(account, today)], now, today }
}
