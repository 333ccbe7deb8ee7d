/** The paths of the OpenAPI document that answer queries outside `/v1.0/`: batches and passive DNS. */

import { Type } from '../endpoints/json-schema.ts'
import { redirect } from '../endpoints/redirect.ts'
import { exactObject } from '../endpoints/schema.ts'
import { NDJSON_TYPE } from '../formats/negotiation.ts'
import { pdns } from '../pdns/pdns.ts'
import { queryParameter } from './parameters.ts'
import { errorResponseObject, headerRefs, responsesOf } from './responses.ts'

type JsonObject = Record<string, unknown>

const BATCH_EXAMPLE = '{"endpoint":"lookup","query":"example.com"}'
const BatchAnswer = exactObject({
  status: Type.Integer({ description: 'The status of the call.' }),
  body: Type.Object({}, { description: 'The body of its endpoint, unchanged.' }),
})

export function batchPathItem(): JsonObject {
  const lines = 'One JSON object a line: `endpoint`, and the parameters of that endpoint without `token`.'
  return {
    post: {
      operationId: 'batch',
      summary: 'Up to 1,000 calls in one request',
      description:
        'The endpoints that send no files: `/lookup`, `/redirect`, `/reverseip`, `/dnshistory` and `/similar`. The ' +
        'answers come as lines in the order of the calls, as they are ready. Each is checked and charged as a call.',
      tags: ['queries'],
      security: [{ bearer: [] }],
      requestBody: {
        required: true,
        content: { [NDJSON_TYPE]: { schema: Type.String({ description: lines, examples: [BATCH_EXAMPLE] }) } },
      },
      responses: {
        200: {
          description: 'A line for each call.',
          headers: headerRefs('Request-Id', 'RateLimit-Policy', 'RateLimit'),
          content: { [NDJSON_TYPE]: { schema: Type.String({ contentSchema: BatchAnswer }) } },
        },
        400: errorResponseObject(400, ['batch_invalid'], false),
        401: errorResponseObject(401, ['token_missing', 'token_invalid'], false),
        413: errorResponseObject(413, ['body_too_large'], false),
        500: errorResponseObject(500, ['internal_error'], false),
      },
    },
  }
}

export function passiveDnsPathItem(): JsonObject {
  const { summary, description, parameters } = pdns
  const { 200: success, 413: _noBody, ...failures } = responsesOf(pdns)
  const lines = Type.String({ description: 'One JSON object a line: rrname, rrtype, rdata, time_first, time_last.' })
  const options = { limit: redirect.parameters.properties.limit!, next: redirect.parameters.properties.next! }
  return {
    get: {
      operationId: 'pdns',
      summary,
      description,
      tags: ['queries'],
      security: [{ basic: [] }, { bearer: [] }],
      parameters: [
        { ...queryParameter('query', parameters.properties.query!, ['query']), in: 'path' },
        ...Object.entries(options).map(([name, schema]) => queryParameter(name, schema)),
      ],
      responses: { 200: { ...(success as JsonObject), content: { [NDJSON_TYPE]: { schema: lines } } }, ...failures },
    },
  }
}
