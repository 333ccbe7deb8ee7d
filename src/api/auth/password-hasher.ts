/** Hashes and verifies passwords with Argon2id (RFC 9106) in threads of its library, a few at once. */

import { hash, verify } from '@node-rs/argon2'
import { normalizePassword } from '../../accounts/password.ts'
import { ApiError } from '../http/errors.ts'

/** 19 MiB, two passes, one lane: the minimum that the OWASP Password Storage Cheat Sheet recommends. */
const ARGON2ID = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Hashes computed at once, so that 40 MiB are enough. */
const MAX_CONCURRENT = 2
/** Calls that wait for their turn: a second of work. */
const MAX_WAITING = 40
/** Compared if there is no password, so that the answer takes as long. The result does not count. */
const NO_PASSWORD = '$argon2id$v=19$m=19456,t=2,p=1$KKt9tzCkkDI4GzyN5rnqjg$R9onb610Lz4wFiLsg4Srua2whR2xzWzjcj75oEgMVnA'

const BUSY_MESSAGE = 'Too many people sign in at the moment: try again in a second.'

export class PasswordHasher {
  #running = 0
  readonly #waiting: (() => void)[] = []
  /** How many hashes were computed. */
  computed = 0

  /** The hash of a password in the PHC string format. Throws `too_many_attempts` if too many calls wait. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(normalizePassword(password), ARGON2ID))
  }

  /** Whether the password has this hash; null: there is none. Takes as long in any case. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const isEqual = await this.#inTurn(() => verify(stored ?? NO_PASSWORD, normalizePassword(password)))
    return isEqual && stored !== null
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= MAX_CONCURRENT) {
      if (this.#waiting.length >= MAX_WAITING)
        throw new ApiError('too_many_attempts', { msg: BUSY_MESSAGE, retryAfter: 1 })
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      this.computed++
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
