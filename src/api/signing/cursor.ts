/** The paging cursor: the position after the last row of a page, signed by this installation. */

import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'

/** The content of a cursor. `type` is the record type in the DNS history, otherwise ''. */
export type Cursor = { endpoint: string; query: string; type: string; position: string; issued: Instant }

/** The keys that sign cursors, by number. The first one is the newest. */
export type CursorKeys = ReadonlyMap<string, KeyObject>

/** Seconds for which a cursor is valid. */
const CURSOR_LIFETIME_SECONDS = SECONDS_PER_DAY
/** Seconds by which the clock of another machine may be ahead. */
const MAX_CLOCK_SKEW_SECONDS = 60
const CURSOR_KEY_BYTES = 32
/** The purpose of the derived key (RFC 5869, section 3.2). The number is the version of the cursor format. */
const CURSOR_KEY_PURPOSE = 'domaindex cursor 1'

/** The cursor keys of an installation. */
export function cursorKeys(secrets: readonly { number: number; bytes: Uint8Array }[]): CursorKeys {
  return deriveKeys(secrets, CURSOR_KEY_PURPOSE)
}

/** Derives keys for a purpose from the secrets of an installation (newest first) by HKDF-SHA-256. */
export function deriveKeys(secrets: readonly { number: number; bytes: Uint8Array }[], purpose: string): CursorKeys {
  return new Map(
    secrets.map(({ number, bytes }) => [
      String(number),
      // Signing with a key object takes an eighth of the time that it takes with the bytes of the key.
      createSecretKey(Buffer.from(hkdfSync('sha256', bytes, new Uint8Array(), purpose, CURSOR_KEY_BYTES))),
    ]),
  )
}

/** Returns `NUMBER.CONTENT.SIGNATURE`, safe in a URL: the key number, the fields, and HMAC-SHA-256 over both. */
export function signCursor(keys: CursorKeys, { endpoint, query, type, position, issued }: Cursor): string {
  const [[number, key] = []] = keys
  if (number === undefined || key === undefined) throw new Error('there is no key to sign a cursor')
  const content = Buffer.from(JSON.stringify([endpoint, query, type, position, issued])).toString('base64url')
  const signed = `${number}.${content}`
  return `${signed}.${signatureOf(key, signed)}`
}

/**
 * Returns the content of a cursor, or the key of an error. `cursor_invalid`: malformed, altered, with an unknown key,
 * or from the future. `cursor_expired`: too old.
 */
export function verifyCursor(
  keys: CursorKeys,
  text: string,
  now: Instant,
): Cursor | 'cursor_invalid' | 'cursor_expired' {
  const end = text.lastIndexOf('.')
  const signed = text.slice(0, Math.max(end, 0))
  const [number = '', content = ''] = signed.split('.')
  const key = keys.get(number)
  if (key === undefined || !equalInConstantTime(text.slice(end + 1), signatureOf(key, signed))) return 'cursor_invalid'
  const [endpoint, query, type, position, issued] = JSON.parse(Buffer.from(content, 'base64url').toString())
  if (issued > now + MAX_CLOCK_SKEW_SECONDS) return 'cursor_invalid'
  return now - issued < CURSOR_LIFETIME_SECONDS ? { endpoint, query, type, position, issued } : 'cursor_expired'
}

function signatureOf(key: KeyObject, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url')
}

/** Whether two signatures are equal. The time of the comparison does not depend on where they differ. */
function equalInConstantTime(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
