/** Client addresses as they are counted: IPv4 each for itself, IPv6 by the /64 that one subscriber has. */

import { BlockList } from 'node:net'
import { addressFamily, packToHex, parseQueryAddress } from './ip-address.ts'

/** Hexadecimal digits of the family and of the first 64 bits. */
const NETWORK_HEX_DIGITS = 2 + 16

/** What an address is counted under. A text that is no address is counted under itself. */
export function clientAddressKey(text: string): string {
  if (!text.includes(':')) return text
  const address = parseQueryAddress(text)
  if (address === null || addressFamily(address) === 4) return address ?? text
  return packToHex(address).slice(0, NETWORK_HEX_DIGITS)
}

/** Whether an address lies in one of the ranges (`10.0.0.0/8`, `::1`). */
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
