/** /reverseip: the domains that share an IP address with a domain, or that are on a given address. */

import type { FactsReader, NeighbourPosition, Neighbours } from '../../store/port/store.ts'
import { addressProblem } from '../../values/address-problem.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { type IpAddress, parseQueryAddress } from '../../values/ip-address.ts'
import { ApiError } from '../http/errors.ts'
import { readQueryParameter, rejectName } from '../http/parameters.ts'
import type { Endpoint, EndpointCall } from './endpoint.ts'
import { REVERSEIP_EXAMPLE } from './examples.ts'
import { CURSOR_ERRORS, pageHead, readPage } from './paging.ts'
import {
  AddressSchema,
  DomainSchema,
  exactObject,
  InstantSchema,
  PageMetaSchemas,
  PageParameterSchemas,
  Type,
} from './schema.ts'

export const reverseip: Endpoint = {
  name: 'reverseip',
  summary: 'Domains that share an IP address',
  description:
    'With a domain: its neighbours on every address that it resolves to. With an address: the domains on it. Only the ' +
    'current state. Rows are sorted by address (IPv4 first, numeric), then in the bytewise order of their names. Repeat ' +
    'the call with `next` set to the last `meta.next` until that is null.',
  envelope: 'result',
  parameters: Type.Object({
    query: Type.String({
      description: 'A domain, an IPv4 or an IPv6 address.',
      examples: ['example.com', '2001:db8::1'],
    }),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({
      query: Type.String({ description: 'The requested domain or address.' }),
      ips: Type.Array(AddressSchema, { description: 'The addresses in the order of the rows.' }),
      ip_count: Type.Integer({ description: 'The number of addresses in `ips`.' }),
      ...PageMetaSchemas,
    }),
    result: Type.Array(exactObject({ target: DomainSchema, ip: AddressSchema, since: InstantSchema })),
  }),
  example: REVERSEIP_EXAMPLE,
  file: null,
  errors: ['query_missing', 'domain_format', ...CURSOR_ERRORS, 'no_data'],
  async handle(call) {
    const { facts } = call
    const { query, name } = readAddressOrName(call)
    const page = readPage(call, 'reverseip', query)
    const after = page.position === null ? null : parseNeighbourPosition(page.position)
    const found =
      name === null
        ? await domainsOn(facts, query as IpAddress, after, page.limit)
        : await facts.neighboursOf(name, after, page.limit)
    const { addresses, lastObserved } = found
    const { rows, last, release } = found.page
    if (addresses.length === 0 && after === null)
      throw new ApiError('no_data', { msg: `No address is on record for ${query}.` })
    const about = [`"query":"${query}"`, `"ips":${JSON.stringify(addresses)}`, `"ip_count":${addresses.length}`]
    const head = pageHead(page, about, last && `${last.address} ${last.name}`)
    return { body: [head, ...rows, '}'], lastObserved, release }
  },
}

/** The domains on an address. On the first page, an address without any is not on record. */
async function domainsOn(
  facts: FactsReader,
  address: IpAddress,
  after: NeighbourPosition | null,
  limit: number,
): Promise<Omit<Neighbours, 'lastObserved'> & { lastObserved: null }> {
  const page = await facts.neighbours([address], null, after, limit)
  const isOnRecord = page.count > 0 || after !== null
  return { addresses: isOnRecord ? [address] : [], page, lastObserved: null }
}

/** The query in canonical form. `name` is null for an address. */
function readAddressOrName({ parameters }: EndpointCall): { query: IpAddress | DomainName; name: DomainName | null } {
  const text = readQueryParameter(parameters)
  const address = parseQueryAddress(text)
  if (address !== null) return { query: address, name: null }
  const name = parseName(text) ?? rejectAddress(text)
  return { query: name, name }
}

/** Throws `domain_format` for a text that is neither an address nor a domain name. */
function rejectAddress(text: string): never {
  const problem = addressProblem(text)
  if (problem === null) return rejectName(text)
  throw new ApiError('domain_format', { msg: `The query is neither a domain name nor an IP address: ${problem}.` })
}

function parseNeighbourPosition(text: string): NeighbourPosition {
  const [address, name] = text.split(' ')
  return { address: address as IpAddress, name: name as DomainName }
}
