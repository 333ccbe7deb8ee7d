/**
 * Creates links that are valid once, such as those that sign in without a password. The code is in the fragment, which
 * browsers send to no server, so it is in no log.
 */

import { randomBytes } from 'node:crypto'
import { hashSecret, type LinkKind, type OneTimeLink } from '../../accounts/session.ts'
import type { SignIns } from '../../store/port/accounts/sign-in.ts'
import type { Instant } from '../../values/time.ts'

/** Seconds for which such a link is valid. */
export const SIGN_IN_LINK_SECONDS = 900

const SECRET_BYTES = 32
/** The page that each kind of link opens. */
const LINK_PAGES: Readonly<Record<LinkKind, string>> = {
  'sign-in': 'sign-in',
  'sign-up': 'verify',
  password: 'reset',
  setup: 'setup',
}

/** A new secret of a session or code of a link: random, as base64url, with the hash that the ledger keeps. */
export function newSecret(): { text: string; hash: Uint8Array } {
  const text = randomBytes(SECRET_BYTES).toString('base64url')
  return { text, hash: hashSecret(text)! }
}

/** Stores a link that is valid for `seconds` and returns its URL. `address`: that of the web page, without a slash. */
export async function createOneTimeLink(
  ledger: Pick<SignIns, 'createLink'>,
  link: OneTimeLink,
  address: string,
  seconds: number,
  now: Instant,
): Promise<{ url: string; expires: Instant }> {
  const { text, hash } = newSecret()
  const expires = now + seconds
  await ledger.createLink({ ...link, hash, expires }, now)
  return { url: `${address}/${LINK_PAGES[link.kind]}#code=${text}`, expires }
}

/**
 * Creates a link that signs in and returns its URL. `account`: whose owner it signs in; null: it creates the first operator, on this
 * machine only. `address`: that of the web page, without a slash at its end.
 */
export async function createSignInLink(
  ledger: Pick<SignIns, 'createLink'>,
  account: number | null,
  address: string,
  now: Instant,
): Promise<string> {
  const link: OneTimeLink = { kind: account === null ? 'setup' : 'sign-in', account, email: null }
  return (await createOneTimeLink(ledger, link, address, SIGN_IN_LINK_SECONDS, now)).url
}
