/** The filters of a search: what must be known of a name beside its text. */

import type { NameSummary } from '../../../store/port/store.ts'
import { compareAddresses, type IpAddress, parseNetwork, parseQueryAddress } from '../../../values/ip-address.ts'
import { parseHostName } from '../../../values/records/host-name.ts'
import { decodeRecords } from '../../../values/records/stored-records.ts'
import { type Day, type Instant, parseDay } from '../../../values/time.ts'
import { ApiError } from '../../http/errors.ts'
import { type Parameters, readTextParameter } from '../../http/parameters.ts'
import { momentParameter, readMoment } from '../profiles/moment.ts'
import { enumString, type JsonSchema, Type } from '../schema.ts'

const Text = (description: string, example: string): JsonSchema =>
  Type.Optional(Type.String({ description, examples: [example] }))

const dayParameter = (description: string): JsonSchema =>
  Type.String({ format: 'date', description, examples: ['2026-11-19'] })

export const FilterParameterSchemas = {
  tld: Text('Only names below this suffix.', 'co.uk'),
  first_seen_from: momentParameter('Only names that were first seen at or after this moment.', 'its first second'),
  first_seen_to: momentParameter('Only names that were first seen at or before this moment.'),
  registered_from: Type.Optional(
    dayParameter('Only names that a zone or a list reported as registered on this day or later.'),
  ),
  registered_to: Type.Optional(
    dayParameter('Only names that a zone or a list reported as registered on this day or earlier.'),
  ),
  has_website: Type.Optional(
    enumString(['yes', 'no'], 'Only names with a website, or only those whose probe found none.'),
  ),
  ip: Text('Only names that are now on this address or in this network.', '192.0.2.0/24'),
  ns: Text('Only names that now have this name server, or one below it.', 'ns.example.net'),
  mx: Text('Only names that now have this mail host, or one below it.', 'mail.example.net'),
}
export const FILTERS = Object.keys(FilterParameterSchemas) as (keyof typeof FilterParameterSchemas)[]

/** `asked`: what a cursor must belong to. `suffix`: the end of the names with its dot. */
export type NameFilters = {
  asked: (string | null)[]
  suffix: string | null
  /** Whether all summaries are accepted. */
  areNone: boolean
  accepts: (summary: NameSummary) => boolean
}

/** Throws `search_invalid` and `date_format`. */
export function readFilters(parameters: Parameters, now: Instant): NameFilters {
  const texts = FILTERS.map((name) => readTextParameter(parameters, name, 'search_invalid'))
  const tests = [
    firstSeenTest(parameters, now),
    registeredTest(parameters),
    websiteTest(parameters),
    addressTest(parameters),
  ]
  for (const [name, type] of [
    ['ns', 'NS'],
    ['mx', 'MX'],
  ] as const)
    tests.push(hostTest(parameters, name, type))
  const active = tests.filter((test) => test !== null)
  const tld = readHost(parameters, 'tld')
  return {
    asked: texts,
    suffix: tld === null ? null : `.${tld}`,
    areNone: active.length === 0,
    accepts: (summary) => active.every((test) => test(summary)),
  }
}

type Test = ((summary: NameSummary) => boolean) | null

function firstSeenTest(parameters: Parameters, now: Instant): Test {
  const from = readMoment(parameters, 'first_seen_from', 'start', now)
  const to = readMoment(parameters, 'first_seen_to', 'end', now)
  if (from === null && to === null) return null
  return ({ first_seen }) => first_seen !== null && first_seen >= (from ?? 0) && first_seen <= (to ?? now)
}

function registeredTest(parameters: Parameters): Test {
  const from = readDay(parameters, 'registered_from')
  const to = readDay(parameters, 'registered_to')
  if (from === null && to === null) return null
  if (from !== null && to !== null && from > to)
    throw new ApiError('date_format', { msg: '"registered_from" is later than "registered_to".' })
  return ({ registered }) => registered !== null && registered >= (from ?? '') && (to === null || registered <= to)
}

function readDay(parameters: Parameters, name: string): Day | null {
  const text = readTextParameter(parameters, name, 'date_format')
  const day = text === null ? null : parseDay(text)
  if (text !== null && day === null)
    throw new ApiError('date_format', { msg: `The parameter "${name}" must be a day such as 2026-11-19.` })
  return day
}

function websiteTest(parameters: Parameters): Test {
  const text = readTextParameter(parameters, 'has_website', 'search_invalid')
  if (text === null) return null
  if (text !== 'yes' && text !== 'no') throw invalid('The parameter "has_website" must be yes or no.')
  return ({ facts }) => facts.web !== null && facts.web.has_website === (text === 'yes')
}

function addressTest(parameters: Parameters): Test {
  const text = readTextParameter(parameters, 'ip', 'search_invalid')
  if (text === null) return null
  const address = parseQueryAddress(text)
  const network = address === null ? parseNetwork(text) : { first: address, last: address }
  if (network === null) throw invalid('The parameter "ip" must be an address or a network, such as 192.0.2.0/24.')
  return ({ facts }) => facts.addresses.some((each) => isBetween(each, network))
}

function isBetween(address: IpAddress, { first, last }: { first: IpAddress; last: IpAddress }): boolean {
  return compareAddresses(first, address) <= 0 && compareAddresses(address, last) <= 0
}

function hostTest(parameters: Parameters, name: 'ns' | 'mx', type: 'NS' | 'MX'): Test {
  const host = readHost(parameters, name)
  if (host === null) return null
  return ({ facts: { states } }) => {
    const text = states[type]?.records
    if (text === undefined) return false
    const hosts =
      type === 'NS'
        ? decodeRecords('NS', text).map((each) => each.nameserver)
        : decodeRecords('MX', text).map((each) => each.mail_server)
    return hosts.some((each) => each === host || each.endsWith(`.${host}`))
  }
}

function readHost(parameters: Parameters, name: 'ns' | 'mx' | 'tld'): string | null {
  const text = readTextParameter(parameters, name, 'search_invalid')
  if (text === null) return null
  const host = parseHostName(text.replace(/^\./, ''))
  if (host === null) throw invalid(`The parameter "${name}" must be a host name.`)
  return host
}

function invalid(msg: string): ApiError {
  return new ApiError('search_invalid', { msg })
}
