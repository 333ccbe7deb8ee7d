/** Text that is close to an IP address, and what to send instead. */

import { type Address, queryAddress } from './address.ts'
import { refang } from './defanged.ts'

/** Characters of a text that is looked into, at most: no address with all that people add to it is longer. */
const LONGEST = 200
const PREFIX = /^(.*)\/(?:\d{1,3}|[\d.]{7,15})$/
const WILDCARD = /^\d{1,3}(?:\.\d{1,3}){0,2}\.[x*]$/i
const ONE_AT_A_TIME = '/reverseip takes one address at a time, not a range'

/**
 * What keeps a text from being an address, and what to send instead: one English phrase. Null if the text does not look like
 * an address, or is one.
 */
export function whyNotAddress(text: string): string | null {
  const given = text.trim()
  if (given.length > LONGEST || queryAddress(given) !== null) return null
  const plain = refang(given)
  if (WILDCARD.test(plain)) return `${ONE_AT_A_TIME}; send each address by itself`
  const first = firstOfRange(plain)
  if (first !== null) return `${ONE_AT_A_TIME}; send each address by itself, such as ${first}`
  const inner = innerAddress(plain)
  if (inner === null) return null
  return `${plain === given ? problem(given) : 'the address is defanged'}; send ${inner}`
}

/** The address in front of a prefix length, a netmask, or a dash and another address; null if the text is no such range. */
function firstOfRange(text: string): Address | null {
  const start = PREFIX.exec(text)?.[1]
  if (start !== undefined) return innerAddress(start)
  const [from = '', to = ''] = text.split('-', 2)
  return innerAddress(to.trim()) === null ? null : innerAddress(from.trim())
}

/** The address inside a URL, brackets, or with a port or zone; null if there is none. */
function innerAddress(text: string): Address | null {
  const [host = ''] = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/?#\\]/, 1)
  const bare = host.replace(/^.*@/s, '')
  const bracketed = /^\[([^\]]*)\]/.exec(bare)?.[1]
  for (const each of bracketed === undefined ? [bare, bare.replace(/:\d*$/, '')] : [bracketed]) {
    const address = queryAddress(each.replace(/%.*$/s, ''))
    if (address !== null) return address
  }
  return null
}

function problem(text: string): string {
  if (text.includes('://')) return 'a scheme does not belong to the address'
  if (text.includes('%')) return 'a zone does not belong to the address'
  if (text.startsWith('[') || /^[\d.]+:\d*$/.test(text)) return 'brackets and a port do not belong to the address'
  return 'a path does not belong to the address'
}
