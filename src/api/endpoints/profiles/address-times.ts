/** The pages of GET /ip/ADDRESS and /ip/NETWORK over time: which domains were on addresses, and when. */

import { type AddressQuestion, readAddressPage } from '../../../export/as-of.ts'
import { type IpAddress, type Network, parseNetwork, parseQueryAddress } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { ApiError } from '../../http/errors.ts'
import { readLimitParameter, readQueryParameter, readTextParameter } from '../../http/parameters.ts'
import type { EndpointCall, EndpointResult } from '../endpoint.ts'
import { type CursorScope, nextCursor, readCursorPosition, readNextParameter } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import {
  AddressSchema,
  DEFAULT_PAGE_ROWS,
  DomainSchema,
  exactObject,
  nullable,
  PageMetaSchemas,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { readMoment } from './moment.ts'

const TIME_PARAMETERS = ['at', 'from', 'to']

export const AddressTimesSchema = exactObject({
  meta: exactObject({
    query: Type.String({ description: 'The address, or the network with its first address.' }),
    at: nullable(UtcInstantSchema, 'The moment; null without `at`.'),
    from: nullable(UtcInstantSchema, 'The start of the time; null without `from`.'),
    to: nullable(UtcInstantSchema, 'The end of the time; null without `to`.'),
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
  const time = readTime(call)
  const maxLimit = caller.limits.pageRows
  const limit = readLimitParameter(parameters, DEFAULT_PAGE_ROWS, maxLimit)
  const scope: CursorScope = { endpoint: 'ip', query: `${query} ${Object.values(time).join(' ')}`, type: '' }
  const next = readNextParameter(call)
  const after = next === null ? null : Buffer.from(readCursorPosition(call, next, scope).position, 'base64url')
  await requireCompleteIndex(inverse)
  const { spans, position } = await readAddressPage(call, questionOf(first, last, time), after, limit)
  if (spans.length === 0 && position === null && after === null)
    throw new ApiError('no_data', { msg: `No domain is on record for ${query} at this time.` })
  const times = Object.entries(time).map(([name, instant]) => `"${name}":${instant === null ? 'null' : utc(instant)}`)
  const cursor = nextCursor(call, scope, position && Buffer.from(position).toString('base64url'))
  const meta =
    `"query":"${query}",${times.join()},"limit":${limit},"max_limit":${maxLimit},"rcode":200,"msg":"ok",` +
    `"next":${cursor}`
  const rows = spans.map(
    ({ name, data, first, last }) =>
      `{"target":"${name}","ip":"${(data as { address: IpAddress }).address}","first_seen":${utc(first)},"last_seen":${utc(last)}}`,
  )
  return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: null }
}

type Time = { at: Instant | null; from: Instant | null; to: Instant | null }

/** Throws `date_format`, also if the times exclude each other. */
function readTime({ parameters, caller: { now } }: EndpointCall): Time {
  const at = readMoment(parameters, 'at', 'end', now)
  const from = readMoment(parameters, 'from', 'start', now)
  const to = readMoment(parameters, 'to', 'end', now)
  if (at !== null && (from !== null || to !== null))
    throw new ApiError('date_format', { msg: 'Send either "at", or "from" and "to".' })
  if (from !== null && to !== null && from > to)
    throw new ApiError('date_format', { msg: 'The time in "from" is after the one in "to".' })
  return { at, from, to }
}

function questionOf(first: IpAddress, last: IpAddress, { at, from, to }: Time): AddressQuestion {
  return at === null ? { first, last, from, to } : { first, last, at }
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

function utc(instant: Instant): string {
  return `"${formatInstant(instant)}Z"`
}
