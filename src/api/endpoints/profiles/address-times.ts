/** The pages of GET /ip/ADDRESS and /ip/NETWORK over time: which domains were on addresses, and when. */

import { readAddressPage } from '../../../export/as-of.ts'
import { type IpAddress, type Network, parseNetwork, parseQueryAddress } from '../../../values/ip-address.ts'
import { ApiError } from '../../http/errors.ts'
import { readLimitParameter, readQueryParameter, readTextParameter } from '../../http/parameters.ts'
import type { EndpointCall, EndpointResult } from '../endpoint.ts'
import { type CursorScope, indexPositionText, nextCursor, readIndexPosition } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import {
  AddressSchema,
  DEFAULT_PAGE_ROWS,
  DomainSchema,
  exactObject,
  PageMetaSchemas,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { instantJson, readTime, TIME_PARAMETERS, TimeMetaSchemas, timeJson, timeQuestion } from './moment.ts'

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
  const maxLimit = caller.limits.pageRows
  const limit = readLimitParameter(parameters, DEFAULT_PAGE_ROWS, maxLimit)
  const scope: CursorScope = { endpoint: 'ip', query: `${query} ${Object.values(time).join(' ')}`, type: '' }
  const after = readIndexPosition(call, scope)
  await requireCompleteIndex(inverse)
  const { spans, position } = await readAddressPage(call, { first, last, ...timeQuestion(time) }, after, limit)
  if (spans.length === 0 && position === null && after === null)
    throw new ApiError('no_data', { msg: `No domain is on record for ${query} at this time.` })
  const cursor = nextCursor(call, scope, indexPositionText(position))
  const meta =
    `"query":"${query}",${timeJson(time)},"limit":${limit},"max_limit":${maxLimit},"rcode":200,"msg":"ok",` +
    `"next":${cursor}`
  const rows = spans.map(
    ({ name, data, first, last }) =>
      `{"target":"${name}","ip":"${(data as { address: IpAddress }).address}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
  )
  return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: null }
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
