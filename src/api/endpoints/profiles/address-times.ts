/** The pages of GET /ip/ADDRESS and /ip/NETWORK over time: which domains were on addresses, and when. */

import { readAddressPage } from '../../../export/as-of.ts'
import {
  addressFamily,
  type IpAddress,
  type Network,
  parseNetwork,
  parseQueryAddress,
} from '../../../values/ip-address.ts'
import { ApiError } from '../../http/errors.ts'
import { readQueryParameter, readTextParameter } from '../../http/parameters.ts'
import type { EndpointCall, EndpointResult } from '../endpoint.ts'
import { indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { AddressSchema, DomainSchema, exactObject, PageMetaSchemas, Type, UtcInstantSchema } from '../schema.ts'
import {
  instantJson,
  readRemovedBefore,
  readTime,
  removedText,
  TIME_PARAMETERS,
  TimeMetaSchemas,
  timeJson,
  timeQuestion,
} from './moment.ts'

export const AddressTimesSchema = exactObject({
  meta: exactObject({
    query: Type.String({ description: 'The address, or the network with its first address.' }),
    ...TimeMetaSchemas,
    ...PageMetaSchemas,
  }),
  result: Type.Array(
    exactObject({
      target: DomainSchema,
      ip: AddressSchema,
      first_seen: UtcInstantSchema,
      last_seen: UtcInstantSchema,
    }),
    { description: 'One row for each domain, address and uninterrupted time. A page may be short before the last.' },
  ),
})

/** Whether a call asks for a page: it names a network, or a time. */
export function asksForTimes({ parameters }: EndpointCall): boolean {
  if (readQueryParameter(parameters).includes('/')) return true
  return TIME_PARAMETERS.some((name) => readTextParameter(parameters, name, 'date_format') !== null)
}

export async function readAddressTimes(call: EndpointCall): Promise<EndpointResult> {
  const { parameters, caller, inverse } = call
  const { query, first, last } = readAddresses(readQueryParameter(parameters))
  const time = readTime(parameters, caller.now)
  const page = readPage(call, 'ip', `${query} ${Object.values(time).join(' ')}`)
  const after = parseIndexPosition(page.position)
  await requireCompleteIndex(inverse)
  const { spans, position } = await readAddressPage(call, { first, last, ...timeQuestion(time) }, after, page.limit)
  const removedBefore = await readRemovedBefore(call.facts, addressFamily(first) === 6 ? 'AAAA' : 'A', time)
  if (spans.length === 0 && position === null && after === null)
    throw new ApiError('no_data', {
      msg: `No domain is on record for ${query} at this time.${removedText(removedBefore)}`,
    })
  const rows = spans.map(
    ({ name, data, first, last }) =>
      `{"target":"${name}","ip":"${(data as { address: IpAddress }).address}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
  )
  const about = [`"query":"${query}"`, timeJson(time, removedBefore)]
  return { body: pageBody(page, about, rows, indexPositionText(position)), lastObserved: null }
}

/** The addresses of a query, and the query in canonical form. Throws `domain_format`. */
function readAddresses(text: string): { query: string } & Network {
  const address = parseQueryAddress(text)
  if (address !== null) return { query: address, first: address, last: address }
  const network = parseNetwork(text)
  if (network !== null) return { query: `${network.first}/${text.slice(text.indexOf('/') + 1).trim()}`, ...network }
  const msg = 'The query is neither an address nor a network such as 192.0.2.0/24 or 2001:db8::/32.'
  throw new ApiError('domain_format', { msg })
}
