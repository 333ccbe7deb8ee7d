/** Creates, parses and hashes API tokens. */

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Instant } from '../values/time.ts'

/** A stored token, without its secret. `hint` is the start of the token, so that people can distinguish tokens. */
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

/** A token that replaces another one: it gets the name and the lifetime of that one. */
export type TokenReplacement = Pick<NewToken, 'hint' | 'hash'>

/** Why a token was not created or replaced. Tokens count if they are active or less than a day old. */
export type TokenRejection = 'unknown_token' | 'too_many_tokens'

/** The text of a token with a correct checksum. */
export type TokenString = string & { readonly __brand: 'TokenString' }

/** The number of random bytes in a token: 160 bits. */
export const TOKEN_BYTES = 20

export const MAX_TOKEN_NAME_LENGTH = 100

const TOKEN_PREFIX = 'dxt_'
/** The start of an operator's token. No token of an account has it. */
export const OPERATOR_TOKEN_PREFIX = 'dxo_'
const BASE62_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_BODY_LENGTH = 27 // 62 ** 27 > 2 ** 160
const TOKEN_CHECKSUM_LENGTH = 6 // 62 ** 6 > 2 ** 32
const TOKEN_PATTERN = new RegExp(`^dx[to]_[0-9A-Za-z]{${TOKEN_BODY_LENGTH + TOKEN_CHECKSUM_LENGTH}}$`)
const TOKEN_HINT_LENGTH = TOKEN_PREFIX.length + 4

/** Encodes TOKEN_BYTES new random bytes as a token. */
export function makeToken(random: Uint8Array, prefix: string = TOKEN_PREFIX): TokenString {
  const body = toBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), TOKEN_BODY_LENGTH)
  return (prefix + body + tokenChecksum(prefix + body)) as TokenString
}

/** The token in a text, without surrounding white space. Null if the format or the checksum is wrong. */
export function parseToken(text: string, prefix: string = TOKEN_PREFIX): TokenString | null {
  const trimmed = text.trim()
  if (!trimmed.startsWith(prefix) || !TOKEN_PATTERN.test(trimmed)) return null
  return trimmed.endsWith(tokenChecksum(trimmed.slice(0, -TOKEN_CHECKSUM_LENGTH))) ? (trimmed as TokenString) : null
}

/** SHA-256 of the token, the digest that the store keeps. */
export function hashToken(token: TokenString): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** The name of a token without surrounding white space; null if it is empty, too long, or has control characters. */
export function parseTokenName(text: string): string | null {
  const name = text.trim()
  return /^\P{Cc}+$/u.test(name) && name.length <= MAX_TOKEN_NAME_LENGTH ? name : null
}

/** The record of a new token for the store. */
export function newTokenRecord(token: TokenString, name: string, expires: Instant | null): NewToken {
  return { name, hint: token.slice(0, TOKEN_HINT_LENGTH), hash: hashToken(token), expires }
}

/** When the replacement of a token expires: it lives as long as the token was to live. Null: for ever. */
export function replacementExpiry(
  { created, expires }: Pick<Token, 'created' | 'expires'>,
  now: Instant,
): Instant | null {
  return expires === null ? null : now + (expires - created)
}

/** Whether a token is neither revoked nor expired. */
export function isActive({ revoked, expires }: Pick<Token, 'revoked' | 'expires'>, now: Instant): boolean {
  return revoked === null && (expires === null || now < expires)
}

/** CRC-32 in base 62. It detects mistyped tokens without a query. Only the store knows whether a token exists. */
function tokenChecksum(text: string): string {
  return toBase62(BigInt(crc32(text)), TOKEN_CHECKSUM_LENGTH)
}

/** A number in base 62, with leading zeros. */
function toBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = BASE62_DIGITS[Number(rest % 62n)] + text
  return text
}
