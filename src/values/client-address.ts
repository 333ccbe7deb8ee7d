/** The keys by which limits count clients: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */

import { BlockList } from 'node:net'
import { addressFamily, packToHex, parseQueryAddress } from './ip-address.ts'

/** The digits of the family and of the first 64 bits. */
const NETWORK_HEX_DIGITS = 2 + 16

/** The key of a client address. A text that is not an address is its own key. */
export function clientAddressKey(text: string): string {
  if (!text.includes(':')) return text
  const address = parseQueryAddress(text)
  if (address === null || addressFamily(address) === 4) return address ?? text
  return packToHex(address).slice(0, NETWORK_HEX_DIGITS)
}

/** Returns a function that reports whether an address lies in one of the ranges (`10.0.0.0/8`, `::1`). */
export function clientRangeMatcher(ranges: readonly string[]): (text: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [base = '', bits] = range.split('/')
    const kind = base.includes(':') ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(base, kind)
    else list.addSubnet(base, Number(bits), kind)
  }
  return (text) => {
    const address = parseQueryAddress(text)
    return address !== null && list.check(address, addressFamily(address) === 4 ? 'ipv4' : 'ipv6')
  }
}
