/** /redirect: the domains that redirect to a given domain. */

import type { DomainName } from '../../values/domain-name.ts'
import { readNameParameter } from '../http/parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { REDIRECT_EXAMPLE } from './examples.ts'
import { CURSOR_ERRORS, pageHead, readPage } from './paging.ts'
import { DomainQuerySchema, DomainSchema, exactObject, PageMetaSchemas, PageParameterSchemas, Type } from './schema.ts'

export const redirect: Endpoint = {
  name: 'redirect',
  summary: 'Domains that redirect to a domain',
  description:
    'Rows are in the bytewise order of their names. Repeat the call with `next` set to the last `meta.next` until that is ' +
    'null. If no domain redirects to the requested one, `result` is empty.',
  envelope: 'result',
  parameters: Type.Object({
    query: DomainQuerySchema,
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      ...PageMetaSchemas,
    }),
    result: Type.Array(exactObject({ target: DomainSchema }), {
      description: '`target` is the redirect source, despite its name.',
    }),
  }),
  example: REDIRECT_EXAMPLE,
  file: null,
  errors: ['query_missing', 'domain_format', ...CURSOR_ERRORS],
  async handle(call) {
    const { parameters, facts } = call
    const query = readNameParameter(parameters)
    const page = readPage(call, 'redirect', query)
    const { rows, last, release } = await facts.redirects(query, page.position as DomainName | null, page.limit)
    const body = [pageHead(page, [`"query":"${query}"`], last), ...rows, '}']
    return { body, lastObserved: await facts.clocks(query), release }
  },
}
