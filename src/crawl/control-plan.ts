/** The control plan: what is asked to know whether we see, as a setting says it. */

import { type Address, parseAddress } from '../words/address.ts'
import { parseHost } from '../words/host.ts'
import { parseServer } from './dns-server.ts'

/** What is asked to know whether we see. */
export type ControlPlan = {
  /** Hosts whose SOA every resolver must give. */
  zones: readonly string[]
  /** A made-up label under this host must not exist; null: not asked. */
  missing: string | null
  /** A host that has no AAAA, so that a resolver that gives one makes them up (RFC 7050); null: not asked. */
  ipv4only: string | null
  /** Of each family that is here, one must accept a TCP connection. */
  addresses: readonly { address: Address; port: number }[]
}

/** The root servers , a to m, as in the root hints of InterNIC (named.root, 2024-06-14): they answer over TCP. */
const ROOT_SERVERS = [
  ['198.41.0.4', '2001:503:ba3e::2:30'],
  ['170.247.170.2', '2801:1b8:10::b'],
  ['192.33.4.12', '2001:500:2::c'],
  ['199.7.91.13', '2001:500:2d::d'],
  ['192.203.230.10', '2001:500:a8::e'],
  ['192.5.5.241', '2001:500:2f::f'],
  ['192.112.36.4', '2001:500:12::d0d'],
  ['198.97.190.53', '2001:500:1::53'],
  ['192.36.148.17', '2001:7fe::53'],
  ['192.58.128.30', '2001:503:c27::2:30'],
  ['193.0.14.129', '2001:7fd::1'],
  ['199.7.83.42', '2001:500:9f::42'],
  ['202.12.27.33', '2001:dc3::35'],
]

/** The zones are those of operators who have little in common. */
export const DEFAULT_PLAN: ControlPlan = {
  zones: ['.', 'com', 'org', 'de', 'uk', 'br'],
  missing: 'com',
  ipv4only: 'ipv4only.arpa',
  addresses: ROOT_SERVERS.flat().map((text) => ({ address: parseAddress(text)!, port: 53 })),
}

const NONE = 'none'
const MOST = 32

/** How the text of one part is read: undefined where it cannot be. */
const PARTS: { readonly [Key in keyof ControlPlan]: (text: string) => ControlPlan[Key] | undefined } = {
  zones: (text) => readList(text, parseHost),
  missing: readHost,
  ipv4only: readHost,
  addresses: (text) => readList(text, parseServer),
}

/**
 * `zones=.,com missing=com ipv4only=ipv4only.arpa addresses=198.41.0.4:53,[2001:db8::1]:53`: parts in any order, separated by
 * spaces; `none` for nothing. What is left out is as in DEFAULT_PLAN. Undefined for any other text.
 */
export function parsePlan(text: string): ControlPlan | undefined {
  const plan: Partial<Record<keyof ControlPlan, unknown>> = {}
  for (const part of text.split(' ').filter((each) => each !== '')) {
    const [, key = '', value = ''] = /^(\w+)=(.+)$/.exec(part) ?? []
    if (!isKey(key) || key in plan) return undefined
    plan[key] = PARTS[key](value)
    if (plan[key] === undefined) return undefined
  }
  return { ...DEFAULT_PLAN, ...(plan as Partial<ControlPlan>) }
}

function isKey(text: string): text is keyof ControlPlan {
  return Object.hasOwn(PARTS, text)
}

function readHost(text: string): string | null | undefined {
  return text === NONE ? null : (parseHost(text) ?? undefined)
}

function readList<Item>(text: string, read: (item: string) => Item | null): Item[] | undefined {
  if (text === NONE) return []
  const items = text.split(',').map(read)
  return items.length <= MOST && items.every((item) => item !== null) ? items : undefined
}
