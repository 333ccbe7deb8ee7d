/** The paging cursor: a position in one walk, sealed so that only this installation can have written it. */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Instant } from '../../values/time.ts'

/** Where a walk stands. `type` is the record type of a walk over DNS history, otherwise ''. */
export type Cursor = { endpoint: string; query: string; type: string; position: string; issued: Instant }

/** The keys that cursors are sealed with, by number; the first is the newest. */
export type CursorKeys = ReadonlyMap<string, Uint8Array>

/** Seconds that a cursor is good for. */
const CURSOR_LIFETIME_SECONDS = 86_400
/** Seconds that another machine's clock may be ahead of this one's. */
const MAX_CLOCK_SKEW_SECONDS = 60
const CURSOR_KEY_BYTES = 32
/** Names this one use of the installation's secret (RFC 5869, chapter 3.2); the number is that of the cursor's format. */
const CURSOR_KEY_PURPOSE = 'domaindex cursor 1'

/** The cursor keys of an installation, derived from its secrets (newest first) by HKDF-SHA-256. */
export function cursorKeys(secrets: readonly { number: number; bytes: Uint8Array }[]): CursorKeys {
  return new Map(
    secrets.map(({ number, bytes }) => [
      String(number),
      new Uint8Array(hkdfSync('sha256', bytes, new Uint8Array(), CURSOR_KEY_PURPOSE, CURSOR_KEY_BYTES)),
    ]),
  )
}

/** `NUMBER.CONTENT.SEAL`, all of it safe in a URL: the number of the key, the fields, and HMAC-SHA-256 over both. */
export function signCursor(keys: CursorKeys, { endpoint, query, type, position, issued }: Cursor): string {
  const [[number, key] = []] = keys
  if (number === undefined || key === undefined) throw new Error('there is no key to seal a cursor with')
  const content = Buffer.from(JSON.stringify([endpoint, query, type, position, issued])).toString('base64url')
  const sealed = `${number}.${content}`
  return `${sealed}.${signatureOf(key, sealed)}`
}

/** What a cursor says, or the key of the error: unreadable, altered, of an unknown key or from the future; or too old. */
export function verifyCursor(
  keys: CursorKeys,
  text: string,
  now: Instant,
): Cursor | 'cursor_invalid' | 'cursor_expired' {
  const end = text.lastIndexOf('.')
  const sealed = text.slice(0, Math.max(end, 0))
  const [number = '', content = ''] = sealed.split('.')
  const key = keys.get(number)
  if (key === undefined || !equalInConstantTime(text.slice(end + 1), signatureOf(key, sealed))) return 'cursor_invalid'
  const [endpoint, query, type, position, issued] = JSON.parse(Buffer.from(content, 'base64url').toString())
  if (issued > now + MAX_CLOCK_SKEW_SECONDS) return 'cursor_invalid'
  return now - issued < CURSOR_LIFETIME_SECONDS ? { endpoint, query, type, position, issued } : 'cursor_expired'
}

function signatureOf(key: Uint8Array, sealed: string): string {
  return createHmac('sha256', key).update(sealed).digest('base64url')
}

/** Whether two seals are the same text, found in a time that does not tell where they differ. */
function equalInConstantTime(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
