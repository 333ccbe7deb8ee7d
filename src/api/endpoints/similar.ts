/** /similar: websites whose start page has a similar text. */

import type { SimilarRow } from '../../similar/query/similarity-service.ts'
import { ApiError } from '../http/errors.ts'
import { readLimitParameter, readNameParameter } from '../http/parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { SIMILAR_EXAMPLE } from './examples.ts'
import {
  AppliedLimitSchema,
  DomainQuerySchema,
  DomainSchema,
  exactObject,
  limitParameter,
  MaxLimitSchema,
  OkMessageSchema,
  RcodeSchema,
  Type,
} from './schema.ts'

const Similarity = Type.Number({ minimum: 0, maximum: 1, description: 'Four decimals.' })

/** The default and the maximum number of rows. */
const MAX_SIMILAR_ROWS = 100

export const similar: Endpoint = {
  name: 'similar',
  summary: 'Websites with similar text',
  description:
    'The websites whose start page is most similar to that of a domain, the most similar first, equal ones in the bytewise ' +
    'order of their names. `similarity` is the cosine of the words of both, each weighted by its rarity: 1.0000 for equal texts.',
  envelope: 'top',
  parameters: Type.Object({
    query: DomainQuerySchema,
    limit: Type.Optional(limitParameter(MAX_SIMILAR_ROWS, 'At most 100.')),
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      rcode: RcodeSchema,
      msg: OkMessageSchema,
      count: Type.Integer({ minimum: 0, description: 'The number of rows in this response.' }),
      limit: AppliedLimitSchema,
      max_limit: MaxLimitSchema,
    }),
    result: Type.Array(exactObject({ target: DomainSchema, similarity: Similarity }), { maxItems: MAX_SIMILAR_ROWS }),
  }),
  example: SIMILAR_EXAMPLE,
  file: null,
  errors: ['query_missing', 'domain_format', 'no_data'],
  async handle({ parameters, similarSearch }) {
    const query = readNameParameter(parameters)
    const limit = readLimitParameter(parameters, MAX_SIMILAR_ROWS, MAX_SIMILAR_ROWS)
    const found = await similarSearch.similar(query, limit)
    if (found === null) throw new ApiError('no_data', { msg: `No start-page text of ${query} is on record.` })
    const meta = `"query":"${query}","rcode":200,"msg":"ok","count":${found.length},"limit":${limit},"max_limit":${MAX_SIMILAR_ROWS}`
    return { body: [`{"meta":{${meta}},"result":[${found.map(similarRowJson).join()}]}`], lastObserved: null }
  },
}

/** A row, always with four decimals, as the contract requires. JSON allows trailing zeros (RFC 8259, section 6). */
function similarRowJson({ target, similarity }: SimilarRow): string {
  return `{"target":"${target}","similarity":${similarity.toFixed(4)}}`
}
