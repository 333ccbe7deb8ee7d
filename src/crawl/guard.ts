/** The guard: decides where the crawler may connect to. */

import { BlockList } from 'node:net'
import { type Address, family, packAddress, parseAddress, unpackAddress } from '../words/address.ts'
import { NEVER, SPECIAL_IPV4, SPECIAL_IPV6 } from './ranges.ts'
import type { Vetted } from './visit.ts'

/** `bits` leading bits of `base` are the same in all addresses of the range; those behind them are zero in `base`. */
export type Range = { base: Address; bits: number }

/** A door of the lab: connections to `address` at `standsFor`, 80 or 443, go to `port` there, or of the address `at`. */
export type Stand = { address: Address; port: number; standsFor: number; at?: Address }

export type Guard = {
  /** Where to connect to for this address and this port of the web, or null where we do not. */
  vet(address: Address, port: number): Vetted | null
}

type GuardOptions = {
  stands?: readonly Stand[]
  /** The operator's own ranges, opened on ports 80 and 443. */
  opened?: readonly Range[]
  /** Nothing but those ranges and the doors of the lab. */
  onlyOpened?: boolean
  /** Never connected to, whatever is opened; 0.0.0.0 and :: stand for every address that is opened. */
  closed?: readonly { address: Address; port: number }[]
  /** Whether the owner of an address wants no visits; asked each time. */
  isLeftOut?: (address: Address) => boolean
}

/** A form of IPv6 addresses with IPv4 addresses inside: from which byte on, and what their bits are inverted with. */
type Wrapping = { range: Blocks; places: readonly { at: number; mask: number }[] }

const WEB_PORTS = new Set([80, 443])
const ANYWHERE = new Set(['0.0.0.0', '::'])
const MAPPED = '::ffff:'
const LOOPBACK = '::1'
const special = blocks([...SPECIAL_IPV4, ...SPECIAL_IPV6].map(rangeOf))
const never = blocks(NEVER.map(rangeOf))

const nat64 = blocks([rangeOf('64:ff9b::/96')])

/** Every address inside must pass as well. All but NAT64 are special themselves, so that it counts where they are opened. */
const WRAPPINGS: readonly Wrapping[] = [
  { range: nat64, places: [{ at: 12, mask: 0 }] }, // RFC 6052
  { range: blocks([rangeOf('2002::/16')]), places: [{ at: 2, mask: 0 }] }, // 6to4, RFC 3056
  {
    range: blocks([rangeOf('2001::/32')]), // Teredo, RFC 4380: the server, and the client obfuscated
    places: [
      { at: 4, mask: 0 },
      { at: 12, mask: 0xff },
    ],
  },
  { range: blocks([rangeOf('::/96')]), places: [{ at: 12, mask: 0 }] }, // IPv4-compatible, RFC 4291
  { range: blocks([rangeOf('::ffff:0:0:0/96')]), places: [{ at: 12, mask: 0 }] }, // translated, RFC 2765
]

/** How the interface identifier begins behind which ISATAP (RFC 5214) keeps an IPv4 address, in whatever network. */
const ISATAP = new Set(['00005efe', '02005efe'])

/**
 * A guard that lets through what is neither special (src/crawl/ranges.ts) nor closed, on ports 80 and 443. A mapped address
 * is the IPv4 address. Throws RangeError for a stand that stands for another port.
 */
export function makeGuard(options: GuardOptions = {}): Guard {
  const doors = new Map((options.stands ?? []).map((stand) => [doorKey(plain(stand.address), webPort(stand)), stand]))
  const opened = blocks(options.opened ?? [])
  const closed = new Set((options.closed ?? []).map(({ address, port }) => doorKey(plain(address), port)))
  const closedEverywhere = new Set(
    (options.closed ?? []).filter((row) => ANYWHERE.has(row.address)).map((row) => row.port),
  )

  const isShut = (address: Address, port: number): boolean =>
    holds(never, address) || closed.has(doorKey(address, port)) || options.isLeftOut?.(address) === true

  const passes = (address: Address, port: number): boolean => {
    if (isShut(address, port)) return false
    const inside = unwrap(address)
    if (!inside.every((inner) => passes(inner, port))) return false
    if (holds(opened, address)) return !closedEverywhere.has(port)
    if (options.onlyOpened) return false
    return !holds(special, address) || (inside.length > 0 && holds(nat64, address))
  }

  return {
    vet(given, port) {
      if (!WEB_PORTS.has(port)) return null
      const address = plain(given)
      const door = doors.get(doorKey(address, port))
      if (door !== undefined)
        return isShut(address, door.port) || isShut(door.at ?? address, door.port) ? null : openDoor(address, door)
      if (!passes(address, port)) return null
      return holds(opened, address) ? { address, port, own: true } : { address, port }
    },
  }
}

