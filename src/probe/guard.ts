/** The guard: decides whether the crawler may connect to an address. It knows the IANA special-purpose registries. */

import { BlockList } from 'node:net'
import { addressFamily, type IpAddress, packAddress, parseAddress, unpackAddress } from '../values/ip-address.ts'
import type { VettedEndpoint } from './probe-result.ts'

/**
 * RFC 6890: https://www.iana.org/assignments/iana-ipv4-special-registry. Includes its globally reachable rows (AS112,
 * PCP and TURN anycast), because no website is there.
 */
const SPECIAL_IPV4_RANGES = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private use
  '100.64.0.0/10', // shared address space
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private use
  '192.0.0.0/24', // IETF protocol assignments, including DS-Lite, PCP, TURN, NAT64 discovery and the dummy address
  '192.0.2.0/24', // documentation (TEST-NET-1)
  '192.31.196.0/24', // AS112-v4
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relay anycast, deprecated, and 6a44 relay anycast
  '192.168.0.0/16', // private use
  '192.175.48.0/24', // direct delegation AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation (TEST-NET-2)
  '203.0.113.0/24', // documentation (TEST-NET-3)
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved, including the limited broadcast
] as const

/**
 * RFC 6890: https://www.iana.org/assignments/iana-ipv6-special-registry, and everything outside global unicast,
 * 2000::/3 (https://www.iana.org/assignments/ipv6-address-space). That is loopback, unspecified, mapped,
 * IPv4-compatible, NAT64, discard-only, segment routing, unique-local, link-local, site-local and multicast. For
 * 64:ff9b::/96, the embedded address counts.
 */
const SPECIAL_IPV6_RANGES = [
  '::/3',
  '2001::/23', // IETF protocol assignments, including Teredo, PCP, TURN, benchmarking, AMT, AS112-v6, ORCHID, DRIP
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // direct delegation AS112
  '3ffe::/16', // 6bone, returned (RFC 3701)
  '3fff::/20', // documentation (RFC 9637)
  '4000::/2',
  '8000::/1',
] as const

/**
 * Ranges that no setting allows: link-local, the metadata addresses of clouds (AWS, Google, Alibaba, Azure), this
 * network, multicast and broadcast. Also the unspecified addresses, which mean the machine itself, and the operator's
 * NAT64 (RFC 8215), which can embed an address at several offsets.
 */
const NEVER_ALLOWED_RANGES = [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '64:ff9b:1::/48',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fe80::/10',
  'ff00::/8',
] as const

/** The leading `bits` bits of `base` are the same in all addresses of the range. The other bits of `base` are zero. */
export type AddressRange = { base: IpAddress; bits: number }

/**
 * An endpoint of the lab: connections to `address` at `publicPort`, 80 or 443, go to `port` there, or at `connectTo`.
 */
export type PortMapping = { address: IpAddress; port: number; publicPort: number; connectTo?: IpAddress }

export type Guard = {
  /** The endpoint for this address and web port. Returns null if the crawler must not connect. */
  vet(address: IpAddress, port: number): VettedEndpoint | null
}

type GuardOptions = {
  portMappings?: readonly PortMapping[]
  /** The operator's own ranges, allowed on ports 80 and 443. */
  allowed?: readonly AddressRange[]
  /** Allows only those ranges and the port mappings. */
  onlyAllowed?: boolean
  /** Never allowed, whatever `allowed` contains. 0.0.0.0 and :: stand for every allowed address. */
  blocked?: readonly { address: IpAddress; port: number }[]
  /** Whether the owner of an address opted out. Called each time. */
  isOptedOut?: (address: IpAddress) => boolean
}

/**
 * A format of IPv6 addresses with embedded IPv4 addresses: their byte offsets, and the mask that inverts their bits.
 */
type EmbeddedIpv4Format = { range: BlockLists; offsets: readonly { at: number; mask: number }[] }

const WEB_PORTS = new Set([80, 443])
const UNSPECIFIED_ADDRESSES = new Set(['0.0.0.0', '::'])
const MAPPED = '::ffff:'
const LOOPBACK = '::1'
const specialRanges = toBlockLists([...SPECIAL_IPV4_RANGES, ...SPECIAL_IPV6_RANGES].map(requireRange))
const neverRanges = toBlockLists(NEVER_ALLOWED_RANGES.map(requireRange))

const nat64Range = toBlockLists([requireRange('64:ff9b::/96')])

/**
 * Every embedded address must pass as well. All formats except NAT64 are special ranges, so this matters if they are
 * allowed.
 */
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

/** The start of an ISATAP interface identifier (RFC 5214), which an IPv4 address follows, in any network. */
const ISATAP_PREFIXES = new Set(['00005efe', '02005efe'])

