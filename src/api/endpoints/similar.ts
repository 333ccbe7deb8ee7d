/** /similar: websites whose start page has a similar text. */

import Type from 'typebox'
import type { Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { readName } from '../parameters.ts'
import { Applied, Ceiling, Domain, DomainQuery, exactly, limitOf, Ok, Rcode } from '../schema.ts'

/** Rows where no limit was sent, and at most. */
const LIMIT = 100

export const similar: Endpoint = {
  name: 'similar',
  summary: 'Websites with similar text',
  description: 'The websites whose start page is most like that of a domain, the most similar first.',
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
    result: Type.Array(
      exactly({ target: Domain, similarity: Type.Number({ minimum: 0, maximum: 1, multipleOf: 0.0001 }) }),
      { maxItems: LIMIT },
    ),
  }),
  file: null,
  errors: ['query_missing', 'domain_format', 'no_data'],
  async answer({ parameters }) {
    const query = readName(parameters)
    throw new Refusal('no_data', { msg: `No start-page text of ${query} is on record.` })
  },
}
