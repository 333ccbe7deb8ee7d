/** GET /domain/NAME: everything about a domain that is current, or its DNS as of a moment, in one response. */

import type { DomainProfile } from '../../../store/port/store.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { RECORD_TYPES } from '../../../values/records/dns-record.ts'
import { formatInstant } from '../../../values/time.ts'
import { SESSION_ERRORS } from '../../http/errors.ts'
import { readTextParameter } from '../../http/parameters.ts'
import { authorizeHistory } from '../dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { DOMAIN_EXAMPLE } from '../examples.ts'
import { KnownCharacteristicsSchema, knownCharacteristicsJson } from '../lookup.ts'
import { AddressSchema, CostSchema, DomainSchema, exactObject, nullable, Type, UtcInstantSchema } from '../schema.ts'
import { DomainAsOfSchema, readDomainAsOf, recordsSchema } from './domain-as-of.ts'
import { instantJson, momentParameter, readMoment } from './moment.ts'
import { firstAnswer, RequestedSchema, requestedNames } from './requested-name.ts'

/** The maximum number of addresses in a profile. Each costs two look-ups by key. */
const MAX_PROFILE_ADDRESSES = 100

const RecordsSchema = recordsSchema(
  { since: nullable(UtcInstantSchema, 'When these records were first observed; null if the plan has no /dnshistory.') },
  'Null if there are none: no records of this type were ever observed, or the name does not exist now.',
)

const DomainAddressSchema = exactObject({
  ip: AddressSchema,
  since: UtcInstantSchema,
  neighbours: Type.Integer({ minimum: 0, description: 'The number of other domains on this address.' }),
})

const PresentDomainSchema = exactObject({
  name: DomainSchema,
  requested: RequestedSchema,
  observed: exactObject({
    dns: nullable(UtcInstantSchema, 'When DNS was last observed.'),
    web: nullable(UtcInstantSchema, 'When the website was last observed.'),
  }),
  lookup: KnownCharacteristicsSchema,
  redirects_to: nullable(exactObject({ target: DomainSchema }), 'Where the domain redirects to.'),
  records: RecordsSchema,
  former_records: nullable(RecordsSchema, 'The last records of a name that does not exist now (`ip` is `nxdomain`).'),
  address_count: Type.Integer({ minimum: 0, description: 'The number of addresses.' }),
  addresses: Type.Array(DomainAddressSchema, {
    maxItems: MAX_PROFILE_ADDRESSES,
    description: 'The first 100 addresses, in the order of `/reverseip`.',
  }),
  cost: CostSchema,
})

export const domain: Endpoint = {
  name: 'domain',
  summary: 'Everything current about a domain in one call',
  description:
    'The result of `/lookup`, the target of its redirect, the current records of all seven types, and its addresses ' +
    'with the number of neighbours on each. All of it is from one moment. What was never observed is null. A URL or a ' +
    '`www.` host whose own name is unknown is read as its registrable domain. It is charged as one call. With `at`, what ' +
    'a store that ended then would show of its DNS and its website. That needs the plan of `/dnshistory`.',
  envelope: 'top',
  parameters: Type.Object({
    name: Type.String({ description: 'A domain.', examples: ['example.com'] }),
    at: momentParameter('As of this moment.'),
  }),
  response: Type.Union([PresentDomainSchema, DomainAsOfSchema]),
  example: DOMAIN_EXAMPLE,
  file: null,
  errors: ['plan_required', 'domain_format', 'date_format', 'no_data', ...SESSION_ERRORS],
  authorize(caller, parameters) {
    if (readTextParameter(parameters, 'at', 'date_format') !== null) authorizeHistory(caller)
  },
  async handle(call) {
    const names = requestedNames(call)
    const moment = readMoment(call.parameters, 'at', 'end', call.caller.now)
    const time = moment === null ? '' : ` at or before ${formatInstant(moment)}Z`
    return firstAnswer(
      call,
      names,
      ({ name, requested }) =>
        moment === null ? readPresent(call, name, requested) : readDomainAsOf(call.facts, name, requested, moment),
      (name) => `Nothing is on record for ${name}${time}.`,
    )
  },
}

async function readPresent(
  { facts, caller }: EndpointCall,
  name: DomainName,
  requested: DomainName | null,
): Promise<EndpointResult | null> {
  const found = await facts.domainProfile(name, MAX_PROFILE_ADDRESSES)
  if (found === null) return null
  const body = domainBody(name, requested, found, caller.limits.historyStates !== null)
  return { body: [body], lastObserved: found.lookup }
}

/** `withHistory`: the plan includes /dnshistory, so the response says since when the records are the current ones. */
function domainBody(
  name: DomainName,
  requested: DomainName | null,
  { lookup, redirects_to: target, addressCount, ...found }: DomainProfile,
  withHistory: boolean,
): string {
  const isNxdomain = lookup.ip === 'nxdomain'
  const records = recordsJson(found.records, withHistory)
  const addresses = found.addresses.map(({ address, since, names }) => ({
    ip: address,
    since: `${since}Z`,
    neighbours: names - 1,
  }))
  return (
    `{"name":"${name}","requested":${JSON.stringify(requested)},"observed":{"dns":${instantJson(lookup.dns)},"web":${instantJson(lookup.web)}},` +
    `"lookup":${knownCharacteristicsJson(lookup)},"redirects_to":${JSON.stringify(target && { target })},` +
    `"records":${isNxdomain ? recordsJson({}, withHistory) : records},"former_records":${isNxdomain ? records : 'null'},` +
    `"address_count":${addressCount},"addresses":${JSON.stringify(addresses)},"cost":1}`
  )
}

function recordsJson(records: DomainProfile['records'], withHistory: boolean): string {
  const members = RECORD_TYPES.map((type) => {
    const state = records[type]
    if (state === undefined) return `"${type}":null`
    return `"${type}":{"since":${instantJson(withHistory ? state.first_seen : null)},"records":${state.records}}`
  })
  return `{${members.join()}}`
}
