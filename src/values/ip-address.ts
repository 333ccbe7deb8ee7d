/** The value type of an IP address in canonical form, and the bytes that sort addresses in the contract's order. */
import { isIP } from 'node:net'

/** IPv4 is a dotted quad. IPv6 follows RFC 5952, with mixed notation (section 5) for `::ffff:0:0/96` only. */
export type IpAddress = string & { readonly __brand: 'IpAddress' }

const COLON_CODE = 58
const DOT_CODE = 46
const PACKED_HEX = /^(?:04[\da-f]{8}|06[\da-f]{32})$/i
/** The places of the groups of an IPv6 address in the result of packToHex. */
const GROUP_STARTS = Array.from({ length: 8 }, (_, group) => 2 + 4 * group)
const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The address of a text; null for any other text, also with white space, zone, prefix length, brackets or port. */
export function parseAddress(text: string): IpAddress | null {
  const last = text.charCodeAt(text.length - 1) - 48
  if (!(last >= 0 && last <= 9) && !text.includes(':')) return null // as nearly all names: isIP takes longer
  const version = isIP(text)
  if (version === 4) return text as IpAddress
  if (version === 0 || text.includes('%')) return null
  return formatIpv6Groups(parseIpv6Groups(text))
}

/** Like parseAddress, but accepts surrounding white space and turns `::ffff:1.2.3.4` into the IPv4 address. */
export function parseQueryAddress(text: string): IpAddress | null {
  const address = parseAddress(text.trim())
  if (address === null || addressFamily(address) === 4 || !address.includes('.')) return address
  return address.slice('::ffff:'.length) as IpAddress
}

export function addressFamily(address: IpAddress): 4 | 6 {
  return address.includes(':') ? 6 : 4
}

/** The first and the last address of a network. */
export type Network = { first: IpAddress; last: IpAddress }

/** The addresses of `ADDRESS/LENGTH`; null for any other text. Bits after the length are ignored. */
export function parseNetwork(text: string): Network | null {
  const [, start = '', lengthText = ''] = /^\s*([^/]+)\/(0|[1-9]\d{0,2})\s*$/.exec(text) ?? []
  const address = parseAddress(start)
  return address === null ? null : networkAround(address, Number(lengthText))
}

/** The network of an address with a prefix length; null if the address has fewer bits. */
export function networkAround(address: IpAddress, length: number): Network | null {
  const first = packAddress(address)
  const last = Uint8Array.from(first)
  const bits = (first.length - 1) * 8
  if (length > bits) return null
  for (let bit = length; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7)
    first[1 + (bit >> 3)]! &= ~mask
    last[1 + (bit >> 3)]! |= mask
  }
  return { first: unpackAddress(first), last: unpackAddress(last) }
}

/** One byte for the family (4 or 6), then 4 or 16 bytes in network order. The bytes sort in the contract's order. */
export function packAddress(address: IpAddress): Uint8Array {
  if (addressFamily(address) === 4) {
    const value = parseIpv4Quad(address, 0)
    return Uint8Array.of(4, value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
  }
  const bytes = new Uint8Array(17)
  bytes[0] = 6
  parseIpv6Groups(address).forEach((group, index) => {
    bytes[1 + 2 * index] = group >>> 8
    bytes[2 + 2 * index] = group & 255
  })
  return bytes
}

/** The inverse of packAddress. Throws RangeError for any other bytes. */
export function unpackAddress(bytes: Uint8Array): IpAddress {
  if (bytes[0] === 4 && bytes.length === 5) return `${bytes[1]}.${bytes[2]}.${bytes[3]}.${bytes[4]}` as IpAddress
  if (bytes[0] !== 6 || bytes.length !== 17) throw new RangeError('not the bytes of an address')
  return formatIpv6Groups(Array.from({ length: 8 }, (_, index) => bytes[1 + 2 * index]! * 256 + bytes[2 + 2 * index]!))
}

/** The bytes of packAddress in lower-case hexadecimal: 10 or 34 digits. */
export function packToHex(address: IpAddress): string {
  if (addressFamily(address) === 4) {
    const value = parseIpv4Quad(address, 0)
    return `04${HEX_BYTES[value >>> 24]}${HEX_BYTES[(value >>> 16) & 255]}${HEX_BYTES[(value >>> 8) & 255]}${HEX_BYTES[value & 255]}`
  }
  let hex = '06'
  for (const group of parseIpv6Groups(address)) hex += HEX_BYTES[group >>> 8]! + HEX_BYTES[group & 255]!
  return hex
}

/** The inverse of packToHex, also for upper-case digits. Throws RangeError for any other text. */
export function unpackHex(hex: string): IpAddress {
  if (!PACKED_HEX.test(hex)) throw new RangeError('not the bytes of an address')
  if (hex.length === 10) return formatIpv4(Number.parseInt(hex.slice(2), 16))
  return formatIpv6Groups(GROUP_STARTS.map((at) => Number.parseInt(hex.slice(at, at + 4), 16)))
}

/** A compare function for Array.sort: IPv4 before IPv6, numeric within each. */
export function compareAddresses(a: IpAddress, b: IpAddress): number {
  if (a === b) return 0
  return packToHex(a) < packToHex(b) ? -1 : 1
}

function formatIpv4(value: number): IpAddress {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}` as IpAddress
}

/** The dotted quad that starts at `from`, as an unsigned 32-bit number. */
function parseIpv4Quad(text: string, from: number): number {
  let value = 0
  let byte = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT_CODE) {
      value = (value << 8) | byte
      byte = 0
    } else byte = byte * 10 + code - 48
  }
  return ((value << 8) | byte) >>> 0
}

/** The eight 16-bit groups of an IPv6 address that isIP has accepted. */
function parseIpv6Groups(text: string): number[] {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0]
  let count = 0
  let gap = -1 // index of the group at `::`
  let start = 0 // of the group being read
  let value = 0
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? COLON_CODE : text.charCodeAt(at)
    if (code === DOT_CODE) {
      const quad = parseIpv4Quad(text, start)
      groups[count++] = quad >>> 16
      groups[count++] = quad & 0xffff
      break
    }
    if (code !== COLON_CODE) value = value * 16 + (code < COLON_CODE ? code - 48 : (code | 32) - 87)
    else {
      if (at > start) groups[count++] = value
      else if (at > 0 && at < text.length) gap = count
      start = at + 1
      value = 0
    }
  }
  return gap < 0 ? groups : groups.copyWithin(8 - count + gap, gap, count).fill(0, gap, 8 - count + gap)
}

/** RFC 5952, sections 4 and 5: the longest run of two or more zero groups, the first if equal, becomes `::`. */
function formatIpv6Groups(groups: number[]): IpAddress {
  const [start, end] = longestZeroRun(groups)
  if (start === 0 && end === 5 && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return `::ffff:${formatIpv4(high * 0x10000 + low)}` as IpAddress
  }
  let text = ''
  for (let index = 0; index < 8; index++) {
    if (index === start) text += '::'
    if (index >= start && index < end) continue
    if (index > 0 && index !== end) text += ':'
    text += groups[index]!.toString(16)
  }
  return text as IpAddress
}

/** Start and end of the run of zeros that `::` replaces; [8, 8] if there is none. */
function longestZeroRun(groups: number[]): [start: number, end: number] {
  let best: [number, number] = [8, 8]
  for (let at = 0; at < 8; at++) {
    const start = at
    while (at < 8 && groups[at] === 0) at++
    if (at - start > 1 && at - start > best[1] - best[0]) best = [start, at]
  }
  return best
}
