/** /redirect: the domains that redirect to a given domain. */

import type { DomainName } from '../../values/domain-name.ts'
import { readLimitParameter, readNameParameter } from '../http/parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { REDIRECT_EXAMPLE } from './examples.ts'
import { type CursorScope, nextCursor, readCursorPosition, readNextParameter } from './paging.ts'
import {
  DEFAULT_PAGE_ROWS,
  DomainQuerySchema,
  DomainSchema,
  exactObject,
  PageMetaSchemas,
  PageParameterSchemas,
  Type,
} from './schema.ts'

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
  errors: ['query_missing', 'domain_format', 'cursor_invalid', 'cursor_expired', 'cursor_mismatch'],
  async handle(call) {
    const { parameters, caller, facts } = call
    const query = readNameParameter(parameters)
    const maxLimit = caller.limits.pageRows
    const limit = readLimitParameter(parameters, DEFAULT_PAGE_ROWS, maxLimit)
    const scope: CursorScope = { endpoint: 'redirect', query, type: '' }
    const next = readNextParameter(call)
    const after = next === null ? null : (readCursorPosition(call, next, scope).position as DomainName)
    const page = await facts.redirects(query, after, limit)
    const meta =
      `"query":"${query}","limit":${limit},"max_limit":${maxLimit},"rcode":200,"msg":"ok",` +
      `"next":${nextCursor(call, scope, page.last)}`
    const body = [`{"meta":{${meta}},"result":`, ...page.rows, '}']
    return { body, lastObserved: await facts.clocks(query), release: page.release }
  },
}
