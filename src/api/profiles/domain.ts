/** GET /domain/NAME: everything about a domain that is current, in one response. */

import type { DomainProfile } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { formatInstant, type Instant } from '../../values/time.ts'
import { RECORD_SCHEMAS } from '../endpoints/dnshistory.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { Type } from '../endpoints/json-schema.ts'
import { CharacteristicsSchema, characteristicsJson } from '../endpoints/lookup.ts'
import { readNameParameter } from '../endpoints/parameters.ts'
import { AddressSchema, DomainSchema, exactObject } from '../endpoints/schema.ts'
import { ApiError } from '../errors.ts'
import { DOMAIN_EXAMPLE } from './examples.ts'
import { CostSchema, nullable, UtcInstantSchema } from './schema.ts'

/** The maximum number of addresses in a profile. Each costs two look-ups by key. */
const MAX_PROFILE_ADDRESSES = 100

const CurrentRecordsSchemas = Object.fromEntries(
  RECORD_TYPES.map((type) => [
    type,
    nullable(
      exactObject({
        since: nullable(
          UtcInstantSchema,
          'When these records were first observed; null if the plan has no /dnshistory.',
        ),
        records: Type.Array(RECORD_SCHEMAS[type]),
      }),
      'Null if no records of this type were ever observed.',
    ),
  ]),
)

const DomainAddressSchema = exactObject({
  ip: AddressSchema,
  since: UtcInstantSchema,
  neighbours: Type.Integer({ minimum: 0, description: 'The number of other domains on this address.' }),
})

export const domain: Endpoint = {
  name: 'domain',
  summary: 'Everything current about a domain in one call',
  description:
    'The result of `/lookup`, the target of its redirect, the current records of all seven types, and its addresses ' +
    'with the number of neighbours on each. All of it is from one moment. It is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({ name: Type.String({ description: 'A domain.', examples: ['example.com'] }) }),
  response: exactObject({
    name: DomainSchema,
    observed: exactObject({
      dns: nullable(UtcInstantSchema, 'When DNS was last observed.'),
      web: nullable(UtcInstantSchema, 'When the website was last observed.'),
    }),
    lookup: CharacteristicsSchema,
    redirects_to: nullable(exactObject({ target: DomainSchema }), 'Where the domain redirects to.'),
    records: exactObject(CurrentRecordsSchemas),
    address_count: Type.Integer({ minimum: 0, description: 'The number of addresses.' }),
    addresses: Type.Array(DomainAddressSchema, {
      maxItems: MAX_PROFILE_ADDRESSES,
      description: 'The first 100 addresses, in the order of `/reverseip`.',
    }),
    cost: CostSchema,
  }),
  example: DOMAIN_EXAMPLE,
  file: null,
  errors: ['domain_format', 'no_data', 'session_missing', 'origin_refused'],
  async handle({ parameters, caller, facts, onUnknownName }) {
    const name = readNameParameter(parameters)
    const found = await facts.domainProfile(name, MAX_PROFILE_ADDRESSES)
    if (found === null) {
      onUnknownName(name)
      throw new ApiError('no_data', { msg: `Nothing is on record for ${name}.` })
    }
    return { body: [domainBody(name, found, caller.limits.historyStates !== null)], lastObserved: found.lookup }
  },
}

/** `withHistory`: the plan includes /dnshistory, so the response says since when the records are the current ones. */
function domainBody(name: DomainName, found: DomainProfile, withHistory: boolean): string {
  const { lookup, redirects_to: target, addressCount } = found
  const records = RECORD_TYPES.map((type) => `"${type}":${currentRecordsJson(found, type, withHistory)}`)
  const addresses = found.addresses.map(({ address, since, names }) => ({
    ip: address,
    since: `${since}Z`,
    neighbours: names - 1,
  }))
  return (
    `{"name":"${name}","observed":{"dns":${instantJson(lookup.dns)},"web":${instantJson(lookup.web)}},` +
    `"lookup":${characteristicsJson(lookup)},"redirects_to":${JSON.stringify(target && { target })},` +
    `"records":{${records.join()}},"address_count":${addressCount},"addresses":${JSON.stringify(addresses)},"cost":1}`
  )
}

function currentRecordsJson({ records }: DomainProfile, type: RecordType, withHistory: boolean): string {
  const state = records[type]
  if (state === undefined) return 'null'
  return `{"since":${instantJson(withHistory ? state.first_seen : null)},"records":${state.records}}`
}

function instantJson(instant: Instant | null): string {
  return instant === null ? 'null' : `"${formatInstant(instant)}Z"`
}
