/**
 * Lines of zdns (https://github.com/zmap/zdns): the results of one or several modules for one name, in the old layout
 * and the new.
 */

import { domainProblem, isObject, objectsIn, parseJsonObject, stringOrEmpty } from '../../observe/json.ts'
import type { DnsAnswer } from '../../probe/probe-result.ts'
import { adminEmail, RECORD_TYPES, type RecordType } from '../../values/dns-record.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { type Instant, parseInstant } from '../../values/time.ts'
import { unescapeOptional } from './presentation.ts'
import { answerByStatus, answerFromMessage, answerWithRecords, type PrintedRecord } from './printed-message.ts'
import { type ImportFormat, lineByLine, NO_TIME_PROBLEM, type ParsedLine, type Sighting } from './sighting.ts'

type ZdnsEntry = Record<string, unknown>
type TypedAnswer = { type: RecordType; answer: DnsAnswer }
/** What a module's status and data say of the name; a text: what is wrong with it. */
type ModuleParser = (name: DomainName, status: string, data: ZdnsEntry) => TypedAnswer[] | string

const LOOKUP_MODULES: Record<string, ModuleParser> = {
  ALOOKUP: parseAddressLookup,
  MXLOOKUP: (_, status, { exchanges }) => parseListedRecords('MX', status, exchanges, mailServer),
  NSLOOKUP: (_, status, { servers }) => parseListedRecords('NS', status, servers, ({ name }) => name),
}
const MODULE_PARSERS: [string, ModuleParser][] = [
  ...RECORD_TYPES.map((type): [string, ModuleParser] => [type, (...given) => parseAnswers(type, ...given)]),
  ...Object.entries(LOOKUP_MODULES),
]

const FLAG_NAMES = [
  ['authoritative', 'aa'],
  ['recursion_available', 'ra'],
  ['truncated', 'tc'],
] as const

/** Modules that are not for one of our types, or give a part of its records (SPF, DMARC), are passed over. */
export const zdnsFormat: ImportFormat = (observedAt) => lineByLine((line) => parseZdnsLine(line, observedAt))

function parseZdnsLine(line: string, observedAt: Instant | null): ParsedLine {
  const given = parseJsonObject(line)
  if (typeof given === 'string') return given
  const key = given.altered_name ? 'altered_name' : 'name'
  const domain = given[key]
  const name = typeof domain === 'string' ? parseName(domain) : null
  if (name === null) return `${key}: ${domainProblem(domain)}`
  if (given.results === undefined) return parseModuleResult(name, moduleOfOldLayout(given), given, '', observedAt)
  if (!isObject(given.results)) return 'results: must be an object'
  const sightings: Sighting[] = []
  for (const [module, read] of MODULE_PARSERS) {
    const result = given.results[module]
    if (result === undefined) continue
    if (!isObject(result)) return `results.${module}: must be an object`
    const made = parseModuleResult(name, read, result, `results.${module}.`, observedAt)
    if (typeof made === 'string') return made
    sightings.push(...made)
  }
  return sightings
}

/** `path` is put before the field that a reason names. */
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

/** The old layout does not name its module: what it found tells it. */
function moduleOfOldLayout({ data }: ZdnsEntry): ModuleParser {
  if (!isObject(data)) return parseUnknownModule
  if (Array.isArray(data.exchanges)) return LOOKUP_MODULES.MXLOOKUP!
  if (Array.isArray(data.ipv4_addresses) || Array.isArray(data.ipv6_addresses)) return parseAddressLookup
  const isNames = Array.isArray(data.servers) && data.servers.every((each) => isObject(each) && each.type === 'NS')
  return isNames ? LOOKUP_MODULES.NSLOOKUP! : parseUnknownModule
}

/**
 * The type that was asked is the one at the end of the chain. Of a name that is not there, the type does not matter.
 */
function parseUnknownModule(name: DomainName, status: string, data: ZdnsEntry): TypedAnswer[] | string {
  const last = objectsIn(data.answers).at(-1)?.type ?? (status === 'NXDOMAIN' ? 'A' : undefined)
  const type = RECORD_TYPES.find((each) => each === last)
  return type === undefined ? [] : parseAnswers(type, name, status, data)
}

/** Without a list of answers nothing is told, but by a status that needs none. */
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

/** Which families were asked for is seen from what came; that one has no address is not told. */
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

/** A list of records without owners: zdns has followed aliases and does not say so. */
function parseListedRecords(type: RecordType, status: string, list: unknown, recordOf: (given: ZdnsEntry) => unknown) {
  const byStatus = answerByStatus(status)
  if (byStatus !== undefined) return typedAnswers(type, byStatus)
  if (status === 'NXDOMAIN') return typedAnswers(type, { outcome: 'nxdomain' })
  return Array.isArray(list) ? typedAnswers(type, answerWithRecords(type, objectsIn(list).map(recordOf), [])) : []
}

function typedAnswers(type: RecordType, answer: DnsAnswer | string | null): TypedAnswer[] | string {
  if (typeof answer === 'string') return answer
  return answer === null ? [] : [{ type, answer }]
}

/** One record of an answer section; one of another class than IN is of no type of ours. */
function printedFromZdns(given: ZdnsEntry): PrintedRecord {
  const type = RECORD_TYPES.find((each) => each === given.type) ?? ''
  const isOurs = type !== '' && (given.class === undefined || given.class === 'IN')
  return {
    owner: stringOrEmpty(given.name),
    type: isOurs ? type : '',
    record: isOurs ? (RECORD_PARSERS[type] ?? plainAnswer)(given) : null,
  }
}

const RECORD_PARSERS: Partial<Record<RecordType, (given: ZdnsEntry) => unknown>> = {
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
