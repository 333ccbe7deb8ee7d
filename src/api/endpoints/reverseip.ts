/** /reverseip: the domains that share an IP address with a domain, or that are on a given address. */

import Type from 'typebox'
import type { NeighbourPosition } from '../../store/port/store.ts'
import { addressProblem } from '../../values/address-problem.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { type IpAddress, parseQueryAddress } from '../../values/ip-address.ts'
import { type CursorScope, nextCursor, readCursorPosition, readNextParameter } from '../cursor/paging.ts'
import { ApiError } from '../errors.ts'
import type { Endpoint, EndpointCall } from './endpoint.ts'
import { readLimitParameter, readQueryParameter, rejectName } from './parameters.ts'
import {
  AddressSchema as AnAddress,
  AppliedLimitSchema,
  DomainSchema,
  exactObject,
  InstantSchema,
  limitParameter,
  MaxLimitSchema,
  NextCursorSchema,
  OkMessageSchema,
  RcodeSchema,
} from './schema.ts'

/** Rows of a page where no limit was sent. */
const DEFAULT_REVERSEIP_LIMIT = 1_000

export const reverseip: Endpoint = {
  name: 'reverseip',
  summary: 'Domains that share an IP address',
  description:
    'With a domain: its neighbours on every address that it resolves to. With an address: the domains on it. Only the ' +
    'present state. Rows come by address (IPv4 first, then by number), then in the bytewise order of their names. Repeat ' +
    'the call with `next` set to the last `meta.next` until that is null.',
  envelope: 'result',
  parameters: Type.Object({
    query: Type.String({
      description: 'A domain, an IPv4 or an IPv6 address.',
      examples: ['example.com', '2001:db8::1'],
    }),
    limit: Type.Optional(limitParameter(DEFAULT_REVERSEIP_LIMIT, 'Free 1,000, Basic 10,000, Premium 50,000.')),
    next: Type.Optional(Type.String({ description: 'The `meta.next` of the page before.' })),
  }),
  response: exactObject({
    meta: exactObject({
      query: Type.String({ description: 'The domain or address that was asked for.' }),
      ips: Type.Array(AnAddress, { description: 'The addresses in the order of the rows.' }),
      ip_count: Type.Integer({ description: 'How many addresses `ips` has.' }),
      limit: AppliedLimitSchema,
      max_limit: MaxLimitSchema,
      rcode: RcodeSchema,
      msg: OkMessageSchema,
      next: NextCursorSchema,
    }),
    result: Type.Array(exactObject({ target: DomainSchema, ip: AnAddress, since: InstantSchema })),
  }),
  file: null,
  errors: ['query_missing', 'domain_format', 'cursor_invalid', 'cursor_expired', 'cursor_mismatch', 'no_data'],
  async handle(call) {
    const { parameters, caller, facts } = call
    const requested = readAddressOrName(call)
    const ceiling = caller.limits.pageRows
    const limit = readLimitParameter(parameters, DEFAULT_REVERSEIP_LIMIT, ceiling)
    const walk: CursorScope = { endpoint: 'reverseip', query: requested.query, type: '' }
    const next = readNextParameter(call)
    const after = next === null ? null : parseNeighbourPosition(readCursorPosition(call, next, walk).position)
    const addresses = requested.name === null ? [requested.query as IpAddress] : await facts.addresses(requested.name)
    const page = await facts.neighbours(addresses, requested.name, after, limit)
    const isEmpty = requested.name === null ? page.count === 0 : addresses.length === 0
    if (isEmpty && after === null)
      throw new ApiError('no_data', { msg: `No address is on record for ${requested.query}.` })
    const meta =
      `"query":"${requested.query}","ips":${JSON.stringify(addresses)},"ip_count":${addresses.length},` +
      `"limit":${limit},"max_limit":${ceiling},"rcode":200,"msg":"ok",` +
      `"next":${nextCursor(call, walk, page.last && `${page.last.address} ${page.last.name}`)}`
    const observed = requested.name === null ? null : await facts.clocks(requested.name)
    return { body: [`{"meta":{${meta}},"result":`, ...page.rows, '}'], lastObserved: observed }
  },
}

/** What is asked for in its canonical form; `name` null for an address. */
function readAddressOrName({ parameters }: EndpointCall): { query: IpAddress | DomainName; name: DomainName | null } {
  const text = readQueryParameter(parameters)
  const address = parseQueryAddress(text)
  if (address !== null) return { query: address, name: null }
  const name = parseName(text) ?? rejectAddress(text)
  return { query: name, name }
}

/** Throws `domain_format` for a text that is neither an address nor a name. */
function rejectAddress(text: string): never {
  const why = addressProblem(text)
  if (why === null) return rejectName(text)
  throw new ApiError('domain_format', { msg: `The query is neither a domain name nor an IP address: ${why}.` })
}

function parseNeighbourPosition(text: string): NeighbourPosition {
  const [address, name] = text.split(' ')
  return { address: address as IpAddress, name: name as DomainName }
}
