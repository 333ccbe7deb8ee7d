/** Reads a request of the DNSDB API: what is asked for, and the parameters of the query string. */

import type { NameFilter } from '../../search/name-query.ts'
import { type FlexibleKind, type NameSearch, parseFlexibleFilter, parseFlexibleSearch } from '../../search/pattern.ts'
import type { TimeFence } from '../../store/port/inverse.ts'
import { HOST_TYPES } from '../../store/port/inverse.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import {
  addressFamily,
  type IpAddress,
  networkAround,
  packAddress,
  parseQueryAddress,
} from '../../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../http/errors.ts'
import type { Parameters } from '../http/parameters.ts'
import { parseHex, parseWireName, type RdataSearch, searchesOfData } from './raw-data.ts'

/** The owners whose sets of records are asked for. `name` null: no name of this store can match. */
export type RrsetTarget = {
  name: DomainName | string | null
  match: 'exact' | 'below' | 'starting'
  types: readonly RecordType[]
  bailiwick: string | null
}

/** What limits the rows of an answer. `maxCount`: a summary ends when its count has reached it. */
export type RowLimits = {
  fence: TimeFence
  limit: number
  offset: number
  isAggregated: boolean
  isHumanTime: boolean
  maxCount: number
}

/** The offset may be this many times the row limit of the plan. */
const OFFSET_FACTOR = 4

export function maxOffsetOf({ limits }: Pick<Caller, 'limits'>): number {
  return limits.pageRows * OFFSET_FACTOR
}

function invalid(msg: string): ApiError {
  return new ApiError('value_invalid', { msg })
}

/** The types of IANA's registry that this service does not observe: valid, and nothing is on record for them. */
const OTHER_TYPES = new Set(
  (
    'ANY-DNSSEC A6 AFSDB AMTRELAY APL ATMA AVC CAA CDNSKEY CDS CERT CSYNC DHCID DLV DNAME DNSKEY DOA DS DSYNC EID EUI48 ' +
    'EUI64 GID GPOS HINFO HIP HTTPS IPSECKEY ISDN KEY KX L32 L64 LOC LP MB MD MF MG MINFO MR NAPTR NID NIMLOC NINFO NSAP ' +
    'NSAP-PTR NSEC NSEC3 NSEC3PARAM NULL NXT OPENPGPKEY PTR PX RESINFO RKEY RP RRSIG RT SIG SINK SMIMEA SPF SRV SSHFP SVCB ' +
    'TA TALINK TLSA UID UINFO UNSPEC URI WALLET WKS X25 ZONEMD'
  ).split(' '),
)

/** The record types of a path. Throws `value_invalid` for a text that is no type. */
function readTypes(text: string | undefined): readonly RecordType[] {
  const type = (text ?? 'ANY').toUpperCase()
  if (type === 'ANY' || type === '') return RECORD_TYPES
  const known = RECORD_TYPES.find((each) => each === type)
  if (known !== undefined) return [known]
  if (OTHER_TYPES.has(type) || /^TYPE\d{1,5}$/.test(type)) return []
  throw invalid(`The record type ${quoted(text ?? '')} is unknown: send one such as A, or ANY.`)
}

/** Characters of a text that an error message repeats. */
const MAX_QUOTED_CHARACTERS = 80

/** A text from the request for an error message. */
function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text)
}

/** The canonical host of a name in presentation form; null for one that is too long. Throws `value_invalid`. */
function readHost(text: string): string | null {
  const host = parseName(text) ?? parseHostName(text)
  if (host === null && !isTooLong(text)) throw invalid(`${quoted(text)} is not a name: send one such as example.com.`)
  return host
}

/** Whether a text of plain labels is too long for a name, or one of its labels for a label (RFC 1035, section 2.3.4). */
function isTooLong(text: string): boolean {
  return /^(?:[\w-]+\.)*[\w-]+\.?$/.test(text) && /[\w-]{64}|.{254}/.test(text)
}

