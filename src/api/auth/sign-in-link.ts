/**
 * Creates links that sign in once, without a password. The code is in the fragment, which browsers send to no server, so
 * it is in no log.
 */

import { randomBytes } from 'node:crypto'
import { hashSecret } from '../../accounts/session.ts'
import type { SignIns } from '../../store/port/sign-in.ts'
import type { Instant } from '../../values/time.ts'

/** Seconds for which such a link is valid. */
export const SIGN_IN_LINK_SECONDS = 900

const CODE_BYTES = 32

/**
 * Stores a link and returns its URL. `account`: whose owner it signs in; null: it creates the first operator, on this
 * machine only. `address`: that of the web page, without a slash at its end.
 */
export async function createSignInLink(
  ledger: Pick<SignIns, 'createLink'>,
  account: number | null,
  address: string,
  now: Instant,
): Promise<string> {
  const code = randomBytes(CODE_BYTES).toString('base64url')
  const kind = account === null ? 'setup' : 'sign-in'
  const expires = now + SIGN_IN_LINK_SECONDS
  await ledger.createLink({ kind, account, email: null, hash: hashSecret(code)!, expires }, now)
  return `${address}/${kind}#code=${code}`
}
