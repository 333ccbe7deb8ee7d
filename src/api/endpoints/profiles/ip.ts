/** GET /ip/ADDRESS: the domains on an address, the first ones and their number; or who was on addresses, and when. */

import { addressProblem } from '../../../values/address-problem.ts'
import { type IpAddress, parseQueryAddress } from '../../../values/ip-address.ts'
import { ApiError, SESSION_ERRORS } from '../../http/errors.ts'
import { type Parameters, readQueryParameter } from '../../http/parameters.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { IP_EXAMPLE } from '../examples.ts'
import { CURSOR_ERRORS, nextCursor } from '../paging.ts'
import {
  AddressSchema,
  CostSchema,
  DomainSchema,
  exactObject,
  nullable,
  PageParameterSchemas,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { AddressTimesSchema, asksForTimes, readAddressTimes } from './address-times.ts'
import { momentParameter } from './moment.ts'

/** The maximum number of domains in a profile. */
const MAX_PROFILE_DOMAINS = 100

const PresentAddressSchema = exactObject({
  ip: AddressSchema,
  count: Type.Integer({ minimum: 1, description: 'The number of domains on the address.' }),
  domains: Type.Array(exactObject({ target: DomainSchema, since: UtcInstantSchema }), {
    maxItems: MAX_PROFILE_DOMAINS,
  }),
  next: nullable(Type.String(), 'The `next` for `/reverseip`; null if all domains are listed.'),
  cost: CostSchema,
})

export const ip: Endpoint = {
  name: 'ip',
  summary: 'The domains on an address in one call',
  description:
    'The first 100 domains on an IPv4 or IPv6 address in bytewise order, and the number of all. Send `next` to ' +
    '`/reverseip`, with the address as `query`, for the further ones. With a time, or for a network such as ' +
    '`192.0.2.0/24`, pages of the domains that were on the addresses, and when. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    address: Type.String({ description: 'An address or a network.', examples: ['2001:db8::7', '192.0.2.0/24'] }),
    at: momentParameter('The domains that a store which ended at this moment would show.'),
    from: momentParameter('The domains that were there at or after this moment.', 'its first second'),
    to: momentParameter('The domains that were there at or before this moment.'),
    ...PageParameterSchemas,
  }),
  response: Type.Union([PresentAddressSchema, AddressTimesSchema]),
  example: IP_EXAMPLE,
  file: null,
  errors: ['domain_format', 'date_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  handle: (call) => (asksForTimes(call) ? readAddressTimes(call) : readPresent(call)),
}

async function readPresent(call: EndpointCall): Promise<EndpointResult> {
  const address = readAddress(call.parameters)
  const { domains, count } = await call.facts.addressProfile(address, MAX_PROFILE_DOMAINS)
  const last = domains.at(-1)
  if (last === undefined) throw new ApiError('no_data', { msg: `No domain is on record for ${address}.` })
  const position = count > domains.length ? `${address} ${last.target}` : null
  const next = nextCursor(call, { endpoint: 'reverseip', query: address, type: '' }, position)
  const rows = domains.map(({ target, since }) => `{"target":"${target}","since":"${since}Z"}`)
  const body = `{"ip":"${address}","count":${count},"domains":[${rows.join()}],"next":${next},"cost":1}`
  return { body: [body], lastObserved: null }
}

function readAddress(parameters: Parameters): IpAddress {
  const text = readQueryParameter(parameters)
  const address = parseQueryAddress(text)
  if (address !== null) return address
  const problem = addressProblem(text)
  throw new ApiError('domain_format', {
    msg: `The query is not an IP address${problem === null ? '' : `: ${problem}`}.`,
  })
}
