/** Array literals of PostgreSQL: they send the columns of many rows to the server at once. */

import { type IpAddress, packToHex } from '../../../values/ip-address.ts'

/** Of numbers, names and other values without special characters. */
export function plainArray(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** Of any text. */
export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
}

/** Of bytes. */
export function bytesArray(values: readonly (Uint8Array | null)[]): string {
  return hexArray(
    values.map((value) => value && Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')),
  )
}

/** Of packed addresses. */
export function addressArray(addresses: readonly IpAddress[]): string {
  return hexArray(addresses.map(packToHex))
}

/** Of bytes in hexadecimal. */
export function hexArray(values: readonly (string | null)[]): string {
  return `{${values.map((hex) => (hex === null ? 'NULL' : `"\\\\x${hex}"`)).join(',')}}`
}
