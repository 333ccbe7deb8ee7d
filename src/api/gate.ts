/** The gate: from a token to the account that calls, trusted for half a second before the ledger is asked again. */

import type { Account } from '../accounts/account.ts'
import { LIMITS, type Limits, type PlanLimits, planInForce } from '../accounts/plan.ts'
import { hashToken, isActive, readToken } from '../accounts/token.ts'
import type { Ledger, Standing } from '../store/ledger.ts'
import { type Day, dayOf, type Instant } from '../words/time.ts'
import type { ClientLimits } from './client-limits.ts'
import { Refusal } from './errors.ts'

/** Who calls, with what the account may have at this moment. */
export type Caller = {
  account: Account
  /** Number of the token. */
  token: number
  limits: PlanLimits
  now: Instant
  today: Day
}

export type GateOptions = {
  ledger: Pick<Ledger, 'standing'>
  /** Of the plans; by default those of the specification. */
  limits?: Limits | undefined
  clients: Pick<ClientLimits, 'expectFewFailures'>
  now: () => Instant
  /** Milliseconds of a clock that is never set. */
  ticks: () => number
}

/** Milliseconds for which a token's standing is trusted: a revoked one is refused everywhere within a second. */
const TRUST = 500
/** Tokens that are remembered, the oldest forgotten first. */
const REMEMBERED = 10_000

const SUSPENDED = 'The account is suspended, and its tokens are not active: ask the operator of this service.'

type Known = { standing: Standing; until: number }

export class Gate {
  readonly #options: GateOptions
  readonly #known = new Map<string, Known>()
  readonly #asked = new Map<string, Promise<Standing | null>>()

  constructor(options: GateOptions) {
    this.#options = options
  }

  /**
   * The caller that a token stands for, at once if the token is remembered. Throws `token_missing` and `token_invalid`, and the
   * refusal of a token that is not remembered, from an address with too many that were none.
   */
  admit(token: unknown, address: string): Caller | Promise<Caller> {
    const text = typeof token === 'string' ? token.trim() : token
    if (typeof text !== 'string' || text === '') {
      this.#options.clients.expectFewFailures(address)
      throw new Refusal(text === undefined || text === null || text === '' ? 'token_missing' : 'token_invalid')
    }
    const known = this.#known.get(text)
    if (known !== undefined && this.#options.ticks() < known.until) return this.#judge(known.standing)
    if (known === undefined) this.#options.clients.expectFewFailures(address)
    return this.#ask(text).then((standing) => this.#judge(standing))
  }

  #judge(standing: Standing | null): Caller {
    const now = this.#options.now()
    if (standing === null || !isActive(standing.token, now)) throw new Refusal('token_invalid')
    if (standing.account.suspended !== null) throw new Refusal('token_invalid', { msg: SUSPENDED })
    return callerOf(standing, this.#options.limits ?? LIMITS, now)
  }

  /** Asks the ledger, once for all that ask at the same time. */
  #ask(text: string): Promise<Standing | null> {
    const asked = this.#asked.get(text)
    if (asked !== undefined) return asked
    const asking = this.#read(text).finally(() => this.#asked.delete(text))
    this.#asked.set(text, asking)
    return asking
  }

  async #read(text: string): Promise<Standing | null> {
    const token = readToken(text)
    if (token === null) return null
    const until = this.#options.ticks() + TRUST
    const standing = await this.#options.ledger.standing(hashToken(token))
    this.#known.delete(text)
    if (standing !== null) this.#known.set(text, { standing, until })
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value ?? '')
    return standing
  }
}

function callerOf({ account, token }: Standing, plans: Limits, now: Instant): Caller {
  const today = dayOf(now)
  return { account, token: token.id, limits: plans[planInForce(account, today)], now, today }
}
