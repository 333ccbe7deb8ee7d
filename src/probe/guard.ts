/** The guard: decides where the crawler may connect to. */

import { BlockList } from 'node:net'
import { addressFamily, type IpAddress, packAddress, parseAddress, unpackAddress } from '../values/ip-address.ts'
import type { VettedEndpoint } from './probe-result.ts'
import { NEVER_ALLOWED_RANGES, SPECIAL_IPV4_RANGES, SPECIAL_IPV6_RANGES } from './special-ranges.ts'

/** `bits` leading bits of `base` are the same in all addresses of the range; those behind them are zero in `base`. */
export type AddressRange = { base: IpAddress; bits: number }

/** A door of the lab: connections to `address` at `standsFor`, 80 or 443, go to `port` there, or of the address `at`. */
export type PortMapping = { address: IpAddress; port: number; publicPort: number; connectTo?: IpAddress }

export type Guard = {
  /** Where to connect to for this address and this port of the web, or null where we do not. */
  vet(address: IpAddress, port: number): VettedEndpoint | null
}

type GuardOptions = {
  portMappings?: readonly PortMapping[]
  /** The operator's own ranges, opened on ports 80 and 443. */
  allowed?: readonly AddressRange[]
  /** Nothing but those ranges and the doors of the lab. */
  onlyAllowed?: boolean
  /** Never connected to, whatever is opened; 0.0.0.0 and :: stand for every address that is opened. */
  blocked?: readonly { address: IpAddress; port: number }[]
  /** Whether the owner of an address wants no visits; asked each time. */
  isOptedOut?: (address: IpAddress) => boolean
}

/** A form of IPv6 addresses with IPv4 addresses inside: from which byte on, and what their bits are inverted with. */
type EmbeddedIpv4Format = { range: BlockLists; offsets: readonly { at: number; mask: number }[] }

const WEB_PORTS = new Set([80, 443])
const UNSPECIFIED_ADDRESSES = new Set(['0.0.0.0', '::'])
const MAPPED = '::ffff:'
const LOOPBACK = '::1'
const specialRanges = toBlockLists([...SPECIAL_IPV4_RANGES, ...SPECIAL_IPV6_RANGES].map(requireRange))
const neverRanges = toBlockLists(NEVER_ALLOWED_RANGES.map(requireRange))

const nat64Range = toBlockLists([requireRange('64:ff9b::/96')])

/** Every address inside must pass as well. All but NAT64 are special themselves, so that it counts where they are opened. */
const EMBEDDED_IPV4_FORMATS: readonly EmbeddedIpv4Format[] = [
  { range: nat64Range, offsets: [{ at: 12, mask: 0 }] }, // RFC 6052
  { range: toBlockLists([requireRange('2002::/16')]), offsets: [{ at: 2, mask: 0 }] }, // 6to4, RFC 3056
  {
    range: toBlockLists([requireRange('2001::/32')]), // Teredo, RFC 4380: the server, and the client obfuscated
    offsets: [
      { at: 4, mask: 0 },
      { at: 12, mask: 0xff },
    ],
  },
  { range: toBlockLists([requireRange('::/96')]), offsets: [{ at: 12, mask: 0 }] }, // IPv4-compatible, RFC 4291
  { range: toBlockLists([requireRange('::ffff:0:0:0/96')]), offsets: [{ at: 12, mask: 0 }] }, // translated, RFC 2765
]

/** How the interface identifier begins behind which ISATAP (RFC 5214) keeps an IPv4 address, in whatever network. */
const ISATAP_PREFIXES = new Set(['00005efe', '02005efe'])

/**
 * A guard that lets through what is neither special (src/probe/special-ranges.ts) nor closed, on ports 80 and 443. A mapped address
 * is the IPv4 address. Throws RangeError for a stand that stands for another port.
 */
export function makeGuard(options: GuardOptions = {}): Guard {
  const mappings = new Map(
    (options.portMappings ?? []).map((stand) => [endpointKey(unmapped(stand.address), publicPortOf(stand)), stand]),
  )
  const allowed = toBlockLists(options.allowed ?? [])
  const blocked = new Set((options.blocked ?? []).map(({ address, port }) => endpointKey(unmapped(address), port)))
  const blockedPorts = new Set(
    (options.blocked ?? []).filter((row) => UNSPECIFIED_ADDRESSES.has(row.address)).map((row) => row.port),
  )

  const isBlocked = (address: IpAddress, port: number): boolean =>
    contains(neverRanges, address) || blocked.has(endpointKey(address, port)) || options.isOptedOut?.(address) === true

  const passes = (address: IpAddress, port: number): boolean => {
    if (isBlocked(address, port)) return false
    const inside = embeddedIpv4(address)
    if (!inside.every((inner) => passes(inner, port))) return false
    if (contains(allowed, address)) return !blockedPorts.has(port)
    if (options.onlyAllowed) return false
    return !contains(specialRanges, address) || (inside.length > 0 && contains(nat64Range, address))
  }

  return {
    vet(given, port) {
      if (!WEB_PORTS.has(port)) return null
      const address = unmapped(given)
      const mapping = mappings.get(endpointKey(address, port))
      if (mapping !== undefined)
        return isBlocked(address, mapping.port) || isBlocked(mapping.connectTo ?? address, mapping.port)
          ? null
          : mappedEndpoint(address, mapping)
      if (!passes(address, port)) return null
      return contains(allowed, address) ? { address, port, isOwn: true } : { address, port }
    },
  }
}

