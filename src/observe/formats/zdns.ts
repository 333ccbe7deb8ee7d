/** Lines of zdns (https://github.com/zmap/zdns): the results of one or several modules for one name, in the old layout and the new. */

import type { Answer } from '../../crawl/visit.ts'
import { type Name, parseName } from '../../words/name.ts'
import { adminEmail, RECORD_TYPES, type RecordType } from '../../words/record.ts'
import { type Instant, parseInstant } from '../../words/time.ts'
import { isObject, objectsOf, parseObject, textOf, whyNotDomain } from '../json.ts'
import { answerByStatus, answerOf, type Printed, recordsAnswer } from './message.ts'
import { plainText } from './presentation.ts'
import { eachLine, type Format, NO_TIME, type Sighting, type Taken } from './sighting.ts'

type Given = Record<string, unknown>
type Asked = { type: RecordType; answer: Answer }
/** What a module's status and data say of the name; a text: what is wrong with it. */
type Module = (name: Name, status: string, data: Given) => Asked[] | string

const LOOKUPS: Record<string, Module> = {
  ALOOKUP: addresses,
  MXLOOKUP: (_, status, { exchanges }) => listed('MX', status, exchanges, mailServer),
  NSLOOKUP: (_, status, { servers }) => listed('NS', status, servers, ({ name }) => name),
}
const MODULES: [string, Module][] = [
  ...RECORD_TYPES.map((type): [string, Module] => [type, (...given) => answers(type, ...given)]),
  ...Object.entries(LOOKUPS),
]

const FLAGS = [
  ['authoritative', 'aa'],
  ['recursion_available', 'ra'],
  ['truncated', 'tc'],
] as const

/** Modules that are not for one of our types, or give a part of its records (SPF, DMARC), are passed over. */
export const zdns: Format = (observedAt) => eachLine((line) => readLine(line, observedAt))

function readLine(line: string, observedAt: Instant | null): Taken {
  const given = parseObject(line)
  if (typeof given === 'string') return given
  const key = given.altered_name ? 'altered_name' : 'name'
  const domain = given[key]
  const name = typeof domain === 'string' ? parseName(domain) : null
  if (name === null) return `${key}: ${whyNotDomain(domain)}`
  if (given.results === undefined) return readResult(name, oldModule(given), given, '', observedAt)
  if (!isObject(given.results)) return 'results: must be an object'
  const sightings: Sighting[] = []
  for (const [module, read] of MODULES) {
    const result = given.results[module]
    if (result === undefined) continue
    if (!isObject(result)) return `results.${module}: must be an object`
    const made = readResult(name, read, result, `results.${module}.`, observedAt)
    if (typeof made === 'string') return made
    sightings.push(...made)
  }
  return sightings
}

/** `path` is put before the field that a reason names. */
function readResult(name: Name, read: Module, result: Given, path: string, observedAt: Instant | null) {
  const { status, timestamp, data } = result
  if (typeof status !== 'string') return `${path}status: must be a text`
  const at = timestamp === undefined ? observedAt : typeof timestamp === 'string' ? parseInstant(timestamp) : null
  if (at === null) return timestamp === undefined ? NO_TIME : `${path}timestamp: must be an RFC 3339 time`
  const asked = read(name, status, isObject(data) ? data : {})
  if (typeof asked === 'string') return `${path}data: ${asked}`
  return asked.map(({ type, answer }): Sighting => ({ name, at, kind: 'asked', type, answer }))
}

/** The old layout does not name its module: what it found tells it. */
function oldModule({ data }: Given): Module {
  if (!isObject(data)) return answersOfSome
  if (Array.isArray(data.exchanges)) return LOOKUPS.MXLOOKUP!
  if (Array.isArray(data.ipv4_addresses) || Array.isArray(data.ipv6_addresses)) return addresses
  const isNames = Array.isArray(data.servers) && data.servers.every((each) => isObject(each) && each.type === 'NS')
  return isNames ? LOOKUPS.NSLOOKUP! : answersOfSome
}

/** The type that was asked is the one at the end of the chain. Of a name that is not there, the type does not matter. */
function answersOfSome(name: Name, status: string, data: Given): Asked[] | string {
  const last = objectsOf(data.answers).at(-1)?.type ?? (status === 'NXDOMAIN' ? 'A' : undefined)
  const type = RECORD_TYPES.find((each) => each === last)
  return type === undefined ? [] : answers(type, name, status, data)
}

/** Without a list of answers nothing is told, but by a status that needs none. */
function answers(type: RecordType, name: Name, status: string, data: Given): Asked[] | string {
  if (status === 'NOERROR' && !Array.isArray(data.answers)) return []
  const { flags } = data
  return told(
    type,
    answerOf(name, type, {
      status,
      answers: objectsOf(data.answers).map(printed),
      authorities: objectsOf(data.authorities).map(({ type }) => textOf(type)),
      flags: isObject(flags) ? FLAGS.filter(([key]) => flags[key] === true).map(([, short]) => short) : null,
    }),
  )
}

/** Which families were asked for is seen from what came; that one has no address is not told. */
function addresses(_: Name, status: string, data: Given): Asked[] | string {
  if (status === 'NXDOMAIN') return [{ type: 'A', answer: { outcome: 'nxdomain' } }]
  if (status !== 'NOERROR') return []
  const asked: Asked[] = []
  for (const [type, list] of [['A', data.ipv4_addresses] as const, ['AAAA', data.ipv6_addresses] as const]) {
    if (!Array.isArray(list)) continue
    const answer = recordsAnswer(type, list, [])
    if (typeof answer === 'string') return answer
    asked.push({ type, answer })
  }
  return asked
}

/** A list of records without owners: zdns has followed aliases and does not say so. */
function listed(type: RecordType, status: string, list: unknown, recordOf: (given: Given) => unknown) {
  const settled = answerByStatus(status)
  if (settled !== undefined) return told(type, settled)
  if (status === 'NXDOMAIN') return told(type, { outcome: 'nxdomain' })
  return Array.isArray(list) ? told(type, recordsAnswer(type, objectsOf(list).map(recordOf), [])) : []
}

function told(type: RecordType, answer: Answer | string | null): Asked[] | string {
  if (typeof answer === 'string') return answer
  return answer === null ? [] : [{ type, answer }]
}

/** One record of an answer section; one of another class than IN is of no type of ours. */
function printed(given: Given): Printed {
  const type = RECORD_TYPES.find((each) => each === given.type) ?? ''
  const isOurs = type !== '' && (given.class === undefined || given.class === 'IN')
  return {
    owner: textOf(given.name),
    type: isOurs ? type : '',
    record: isOurs ? (RECORDS[type] ?? plain)(given) : null,
  }
}

const RECORDS: Partial<Record<RecordType, (given: Given) => unknown>> = {
  MX: ({ preference, answer }) => ({ priority: preference, mail_server: answer }),
  TXT: ({ answer }) => (typeof answer === 'string' ? answer.split('\n').map(plainText) : answer),
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

function plain({ answer }: Given): unknown {
  return answer
}

function mailServer({ preference, name }: Given): unknown {
  return { priority: preference, mail_server: name }
}
