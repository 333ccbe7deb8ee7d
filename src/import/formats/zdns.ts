/** Reads lines of zdns (https://github.com/zmap/zdns): results of one or more modules for one name, in both layouts. */

import { domainProblem, objectsIn, parseJsonObject, stringOrEmpty } from '../../observe/json.ts'
import type { DnsAnswer } from '../../probe/probe-result.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { isObject } from '../../values/json-object.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { adminEmail } from '../../values/records/host-name.ts'
import { type Instant, parseInstant } from '../../values/time.ts'
import { unescapeOptional } from './presentation.ts'
import { answerByStatus, answerFromMessage, answerWithRecords, type PrintedRecord } from './printed-message.ts'
import { type ImportFormat, lineByLine, NO_TIME_PROBLEM, type ParsedLine, type Sighting } from './sighting.ts'

type ZdnsEntry = Record<string, unknown>
type TypedAnswer = { type: RecordType; answer: DnsAnswer }
/** Interprets the status and data of a module. Returns a problem as text. */
type ModuleParser = (name: DomainName, status: string, data: ZdnsEntry) => TypedAnswer[] | string

const LOOKUP_MODULES: Record<string, ModuleParser> = {
  ALOOKUP: parseAddressLookup,
  MXLOOKUP: (_, status, { exchanges }) => parseListedRecords('MX', status, exchanges, mailServer),
  NSLOOKUP: (_, status, { servers }) => parseListedRecords('NS', status, servers, ({ name }) => name),
}
const MODULE_PARSERS: [string, ModuleParser][] = [
  ...RECORD_TYPES.map((type): [string, ModuleParser] => [type, (...rest) => parseAnswers(type, ...rest)]),
  ...Object.entries(LOOKUP_MODULES),
]

const FLAG_NAMES = [
  ['authoritative', 'aa'],
  ['recursion_available', 'ra'],
  ['truncated', 'tc'],
] as const

/** Skips modules for other types, and modules that return a part of a type's records (SPF, DMARC). */
export const zdnsFormat: ImportFormat = (observedAt) => lineByLine((line) => parseZdnsLine(line, observedAt))

function parseZdnsLine(line: string, observedAt: Instant | null): ParsedLine {
  const value = parseJsonObject(line)
  if (typeof value === 'string') return value
  const key = value.altered_name ? 'altered_name' : 'name'
  const domain = value[key]
  const name = typeof domain === 'string' ? parseName(domain) : null
  if (name === null) return `${key}: ${domainProblem(domain)}`
  if (value.results === undefined) return parseModuleResult(name, moduleOfOldLayout(value), value, '', observedAt)
  if (!isObject(value.results)) return 'results: must be an object'
  const sightings: Sighting[] = []
  for (const [module, read] of MODULE_PARSERS) {
    const result = value.results[module]
    if (result === undefined) continue
    if (!isObject(result)) return `results.${module}: must be an object`
    const moduleSightings = parseModuleResult(name, read, result, `results.${module}.`, observedAt)
    if (typeof moduleSightings === 'string') return moduleSightings
    sightings.push(...moduleSightings)
  }
  return sightings
}

/** `path` precedes the field in the message of a problem. */
function parseModuleResult(
  name: DomainName,
  read: ModuleParser,
  result: ZdnsEntry,
  path: string,
  observedAt: Instant | null,
) {
  const { status, timestamp, data } = result
  if (typeof status !== 'string') return `${path}status: must be a text`
  const at = timestamp === undefined ? observedAt : typeof timestamp === 'string' ? parseInstant(timestamp) : null
  if (at === null) return timestamp === undefined ? NO_TIME_PROBLEM : `${path}timestamp: must be an RFC 3339 time`
  const answered = read(name, status, isObject(data) ? data : {})
  if (typeof answered === 'string') return `${path}data: ${answered}`
  return answered.map(({ type, answer }): Sighting => ({ name, at, kind: 'queried', type, answer }))
}

/** The old layout does not name its module, so the results identify it. */
function moduleOfOldLayout({ data }: ZdnsEntry): ModuleParser {
  if (!isObject(data)) return parseUnknownModule
  if (Array.isArray(data.exchanges)) return LOOKUP_MODULES.MXLOOKUP!
  if (Array.isArray(data.ipv4_addresses) || Array.isArray(data.ipv6_addresses)) return parseAddressLookup
  const isNames = Array.isArray(data.servers) && data.servers.every((each) => isObject(each) && each.type === 'NS')
  return isNames ? LOOKUP_MODULES.NSLOOKUP! : parseUnknownModule
}