/** The address that a connection comes to: the IPv4 address for a mapped one and for one behind NAT64 (RFC 6052). */
export function effectiveAddress(given: IpAddress): IpAddress {
  const address = unmapped(given)
  return addressFamily(address) === 6 && contains(nat64Range, address) ? embeddedIpv4(address)[0]! : address
}

/** Whether one of the ranges holds an address. */
export function rangeMatcher(ranges: readonly AddressRange[]): (address: IpAddress) => boolean {
  const lists = toBlockLists(ranges)
  return (address) => contains(lists, unmapped(address))
}

/**
 * A range as `127.0.0.0/8` or `::1/128` or one address; null for other text, where bits behind the prefix are set, and for
 * mapped addresses, which are written as IPv4.
 */
export function parseAddressRange(text: string): AddressRange | null {
  const [, address = '', digits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const base = parseAddress(address)
  if (base === null || unmapped(base) !== base) return null
  const maxBits = addressFamily(base) === 4 ? 32 : 128
  const bits = digits === undefined ? maxBits : Number(digits)
  return bits <= maxBits && hasZeroHostBits(packAddress(base).subarray(1), bits) ? { base, bits } : null
}

/** What a range holds once it is opened: nothing but what stays closed, nothing but special addresses, or public ones too. */
export function classifyRange(range: AddressRange): 'closed' | 'special' | 'public' {
  const isWithin = (text: string): boolean => {
    const outer = requireRange(text)
    return (
      addressFamily(outer.base) === addressFamily(range.base) &&
      outer.bits <= range.bits &&
      contains(toBlockLists([outer]), range.base)
    )
  }
  if (NEVER_ALLOWED_RANGES.some(isWithin)) return 'closed'
  return [...SPECIAL_IPV4_RANGES, ...SPECIAL_IPV6_RANGES].some(isWithin) ? 'special' : 'public'
}

/** Whether all bits behind the first `bits` are zero. */
function hasZeroHostBits(bytes: Uint8Array, bits: number): boolean {
  return bytes.every((byte, index) => (byte & (0xff >> Math.min(Math.max(bits - 8 * index, 0), 8))) === 0)
}

function requireRange(text: string): AddressRange {
  const range = parseAddressRange(text)
  if (range === null) throw new RangeError(`${text} is no range`)
  return range
}

/** One list a family: in a list of both, ::/0 holds 192.0.2.1 as well. */
type BlockLists = { 4: BlockList; 6: BlockList }

function toBlockLists(ranges: readonly AddressRange[]): BlockLists {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const { base, bits } of ranges) lists[addressFamily(base)].addSubnet(base, bits, `ipv${addressFamily(base)}`)
  return lists
}

function contains(lists: BlockLists, address: IpAddress): boolean {
  return lists[addressFamily(address)].check(address, `ipv${addressFamily(address)}`)
}

/** The IPv4 address for a mapped one (RFC 4291, chapter 2.5.5.2), otherwise the address itself. */
function unmapped(address: IpAddress): IpAddress {
  return address.startsWith(MAPPED) && address.includes('.') ? (address.slice(MAPPED.length) as IpAddress) : address
}

/** The IPv4 addresses inside an IPv6 address. */
function embeddedIpv4(address: IpAddress): IpAddress[] {
  if (addressFamily(address) === 4 || address === LOOPBACK) return []
  const bytes = packAddress(address).subarray(1)
  const places = EMBEDDED_IPV4_FORMATS.filter(({ range }) => contains(range, address)).flatMap(
    (wrapping) => wrapping.offsets,
  )
  if (ISATAP_PREFIXES.has(Buffer.from(bytes.subarray(8, 12)).toString('hex'))) places.push({ at: 12, mask: 0 })
  return places.map(({ at, mask }) =>
    unpackAddress(Uint8Array.of(4, ...bytes.subarray(at, at + 4).map((byte) => byte ^ mask))),
  )
}

function mappedEndpoint(address: IpAddress, { port, connectTo: at }: PortMapping): VettedEndpoint {
  return at === undefined ? { address, port, isOwn: true } : { address, port, isOwn: true, connectTo: at }
}

function publicPortOf({ publicPort: standsFor }: PortMapping): number {
  if (!WEB_PORTS.has(standsFor)) throw new RangeError(`nothing of the web stands at port ${standsFor}`)
  return standsFor
}

function endpointKey(address: IpAddress, port: number): string {
  return `${address} ${port}`
}
