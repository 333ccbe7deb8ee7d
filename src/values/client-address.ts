/** The keys by which limits count clients: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */

import { BlockList } from 'node:net'
import { addressFamily, packToHex, parseQueryAddress } from './ip-address.ts'

/** The digits of the family and of the first 64 bits, and of the first 48, which a site or a rented server has. */
const NETWORK_HEX_DIGITS = 2 + 16
const SITE_HEX_DIGITS = 2 + 12

/** The key of a client address. A text that is not an address is its own key. */
export function clientAddressKey(text: string): string {
  if (!text.includes(':')) return text
  const address = parseQueryAddress(text)
  if (address === null || addressFamily(address) === 4) return address ?? text
  return packToHex(address).slice(0, NETWORK_HEX_DIGITS)
}

/** The key of the /48 of an IPv6 address; null for an IPv4 address, and for a text that is none. */
export function clientSiteKey(text: string): string | null {
  const key = clientAddressKey(text)
  return key.length === NETWORK_HEX_DIGITS && text.includes(':') ? key.slice(0, SITE_HEX_DIGITS) : null
}

/** An address with the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:443`. */
const ADDRESS_WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/

/**
 * The addresses of an X-Forwarded-For that lead from the nearest proxy to the client, without ports, in their order. A
 * text that is no address ends the way: what stands before it is unknown too.
 */
export function forwardedAddresses(text: string): string[] {
  const addresses: string[] = []
  for (const entry of text.split(',').reverse()) {
    const [, bracketed, plain] = ADDRESS_WITH_PORT.exec(entry.trim()) ?? []
    const address = bracketed ?? plain ?? entry.trim()
    if (parseQueryAddress(address) === null) break
    addresses.unshift(address)
  }
  return addresses
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
