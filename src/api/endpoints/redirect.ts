/** /redirect: the domains that redirect to a given domain. */

import Type from 'typebox'
import type { Name } from '../../words/name.ts'
import type { Endpoint } from '../endpoint.ts'
import { nextOf, placeOf, readNext, type Walk } from '../paging.ts'
import { readLimit, readName } from '../parameters.ts'
import { Applied, Ceiling, Domain, DomainQuery, exactly, limitOf, Next, Ok, Rcode } from '../schema.ts'

/** Rows of a page where no limit was sent. */
const STANDARD_LIMIT = 1_000

export const redirect: Endpoint = {
  name: 'redirect',
  summary: 'Domains that redirect to a domain',
  description:
    'Rows come in the bytewise order of their names. Repeat the call with `next` set to the last `meta.next` until that is ' +
    'null. A domain that nothing redirects to has an empty `result`.',
  envelope: 'result',
  parameters: Type.Object({
    query: DomainQuery,
    limit: Type.Optional(limitOf(STANDARD_LIMIT, 'Free 1,000, Basic 10,000, Premium 50,000.')),
    next: Type.Optional(Type.String({ description: 'The `meta.next` of the page before.' })),
  }),
  response: exactly({
    meta: exactly({ query: Domain, limit: Applied, max_limit: Ceiling, rcode: Rcode, msg: Ok, next: Next }),
    result: Type.Array(exactly({ target: Domain }), {
      description: '`target` is the redirect source, despite its name.',
    }),
  }),
  file: null,
  errors: ['query_missing', 'domain_format', 'cursor_invalid', 'cursor_expired', 'cursor_mismatch'],
  async answer(call) {
    const { parameters, caller, facts } = call
    const query = readName(parameters)
    const ceiling = caller.limits.rows
    const limit = readLimit(parameters, STANDARD_LIMIT, ceiling)
    const walk: Walk = { endpoint: 'redirect', query, type: '' }
    const next = readNext(call)
    const after = next === null ? null : (placeOf(call, next, walk).position as Name)
    const page = await facts.redirects(query, after, limit, 'json')
    const meta =
      `"query":"${query}","limit":${limit},"max_limit":${ceiling},"rcode":200,"msg":"ok",` +
      `"next":${nextOf(call, walk, page.last)}`
    return { body: [`{"meta":{${meta}},"result":`, ...page.rows, '}'], observed: await facts.clocks(query) }
  },
}