/** The queried type is that of the last record in the chain. For NXDOMAIN, the type does not matter. */
function parseUnknownModule(name: DomainName, status: string, data: ZdnsEntry): TypedAnswer[] | string {
  const last = objectsIn(data.answers).at(-1)?.type ?? (status === 'NXDOMAIN' ? 'A' : undefined)
  const type = RECORD_TYPES.find((each) => each === last)
  return type === undefined ? [] : parseAnswers(type, name, status, data)
}

/** Without a list of answers, only a status that needs none yields an answer. */
function parseAnswers(type: RecordType, name: DomainName, status: string, data: ZdnsEntry): TypedAnswer[] | string {
  if (status === 'NOERROR' && !Array.isArray(data.answers)) return []
  const { flags } = data
  return typedAnswers(
    type,
    answerFromMessage(name, type, {
      status,
      answers: objectsIn(data.answers).map(printedFromZdns),
      authorities: objectsIn(data.authorities).map(({ type }) => stringOrEmpty(type)),
      flags: isObject(flags) ? FLAG_NAMES.filter(([key]) => flags[key] === true).map(([, short]) => short) : null,
    }),
  )
}

/** The results show which families were queried. They cannot show that a family has no address. */
function parseAddressLookup(_: DomainName, status: string, data: ZdnsEntry): TypedAnswer[] | string {
  if (status === 'NXDOMAIN') return [{ type: 'A', answer: { outcome: 'nxdomain' } }]
  if (status !== 'NOERROR') return []
  const answered: TypedAnswer[] = []
  for (const [type, list] of [['A', data.ipv4_addresses] as const, ['AAAA', data.ipv6_addresses] as const]) {
    if (!Array.isArray(list)) continue
    const answer = answerWithRecords(type, list, [])
    if (typeof answer === 'string') return answer
    answered.push({ type, answer })
  }
  return answered
}

/** Reads a list of records without owners. zdns followed aliases without reporting them. */
function parseListedRecords(type: RecordType, status: string, list: unknown, recordOf: (value: ZdnsEntry) => unknown) {
  const byStatus = answerByStatus(status)
  if (byStatus !== undefined) return typedAnswers(type, byStatus)
  if (status === 'NXDOMAIN') return typedAnswers(type, { outcome: 'nxdomain' })
  return Array.isArray(list) ? typedAnswers(type, answerWithRecords(type, objectsIn(list).map(recordOf), [])) : []
}

function typedAnswers(type: RecordType, answer: DnsAnswer | string | null): TypedAnswer[] | string {
  if (typeof answer === 'string') return answer
  return answer === null ? [] : [{ type, answer }]
}

/** Returns one record of an answer section. A record of a class other than IN is of no supported type. */
function printedFromZdns(value: ZdnsEntry): PrintedRecord {
  const type = RECORD_TYPES.find((each) => each === value.type) ?? ''
  const isSupported = type !== '' && (value.class === undefined || value.class === 'IN')
  return {
    owner: stringOrEmpty(value.name),
    type: isSupported ? type : '',
    record: isSupported ? (RECORD_PARSERS[type] ?? plainAnswer)(value) : null,
  }
}

const RECORD_PARSERS: Partial<Record<RecordType, (value: ZdnsEntry) => unknown>> = {
  MX: ({ preference, answer }) => ({ priority: preference, mail_server: answer }),
  TXT: ({ answer }) => (typeof answer === 'string' ? answer.split('\n').map(unescapeOptional) : answer),
  SOA: ({ ns, mbox, serial, refresh, retry, expire, min_ttl }) => ({
    primary_nameserver: ns,
    admin_email: typeof mbox === 'string' ? adminEmail(mbox) : mbox,
    serial,
    refresh_seconds: refresh,
    retry_seconds: retry,
    expire_seconds: expire,
    minimum_ttl_seconds: min_ttl,
  }),
}

function plainAnswer({ answer }: ZdnsEntry): unknown {
  return answer
}

function mailServer({ preference, name }: ZdnsEntry): unknown {
  return { priority: preference, mail_server: name }
}
