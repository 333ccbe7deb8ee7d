/** A watch: of which changes an account wants to hear, parsed once from what the account sends. Pure. */

import { type Brand, parseBrand } from '../lookalikes/brand.ts'
import { MIN_FIXED_CHARACTERS } from '../search/fixed-text.ts'
import type { NameQuery } from '../search/name-query.ts'
import { matcherOf, type NameSearch, parseSearch } from '../search/pattern.ts'
import { type DomainName, nameProblem, parseName } from '../values/domain-name.ts'
import { addressFamily, type IpAddress, parseNetwork, parseQueryAddress } from '../values/ip-address.ts'
import type { DifferenceType, WatchKind } from '../values/watch-kind.ts'

/**
 * What a watch matches. `value`: in the canonical form of its kind. `threshold`: the number that a
 * change must reach: for text the percentage of words that differ, for lookalikes the score; null for other kinds.
 * `types`: the differences that match; null for all.
 */
export type WatchRule = {
  kind: WatchKind
  value: string
  threshold: number | null
  types: readonly DifferenceType[] | null
}
/** A stored watch. */
export type Watch = WatchRule & { id: number; account: number }

/** The shortest prefix of a watched network, by family. */
const MIN_PREFIX_LENGTH = { 4: 8, 6: 16 } as const

/** Addresses of IPv4 in those of IPv6 (RFC 4291, section 2.5.5.2): names have them as IPv4. */
const IPV4_IN_IPV6 = /^::ffff:/

/** A label below a suffix, which makes a name of it. */
const LABEL_BELOW = 'a.'

type ParsedValue = { value: string } | { problem: string }

const PARSERS: Record<WatchKind, (text: string) => ParsedValue> = {
  name: parseWatchedName,
  suffix: parseSuffix,
  pattern: parsePattern,
  address: parseWatchedAddress,
  nameserver: parseWatchedName,
  mailserver: parseWatchedName,
  redirect: parseWatchedName,
  certificate: parseWatchedName,
  text: parseWatchedName,
  lookalikes: parseWatchedBrand,
}

/** Returns the canonical form of the value of a watch, or what is wrong with it, as a phrase. */
export function parseWatchValue(kind: WatchKind, text: string): ParsedValue {
  return PARSERS[kind](text)
}

function parseWatchedName(text: string): ParsedValue {
  const name = parseName(text)
  return name === null ? { problem: nameProblem(text) } : { value: name }
}

/** A suffix may be a whole top-level domain: it matches as much as the pattern *.com does. */
function parseSuffix(text: string): ParsedValue {
  const below = `${LABEL_BELOW}${text.trim().replace(/^\*?\./, '')}`
  const name = parseName(below)
  return name === null ? { problem: nameProblem(below) } : { value: name.slice(LABEL_BELOW.length) }
}

function parseWatchedAddress(text: string): ParsedValue {
  const address = parseQueryAddress(text)
  if (address !== null) return { value: address }
  const network = parseNetwork(text)
  if (network === null) return { problem: 'send an address such as 192.0.2.1 or a network such as 192.0.2.0/24' }
  if (network.first === network.last) return { value: network.first }
  if (IPV4_IN_IPV6.test(network.first)) return { problem: 'send a network of IPv4 as such, for example 192.0.2.0/24' }
  const length = Number(text.slice(text.indexOf('/') + 1))
  const min = MIN_PREFIX_LENGTH[addressFamily(network.first)]
  return length < min
    ? { problem: `a network has a prefix of at least ${min} bits` }
    : { value: `${network.first}/${length}` }
}

function parseWatchedBrand(text: string): ParsedValue {
  const parsed = parseWatchedName(text)
  if ('problem' in parsed) return parsed
  const brand = parseBrand(parsed.value as DomainName)
  return typeof brand === 'string' ? { problem: brand } : parsed
}

/** Reads the canonical value of lookalikes. */
export function brandOfValue(value: string): Brand {
  return parseBrand(value as DomainName) as Brand
}

/** The first address and the prefix length of a network in canonical form. */
export function prefixOfValue(value: string): { address: IpAddress; length: number } {
  const [address, length] = value.split('/')
  return { address: address as IpAddress, length: Number(length) }
}

function parsePattern(text: string): ParsedValue {
  const value = text.trim().startsWith('/') ? text.trim() : text.trim().toLowerCase()
  const search = parseSearch(value)
  if (typeof search === 'string') return { problem: search }
  return fixedTextOf(search.query).length < MIN_FIXED_CHARACTERS
    ? { problem: `a pattern has ${MIN_FIXED_CHARACTERS} fixed characters in a row, such as *bank*` }
    : { value }
}

/** A pattern: a text that each name has that it matches, and whether it matches a name. */
export type NamePattern = { fixedText: string; matches: (name: string) => boolean }

/** Reads the canonical value of a pattern. */
export function patternOfValue(value: string): NamePattern {
  const search = parseSearch(value) as NameSearch
  return { fixedText: fixedTextOf(search.query), matches: matcherOf(search) }
}

function fixedTextOf({ by, text }: NameQuery): string {
  return by === 'below' ? `.${text}` : text
}