/**
 * A guard that allows ports 80 and 443 of addresses that are neither special (the registries above) nor blocked.
 * A mapped address counts as its IPv4 address. Throws RangeError for a port mapping with another public port.
 */
export function makeGuard(options: GuardOptions = {}): Guard {
  const mappings = new Map(
    (options.portMappings ?? []).map((mapping) => [
      endpointKey(unmapped(mapping.address), publicPortOf(mapping)),
      mapping,
    ]),
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
    const embedded = embeddedIpv4(address)
    if (!embedded.every((inner) => passes(inner, port))) return false
    if (contains(allowed, address)) return !blockedPorts.has(port)
    if (options.onlyAllowed) return false
    return !contains(specialRanges, address) || contains(nat64Range, address)
  }

  return {
    vet(original, port) {
      if (!WEB_PORTS.has(port)) return null
      const address = unmapped(original)
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

/**
 * The address that a connection reaches. For a mapped address and for one behind NAT64 (RFC 6052), it is the IPv4
 * address.
 */
export function effectiveAddress(original: IpAddress): IpAddress {
  const address = unmapped(original)
  return addressFamily(address) === 6 && contains(nat64Range, address) ? embeddedIpv4(address)[0]! : address
}

/** Returns a function that checks whether one of the ranges contains an address. */
export function rangeMatcher(ranges: readonly AddressRange[]): (address: IpAddress) => boolean {
  const lists = toBlockLists(ranges)
  return (address) => contains(lists, unmapped(address))
}

/**
 * Parses a range such as `127.0.0.0/8` or `::1/128`, or one address. Returns null for other text, for bits set after
 * the prefix, and for mapped addresses, which must be written as IPv4.
 */
export function parseAddressRange(text: string): AddressRange | null {
  const [, address = '', digits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const base = parseAddress(address)
  if (base === null || unmapped(base) !== base) return null
  const maxBits = addressFamily(base) === 4 ? 32 : 128
  const bits = digits === undefined ? maxBits : Number(digits)
  return bits <= maxBits && hasZeroHostBits(packAddress(base).subarray(1), bits) ? { base, bits } : null
}

/** Classifies the range: only addresses that no setting allows, only special addresses, or also public ones. */
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

/** Whether all bits after the first `bits` are zero. */
function hasZeroHostBits(bytes: Uint8Array, bits: number): boolean {
  return bytes.every((byte, index) => (byte & (0xff >> Math.min(Math.max(bits - 8 * index, 0), 8))) === 0)
}

function requireRange(text: string): AddressRange {
  const range = parseAddressRange(text)
  if (range === null) throw new RangeError(`${text} is not an address range`)
  return range
}

/** One list per family, because in a combined list ::/0 also contains 192.0.2.1. */
type BlockLists = { 4: BlockList; 6: BlockList }

function toBlockLists(ranges: readonly AddressRange[]): BlockLists {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const { base, bits } of ranges) lists[addressFamily(base)].addSubnet(base, bits, `ipv${addressFamily(base)}`)
  return lists
}

function contains(lists: BlockLists, address: IpAddress): boolean {
  return lists[addressFamily(address)].check(address, `ipv${addressFamily(address)}`)
}

/** The IPv4 address of a mapped one (RFC 4291, section 2.5.5.2). Otherwise the address itself. */
function unmapped(address: IpAddress): IpAddress {
  return address.startsWith(MAPPED) && address.includes('.') ? (address.slice(MAPPED.length) as IpAddress) : address
}

/** The IPv4 addresses embedded in an IPv6 address. */
function embeddedIpv4(address: IpAddress): IpAddress[] {
  if (addressFamily(address) === 4 || address === LOOPBACK) return []
  const bytes = packAddress(address).subarray(1)
  const offsets = EMBEDDED_IPV4_FORMATS.filter(({ range }) => contains(range, address)).flatMap(
    ({ offsets }) => offsets,
  )
  if (ISATAP_PREFIXES.has(Buffer.from(bytes.subarray(8, 12)).toString('hex'))) offsets.push({ at: 12, mask: 0 })
  return offsets.map(({ at, mask }) =>
    unpackAddress(Uint8Array.of(4, ...bytes.subarray(at, at + 4).map((byte) => byte ^ mask))),
  )
}

function mappedEndpoint(address: IpAddress, { port, connectTo }: PortMapping): VettedEndpoint {
  return connectTo === undefined ? { address, port, isOwn: true } : { address, port, isOwn: true, connectTo }
}

function publicPortOf({ publicPort }: PortMapping): number {
  if (!WEB_PORTS.has(publicPort)) throw new RangeError(`public port ${publicPort} is not a web port: use 80 or 443`)
  return publicPort
}

function endpointKey(address: IpAddress, port: number): string {
  return `${address} ${port}`
}
