/** The self-check plan: the control questions, as parsed from a setting. */

import { type IpAddress, parseAddress } from '../../values/ip-address.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import { parseDnsServer } from '../dns/server.ts'

/** The control questions of a self-check. */
export type SelfCheckPlan = {
  /** Hosts whose SOA every resolver must return. */
  zones: readonly string[]
  /** A made-up label below this host must not exist. Null if not checked. */
  missingUnder: string | null
  /** A host without AAAA. A resolver that returns one synthesizes it (RFC 7050). Null if not checked. */
  ipv4only: string | null
  /** Existing hosts that filters block. Only `domaindex doctor` queries them. */
  unfiltered: readonly string[]
  /** For each available family, one of them must accept a TCP connection. */
  addresses: readonly { address: IpAddress; port: number }[]
}

/** The root servers, a to m, from the root hints of InterNIC (named.root, 2024-06-14). They answer over TCP. */
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

/**
 * The zones belong to operators that have little in common. The unfiltered hosts are those by which Quad9, Cloudflare
 * and OpenDNS let users test their filters.
 */
export const DEFAULT_SELF_CHECK_PLAN: SelfCheckPlan = {
  zones: ['.', 'com', 'org', 'de', 'uk', 'br'],
  missingUnder: 'com',
  ipv4only: 'ipv4only.arpa',
  unfiltered: ['isitblocked.org', 'malware.testcategory.com', 'internetbadguys.com'],
  addresses: ROOT_SERVERS.flat().map((text) => ({ address: parseAddress(text)!, port: 53 })),
}

const NONE = 'none'
const MAX_PLAN_ITEMS = 32

/** The parser of each part. Returns undefined if the text is invalid. */
const PLAN_PARSERS: { readonly [Key in keyof SelfCheckPlan]: (text: string) => SelfCheckPlan[Key] | undefined } = {
  zones: (text) => readPlanList(text, parseHostName),
  missingUnder: readPlanHost,
  ipv4only: readPlanHost,
  unfiltered: (text) => readPlanList(text, parseHostName),
  addresses: (text) => readPlanList(text, parseDnsServer),
}

/** The key of each part by its name in the text. */
const PLAN_KEYS: ReadonlyMap<string, keyof SelfCheckPlan> = new Map([
  ['zones', 'zones'],
  ['missing', 'missingUnder'],
  ['ipv4only', 'ipv4only'],
  ['unfiltered', 'unfiltered'],
  ['addresses', 'addresses'],
])

/**
 * Parses `zones=.,com missing=com ipv4only=ipv4only.arpa unfiltered=isitblocked.org
 * addresses=198.41.0.4:53,[2001:db8::1]:53`. The parts are separated by spaces and may have any order. `none` disables a
 * part. A missing part has its value from DEFAULT_SELF_CHECK_PLAN. Returns undefined for any other text.
 */
export function parseSelfCheckPlan(text: string): SelfCheckPlan | undefined {
  const plan: Partial<Record<keyof SelfCheckPlan, unknown>> = {}
  for (const part of text.split(' ').filter((each) => each !== '')) {
    const [, name = '', value = ''] = /^(\w+)=(.+)$/.exec(part) ?? []
    const key = PLAN_KEYS.get(name)
    if (key === undefined || key in plan) return undefined
    plan[key] = PLAN_PARSERS[key](value)
    if (plan[key] === undefined) return undefined
  }
  return { ...DEFAULT_SELF_CHECK_PLAN, ...(plan as Partial<SelfCheckPlan>) }
}

function readPlanHost(text: string): string | null | undefined {
  return text === NONE ? null : (parseHostName(text) ?? undefined)
}

function readPlanList<Item>(text: string, read: (item: string) => Item | null): Item[] | undefined {
  if (text === NONE) return []
  const items = text.split(',').map(read)
  return items.length <= MAX_PLAN_ITEMS && items.every((item) => item !== null) ? items : undefined
}
