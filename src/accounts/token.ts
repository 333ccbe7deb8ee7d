/** The API token: how one is made, told from noise, and kept. */

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Instant } from '../values/time.ts'

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
export type TokenString = string & { readonly __brand: 'TokenText' }

/** How many random bytes a token is made of: 160 bits. */
export const TOKEN_BYTES = 20

const TOKEN_PREFIX = 'dxt_'
const BASE62_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_BODY_LENGTH = 27 // 62 ** 27 > 2 ** 160
const TOKEN_CHECKSUM_LENGTH = 6 // 62 ** 6 > 2 ** 32
const TOKEN_PATTERN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${TOKEN_BODY_LENGTH + TOKEN_CHECKSUM_LENGTH}}$`)
const TOKEN_HINT_LENGTH = TOKEN_PREFIX.length + 4

/** The token that `random`, TOKEN_BYTES fresh bytes, stands for. */
export function makeToken(random: Uint8Array): TokenString {
  const body = toBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), TOKEN_BODY_LENGTH)
  return (TOKEN_PREFIX + body + tokenChecksum(TOKEN_PREFIX + body)) as TokenString
}

/** The token that a text spells, white space around it dropped; null for one that was never made, without any look-up. */
export function parseToken(text: string): TokenString | null {
  const given = text.trim()
  if (!TOKEN_PATTERN.test(given)) return null
  return given.endsWith(tokenChecksum(given.slice(0, -TOKEN_CHECKSUM_LENGTH))) ? (given as TokenString) : null
}

/** SHA-256 of the token: what the store knows it by. */
export function hashToken(token: TokenString): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** A token in the form that the store takes. */
export function newTokenRecord(token: TokenString, name: string, expires: Instant | null): NewToken {
  return { name, hint: token.slice(0, TOKEN_HINT_LENGTH), hash: hashToken(token), expires }
}

/** Whether a token lets its account in now. */
export function isActive({ revoked, expires }: Pick<Token, 'revoked' | 'expires'>, now: Instant): boolean {
  return revoked === null && (expires === null || now < expires)
}

/** CRC-32 in digits. It tells noise from tokens; that a token is genuine only the store can say. */
function tokenChecksum(text: string): string {
  return toBase62(BigInt(crc32(text)), TOKEN_CHECKSUM_LENGTH)
}

/** A number to the base of 62, with leading zeros. */
function toBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = BASE62_DIGITS[Number(rest % 62n)] + text
  return text
}
