/** /reverseip: the domains that share an IP address with a domain, or that are on a given address. */

import Type from 'typebox'
import type { NeighbourPosition } from '../../store/store.ts'
import { type Address, queryAddress } from '../../words/address.ts'
import { type Name, parseName } from '../../words/name.ts'
import { whyNotAddress } from '../../words/near-address.ts'
import type { Call, Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { nextOf, placeOf, readNext, type Walk } from '../paging.ts'
import { readLimit, readQuery, refuseName } from '../parameters.ts'
import { Address as AnAddress, Applied, Ceiling, Domain, exactly, limitOf, Next, Ok, Rcode, Seen } from '../schema.ts'

/** Rows of a page where no limit was sent. */
const STANDARD_LIMIT = 1_000

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
    limit: Type.Optional(limitOf(STANDARD_LIMIT, 'Free 1,000, Basic 10,000, Premium 50,000.')),
    next: Type.Optional(Type.String({ description: 'The `meta.next` of the page before.' })),
  }),
  response: exactly({
    meta: exactly({
      query: Type.String({ description: 'The domain or address that was asked for.' }),
      ips: Type.Array(AnAddress, { description: 'The addresses in the order of the rows.' }),
      ip_count: Type.Integer({ description: 'How many addresses `ips` has.' }),
      limit: Applied,
      max_limit: Ceiling,
      rcode: Rcode,
      msg: Ok,
      next: Next,
    }),
    result: Type.Array(exactly({ target: Domain, ip: AnAddress, since: Seen })),
  }),
  file: null,
  errors: ['query_missing', 'domain_format', 'cursor_invalid', 'cursor_expired', 'cursor_mismatch', 'no_data'],
  async answer(call) {
    const { parameters, caller, facts } = call
    const asked = readAsked(call)
    const ceiling = caller.limits.rows
    const limit = readLimit(parameters, STANDARD_LIMIT, ceiling)
    const walk: Walk = { endpoint: 'reverseip', query: asked.query, type: '' }
    const next = readNext(call)
    const after = next === null ? null : positionOf(placeOf(call, next, walk).position)
    const addresses = asked.name === null ? [asked.query as Address] : await facts.addresses(asked.name)
    const page = await facts.neighbours(addresses, asked.name, after, limit, 'json')
    const isEmpty = asked.name === null ? page.count === 0 : addresses.length === 0
    if (isEmpty && after === null) throw new Refusal('no_data', { msg: `No address is on record for ${asked.query}.` })
    const meta =
      `"query":"${asked.query}","ips":${JSON.stringify(addresses)},"ip_count":${addresses.length},` +
      `"limit":${limit},"max_limit":${ceiling},"rcode":200,"msg":"ok",` +
      `"next":${nextOf(call, walk, page.last && `${page.last.address} ${page.last.name}`)}`
    const observed = asked.name === null ? null : await facts.clocks(asked.name)
    return { body: [`{"meta":{${meta}},"result":`, ...page.rows, '}'], observed }
  },
}

/** What is asked for in its canonical form; `name` null for an address. */
function readAsked({ parameters }: Call): { query: Address | Name; name: Name | null } {
  const text = readQuery(parameters)
  const address = queryAddress(text)
  if (address !== null) return { query: address, name: null }
  const name = parseName(text) ?? refuseAddress(text)
  return { query: name, name }
}

/** Throws `domain_format` for a text that is neither an address nor a name. */
function refuseAddress(text: string): never {
  const why = whyNotAddress(text)
  if (why === null) return refuseName(text)
  throw new Refusal('domain_format', { msg: `The query is neither a domain name nor an IP address: ${why}.` })
}

function positionOf(text: string): NeighbourPosition {
  const [address, name] = text.split(' ')
  return { address: address as Address, name: name as Name }
}