/** A name with an optional wildcard label at one of its ends; `host` null: too long. Throws `value_invalid`. */
function readPattern(text: string): { host: string | null; match: RrsetTarget['match'] } {
  const plain = text.endsWith('.') && text.length > 1 ? text.slice(0, -1) : text
  const isBelow = plain.startsWith('*.')
  const isStarting = plain.endsWith('.*')
  if (plain === '*' || (isBelow && isStarting))
    throw invalid('A wildcard is the label at one end of a name: send *.example.com or example.*')
  const rest = plain.slice(isBelow ? 2 : 0, isStarting ? -2 : undefined)
  return { host: readHost(rest), match: isBelow ? 'below' : isStarting ? 'starting' : 'exact' }
}

/** The parameters in a path. */
export type PathParameters = { by: string; value: string; type?: string; bailiwick?: string }

/** What `rrset/BY/VALUE[/TYPE[/BAILIWICK]]` asks for. Throws `endpoint_unknown` and `value_invalid`. */
export function readRrsetTarget({ by, value, type, bailiwick }: PathParameters): RrsetTarget {
  const types = readTypes(type)
  const zone = bailiwick ? readHost(bailiwick) : null
  if (by === 'raw') {
    const bytes = parseHex(value)
    const host = bytes && parseWireName(bytes)
    if (host === null) throw invalid('The raw name is not one in wire form, as an even number of hexadecimal digits.')
    if (zone !== null) throw invalid('A raw lookup takes no bailiwick.')
    return { name: parseName(host), match: 'exact', types, bailiwick: null }
  }
  if (by !== 'name') throw invalid(`An rrset is looked up by name or raw, not by ${quoted(by)}.`)
  const { host, match } = readPattern(value)
  const isImpossible = host === null || (bailiwick && zone === null)
  const name = isImpossible ? null : match === 'exact' ? parseName(host) : host
  return { name, match, types, bailiwick: zone }
}

/** What `rdata/BY/VALUE[/TYPE]` asks for. Throws `value_invalid`. */
export function readRdataSearches({ by, value, type }: PathParameters): RdataSearch[] {
  const types = readTypes(type)
  if (by === 'raw') {
    const bytes = parseHex(value)
    if (bytes === null) throw invalid('Raw data is an even number of hexadecimal digits.')
    return searchesOfData(bytes, types)
  }
  if (by === 'ip') return [readAddresses(value, type)]
  if (by !== 'name') throw invalid(`Data is looked up by name, ip or raw, not by ${quoted(by)}.`)
  const { host, match } = readPattern(value)
  const hostTypes = HOST_TYPES.filter((each) => types.includes(each))
  return host === null || hostTypes.length === 0
    ? []
    : [{ query: { by: 'hosts', host, match, types: hostTypes }, priority: null, soa: null }]
}

/** What a flexible search asks for. `exclude`: names that are left out. `isVerbose`: rows have a count and times. */
export type FlexibleRequest = {
  search: NameSearch
  exclude: NameFilter | null
  types: readonly RecordType[]
  isVerbose: boolean
}

/** What `KIND/rrnames/VALUE[/TYPE]` asks for. Throws `value_invalid`. */
export function readFlexibleRequest(
  kind: FlexibleKind,
  { value, type }: Pick<PathParameters, 'value' | 'type'>,
  parameters: Parameters,
): FlexibleRequest {
  const search = parseFlexibleSearch(kind, value)
  if (typeof search === 'string') throw invalid(search)
  const excluded = textOf(parameters, 'exclude')
  const exclude = excluded === null ? null : parseFlexibleFilter(kind, excluded)
  if (typeof exclude === 'string') throw invalid(`exclude: ${exclude}`)
  return { search, exclude, types: readTypes(type), isVerbose: readSwitch(parameters, 'verbose', true) }
}

