/** Explains why a text that resembles an IP address is not one, and what to send instead. */

import { hostAndPortOf } from './domain-name.ts'
import { type IpAddress, parseQueryAddress } from './ip-address.ts'
import { refang } from './pasted/defanged.ts'

/** Longer texts are not examined. No address is longer, even with a scheme, port and path around it. */
const MAX_TEXT_UNITS = 200
const PREFIX_LENGTH_SUFFIX = /^(.*)\/(?:\d{1,3}|[\d.]{7,15})$/
const WILDCARD_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){0,2}\.[x*]$/i
/** Numbers and dots only, with more than one number. */
const DOTTED_NUMBERS = /^\d+(?:\.\d+)+\.?$/
const RANGE_NOT_SUPPORTED = '/reverseip takes one address at a time, not a range'

/**
 * Returns one English phrase: why the text is not an address, and what to send instead.
 * Returns null if the text is an address or does not resemble one.
 */
export function addressProblem(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_TEXT_UNITS || parseQueryAddress(trimmed) !== null) return null
  const plain = refang(trimmed)
  if (WILDCARD_ADDRESS.test(plain)) return `${RANGE_NOT_SUPPORTED}; send each address by itself`
  const first = firstAddressOfRange(plain)
  if (first !== null) return `${RANGE_NOT_SUPPORTED}; send each address by itself, such as ${first}`
  const inner = addressInText(plain)
  if (inner === null)
    return DOTTED_NUMBERS.test(plain)
      ? 'an IPv4 address is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1'
      : null
  return `${plain === trimmed ? describeAddressProblem(trimmed) : 'the address is defanged'}; send ${inner}`
}

/** The address before a prefix length, a netmask, or a dash and another address; null if the text is not a range. */
function firstAddressOfRange(text: string): IpAddress | null {
  const start = PREFIX_LENGTH_SUFFIX.exec(text)?.[1]
  if (start !== undefined) return addressInText(start)
  const [from = '', to = ''] = text.split('-', 2)
  return addressInText(to.trim()) === null ? null : addressInText(from.trim())
}

/** The address inside a URL, brackets, or with a port or zone; null if there is none. */
function addressInText(text: string): IpAddress | null {
  const bare = hostAndPortOf(text)
  const bracketed = /^\[([^\]]*)\]/.exec(bare)?.[1]
  for (const each of bracketed === undefined ? [bare, bare.replace(/:\d*$/, '')] : [bracketed]) {
    const address = parseQueryAddress(each.replace(/%.*$/s, ''))
    if (address !== null) return address
  }
  return null
}

function describeAddressProblem(text: string): string {
  if (text.includes('://')) return 'a scheme does not belong to the address'
  if (text.includes('%')) return 'a zone does not belong to the address'
  if (text.startsWith('[') || /^[\d.]+:\d*$/.test(text)) return 'brackets and a port do not belong to the address'
  return 'a path does not belong to the address'
}
