/** /similar: websites whose start page has a similar text. */

import Type from 'typebox'
import type { SimilarRow } from '../../retrieval/retrieval.ts'
import type { Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { readLimit, readName } from '../parameters.ts'
import { Applied, Ceiling, Domain, DomainQuery, exactly, limitOf, Ok, Rcode } from '../schema.ts'

const Similarity = Type.Number({ minimum: 0, maximum: 1, description: 'Four decimals.' })

/** Rows where no limit was sent, and at most. */
const LIMIT = 100

export const similar: Endpoint = {
  name: 'similar',
  summary: 'Websites with similar text',
  description:
    'The websites whose start page is most like that of a domain, the most similar first, equals in the bytewise order of ' +
    'their names. `similarity` is the cosine of the words of both, each weighed by how rare it is: 1.0000 where they say the same.',
  envelope: 'top',
  parameters: Type.Object({ query: DomainQuery, limit: Type.Optional(limitOf(LIMIT, 'At most 100.')) }),
  response: exactly({
    meta: exactly({
      query: Domain,
      rcode: Rcode,
      msg: Ok,
      count: Type.Integer({ minimum: 0, description: 'How many rows this answer has.' }),
      limit: Applied,
      max_limit: Ceiling,
    }),
    result: Type.Array(exactly({ target: Domain, similarity: Similarity }), { maxItems: LIMIT }),
  }),
  file: null,
  errors: ['query_missing', 'domain_format', 'no_data'],
  async answer({ parameters, retrieval }) {
    const query = readName(parameters)
    const limit = readLimit(parameters, LIMIT, LIMIT)
    const found = await retrieval.similar(query, limit)
    if (found === null) throw new Refusal('no_data', { msg: `No start-page text of ${query} is on record.` })
    const meta = `"query":"${query}","rcode":200,"msg":"ok","count":${found.length},"limit":${limit},"max_limit":${LIMIT}`
    return { body: [`{"meta":{${meta}},"result":[${found.map(rowText).join()}]}`], observed: null }
  },
}

/** Always with four decimals, as the contract has it; JSON knows such numbers (RFC 8259, chapter 6). */
function rowText({ target, similarity }: SimilarRow): string {
  return `{"target":"${target}","similarity":${similarity.toFixed(4)}}`
}