/** One address, `ADDRESS,PREFIX` or `FIRST-LAST`. DNSDB takes A and AAAA for each other here, and no other type. */
function readAddresses(text: string, type: string | undefined): RdataSearch {
  if (!['A', 'AAAA', 'ANY', ''].includes((type ?? '').toUpperCase()))
    throw invalid('The type of an address is A, AAAA or ANY.')
  const [firstText = '', lastText, ...more] = text.split('-')
  const [address = '', prefix] = firstText.split(/[,/]/, 2)
  const start = parseQueryAddress(address)
  const end = lastText === undefined ? start : parseQueryAddress(lastText)
  const problem = 'Send an address, a network such as 192.0.2.0,24, or a range such as 192.0.2.1-192.0.2.9.'
  if (start === null || end === null || more.length > 0 || (prefix !== undefined && lastText !== undefined))
    throw invalid(`${quoted(text)} is not an address, a network or a range. ${problem}`)
  if (addressFamily(start) !== addressFamily(end) || Buffer.compare(packAddress(start), packAddress(end)) > 0)
    throw invalid(`The range ${quoted(text)} has no addresses: its ends are in the wrong order or of two families.`)
  const [first, last] = prefix === undefined ? [start, end] : networkOf(start, prefix)
  return { query: { by: 'addresses', first, last }, priority: null, soa: null }
}

/** The first and the last address of a network. Bits after the prefix are ignored. */
function networkOf(address: IpAddress, prefixText: string): [IpAddress, IpAddress] {
  const network = /^\d{1,3}$/.test(prefixText) ? networkAround(address, Number(prefixText)) : null
  if (network === null)
    throw invalid(`The prefix length is a number from 0 to ${addressFamily(address) === 4 ? 32 : 128}.`)
  return [network.first, network.last]
}

/** The parameters of the query string. Throws `value_invalid` and `offset_too_large`. */
export function readRowLimits(parameters: Parameters, caller: Caller, isSummary: boolean): RowLimits {
  const limit = readCount(parameters, 'limit') ?? 0
  const offset = readCount(parameters, 'offset') ?? 0
  const maxOffset = isSummary ? 0 : maxOffsetOf(caller)
  if (offset > maxOffset)
    throw new ApiError('offset_too_large', { msg: `The largest offset of this request is ${maxOffset}.` })
  const maxCount = isSummary ? (readCount(parameters, 'max_count') ?? 0) : 0
  return {
    fence: readFence(parameters, caller.now),
    limit: limit === 0 ? caller.limits.pageRows : Math.min(limit, caller.limits.pageRows),
    offset,
    isAggregated: readSwitch(parameters, 'aggr', true),
    isHumanTime: readSwitch(parameters, 'humantime', false),
    maxCount: maxCount === 0 ? Number.POSITIVE_INFINITY : maxCount,
  }
}

function readFence(parameters: Parameters, now: number): TimeFence {
  const fence: TimeFence = {}
  for (const [key, name] of [
    ['firstBefore', 'time_first_before'],
    ['firstAfter', 'time_first_after'],
    ['lastBefore', 'time_last_before'],
    ['lastAfter', 'time_last_after'],
  ] as const) {
    const text = textOf(parameters, name)
    if (text === null) continue
    if (!/^-?\d{1,11}$/.test(text)) throw invalid(`${name} is a time in Unix seconds, or a negative number of seconds.`)
    fence[key] = text.startsWith('-') ? now + Number(text) : Number(text)
  }
  return fence
}

function readCount(parameters: Parameters, name: string): number | null {
  const text = textOf(parameters, name)
  if (text === null) return null
  if (!/^\d{1,15}$/.test(text)) throw invalid(`${name} is a whole number from 0.`)
  return Number(text)
}

const SWITCHES: Readonly<Record<string, boolean>> = { t: true, true: true, 1: true, f: false, false: false, 0: false }

function readSwitch(parameters: Parameters, name: string, fallback: boolean): boolean {
  const text = textOf(parameters, name)
  if (text === null) return fallback
  const value = SWITCHES[text.toLowerCase()]
  if (value === undefined) throw invalid(`${name} is true or false.`)
  return value
}

function textOf(parameters: Parameters, name: string): string | null {
  const value = parameters[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