/** The address that a connection comes to: the IPv4 address for a mapped one and for one behind NAT64 (RFC 6052). */
export function reachedAt(given: Address): Address {
  const address = plain(given)
  return family(address) === 6 && holds(nat64, address) ? unwrap(address)[0]! : address
}

/** Whether one of the ranges holds an address. */
export function rangesHold(ranges: readonly Range[]): (address: Address) => boolean {
  const lists = blocks(ranges)
  return (address) => holds(lists, plain(address))
}

/**
 * A range as `127.0.0.0/8` or `::1/128` or one address; null for other text, where bits behind the prefix are set, and for
 * mapped addresses, which are written as IPv4.
 */
export function parseRange(text: string): Range | null {
  const [, address = '', digits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const base = parseAddress(address)
  if (base === null || plain(base) !== base) return null
  const most = family(base) === 4 ? 32 : 128
  const bits = digits === undefined ? most : Number(digits)
  return bits <= most && clearBehind(packAddress(base).subarray(1), bits) ? { base, bits } : null
}

/** What a range holds once it is opened: nothing but what stays closed, nothing but special addresses, or public ones too. */
export function kindOf(range: Range): 'closed' | 'special' | 'public' {
  const isWithin = (text: string): boolean => {
    const outer = rangeOf(text)
    return family(outer.base) === family(range.base) && outer.bits <= range.bits && holds(blocks([outer]), range.base)
  }
  if (NEVER.some(isWithin)) return 'closed'
  return [...SPECIAL_IPV4, ...SPECIAL_IPV6].some(isWithin) ? 'special' : 'public'
}

/** Whether all bits behind the first `bits` are zero. */
function clearBehind(bytes: Uint8Array, bits: number): boolean {
  return bytes.every((byte, index) => (byte & (0xff >> Math.min(Math.max(bits - 8 * index, 0), 8))) === 0)
}

function rangeOf(text: string): Range {
  const range = parseRange(text)
  if (range === null) throw new RangeError(`${text} is no range`)
  return range
}

/** One list a family: in a list of both, ::/0 holds 192.0.2.1 as well. */
type Blocks = { 4: BlockList; 6: BlockList }

function blocks(ranges: readonly Range[]): Blocks {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const { base, bits } of ranges) lists[family(base)].addSubnet(base, bits, `ipv${family(base)}`)
  return lists
}

function holds(lists: Blocks, address: Address): boolean {
  return lists[family(address)].check(address, `ipv${family(address)}`)
}

/** The IPv4 address for a mapped one (RFC 4291, chapter 2.5.5.2), otherwise the address itself. */
function plain(address: Address): Address {
  return address.startsWith(MAPPED) && address.includes('.') ? (address.slice(MAPPED.length) as Address) : address
}

/** The IPv4 addresses inside an IPv6 address. */
function unwrap(address: Address): Address[] {
  if (family(address) === 4 || address === LOOPBACK) return []
  const bytes = packAddress(address).subarray(1)
  const places = WRAPPINGS.filter(({ range }) => holds(range, address)).flatMap((wrapping) => wrapping.places)
  if (ISATAP.has(Buffer.from(bytes.subarray(8, 12)).toString('hex'))) places.push({ at: 12, mask: 0 })
  return places.map(({ at, mask }) =>
    unpackAddress(Uint8Array.of(4, ...bytes.subarray(at, at + 4).map((byte) => byte ^ mask))),
  )
}

function openDoor(address: Address, { port, at }: Stand): Vetted {
  return at === undefined ? { address, port, own: true } : { address, port, own: true, at }
}

function webPort({ standsFor }: Stand): number {
  if (!WEB_PORTS.has(standsFor)) throw new RangeError(`nothing of the web stands at port ${standsFor}`)
  return standsFor
}

function doorKey(address: Address, port: number): string {
  return `${address} ${port}`
}
