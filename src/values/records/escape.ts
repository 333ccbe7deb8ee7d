/** The escapes of DNS presentation form (RFC 1035, section 5.1) in host names and TXT records. */

export const BACKSLASH_CODE = 92

const DECIMAL_ESCAPES = Array.from({ length: 256 }, (_, byte) => `\\${String(byte).padStart(3, '0')}`)

/** A byte as `\DDD`, three decimal digits. */
export function escapeByte(byte: number): string {
  return DECIMAL_ESCAPES[byte]!
}

/** The byte of the three decimal digits at `at`; -1 if there are fewer than three, or if their value is above 255. */
export function decimalEscapeAt(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let index = at; index < at + 3; index++) {
    const digit = (bytes[index] ?? 0) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value > 255 ? -1 : value
}
