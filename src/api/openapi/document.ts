/** Builds the OpenAPI 3.1 document from the declarations of the endpoints. */

import { SESSION_COOKIE } from '../auth/session-authenticator.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { Type } from '../endpoints/schema.ts'
import { DIGEST_PATHS } from './digest-paths.ts'
import { DNSDB_PATHS } from './dnsdb-paths.ts'
import { FEED_PATHS } from './feed-paths.ts'
import { OWN_PATHS } from './own-paths.ts'
import { HEADERS, headerRefs, partialFileResponses, queryParameter, responsesOf } from './responses.ts'
import { WATCH_PATHS } from './watch-paths.ts'
import { WEBHOOK_PATHS } from './webhook-paths.ts'

const TOKEN_SCHEMA = Type.String({ description: 'The API token.' })

type JsonObject = Record<string, unknown>

/** The document for a server with these endpoints under `/v1.0/`. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): JsonObject {
  const paths = endpoints.map((endpoint) => [`/v1.0/${endpoint.name}`, pathItem(endpoint)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'domaindex',
      version,
      description: 'Crawled data about internet domains. Branch on `error`, never on `msg`: its wording may change.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [],
    tags: [
      { name: 'queries', description: 'Data about domains.' },
      { name: 'passive DNS', description: 'The paths of the DNSDB API, version 2.' },
      { name: 'profiles', description: 'Everything current about a domain or an address in one call.' },
      { name: 'watches', description: 'What an account watches, what changed, and where that is sent.' },
      { name: 'files', description: 'Finished files by name.' },
      { name: 'account', description: 'The account of a token.' },
      { name: 'crawler', description: 'The crawler that visits domains.' },
      { name: 'health', description: 'The state of the server.' },
    ],
    paths: {
      ...Object.fromEntries(paths),
      ...OWN_PATHS,
      ...WATCH_PATHS,
      ...WEBHOOK_PATHS,
      ...DIGEST_PATHS,
      ...FEED_PATHS,
      ...DNSDB_PATHS,
    },
    components: {
      securitySchemes: {
        query: { type: 'apiKey', in: 'query', name: 'token', description: 'On GET, the token is part of the URL.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'Outside `/v1.0/`.' },
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The token, under `/dnsdb/v2/`.' },
        basic: { type: 'http', scheme: 'basic', description: 'Any user name; the password is the token.' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'The session of the web page.' },
        csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: 'Belongs to the session.' },
      },
      headers: HEADERS,
    },
  }
}

function pathItem(endpoint: Endpoint): JsonObject {
  const { name, summary, description, parameters } = endpoint
  const shared = { summary, description, tags: ['queries'], responses: responsesOf(endpoint, 'parameter') }
  const body = Type.Object({ token: TOKEN_SCHEMA, ...parameters.properties })
  const query = Object.entries(parameters.properties).map(([key, schema]) =>
    queryParameter(key, schema, parameters.required),
  )
  return {
    post: {
      operationId: `${name}Post`,
      ...shared,
      description: `${description} The token is sent in the body.`,
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    },
    get: {
      operationId: `${name}Get`,
      ...shared,
      ...(endpoint.file && { responses: { ...shared.responses, ...partialFileResponses(headerRefs) } }),
      security: [{ query: [] }],
      parameters: query,
    },
  }
}
