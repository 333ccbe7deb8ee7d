/** The API token: how one is made, told from noise, and kept. */

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Instant } from '../words/time.ts'

/** A token as it is kept: never the token itself. `hint` is its beginning, for people to tell tokens apart. */
export type Token = {
  id: number
  name: string
  hint: string
  created: Instant
  expires: Instant | null
  last_used: Instant | null
  revoked: Instant | null
}

export type NewToken = { name: string; hint: string; hash: Uint8Array; expires: Instant | null }

/** The text of a token whose checksum is right. */
export type TokenText = string & { readonly __brand: 'TokenText' }

/** How many random bytes a token is made of: 160 bits. */
export const TOKEN_BYTES = 20

const PREFIX = 'dxt_'
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BODY_LENGTH = 27 // 62 ** 27 > 2 ** 160
const CHECKSUM_LENGTH = 6 // 62 ** 6 > 2 ** 32
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`)
const HINT_LENGTH = PREFIX.length + 4

/** The token that `random`, TOKEN_BYTES fresh bytes, stands for. */
export function makeToken(random: Uint8Array): TokenText {
  const body = inDigits(BigInt(`0x${Buffer.from(random).toString('hex')}`), BODY_LENGTH)
  return (PREFIX + body + checksum(PREFIX + body)) as TokenText
}

/** The token that a text spells, white space around it dropped; null for one that was never made, without any look-up. */
export function readToken(text: string): TokenText | null {
  const given = text.trim()
  if (!SHAPE.test(given)) return null
  return given.endsWith(checksum(given.slice(0, -CHECKSUM_LENGTH))) ? (given as TokenText) : null
}

/** SHA-256 of the token: what the store knows it by. */
export function hashToken(token: TokenText): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** A token in the form that the store takes. */
export function keptToken(token: TokenText, name: string, expires: Instant | null): NewToken {
  return { name, hint: token.slice(0, HINT_LENGTH), hash: hashToken(token), expires }
}

/** Whether a token lets its account in now. */
export function isActive({ revoked, expires }: Pick<Token, 'revoked' | 'expires'>, now: Instant): boolean {
  return revoked === null && (expires === null || now < expires)
}

/** CRC-32 in digits. It tells noise from tokens; that a token is genuine only the store can say. */
function checksum(text: string): string {
  return inDigits(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

/** A number to the base of 62, with leading zeros. */
function inDigits(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}
