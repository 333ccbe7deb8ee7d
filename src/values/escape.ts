// The escapes of DNS presentation form (RFC 1035, chapter 5.1) that host names and texts share.

export const BACKSLASH_CODE = 92

const DECIMAL_ESCAPES = Array.from({ length: 256 }, (_, byte) => `\\${String(byte).padStart(3, '0')}`)

/** A byte as `\DDD`, three decimal digits. */
export function escapeByte(byte: number): string {
  return DECIMAL_ESCAPES[byte]!
}

/** The byte that the three decimal digits at `at` stand for; -1 where there are no three, or they pass 255. */
export function decimalEscapeAt(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let index = at; index < at + 3; index++) {
    const digit = (bytes[index] ?? 0) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value > 255 ? -1 : value
}
