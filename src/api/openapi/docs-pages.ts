/** The documentation under /docs: swagger-ui and the OpenAPI document, served from memory. */

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { documentHeaders } from '../http/headers.ts'
import { acceptsGzip } from '../http/request.ts'
import { isLastResponse, type ResponseContext } from '../http/response.ts'

const gzipDocument = promisify(gzipCallback)

/** Allows only content of this server, and no inline scripts. */
const DOCS_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Unused files of swagger-ui: its own page, which /docs replaces, and files that only its package reads. */
const UNUSED_SWAGGER_FILES = ['csp.json', 'index.html', 'logo.svg', 'swagger-ui.js']
/** Smaller files are not gzipped. */
const MIN_GZIP_DOCUMENT_BYTES = 1_024

/** One document. `gzipped` is null if gzip does not make it smaller. All clients share the two buffers. */
type StaticDocument = { type: string; etag: string; body: Buffer; gzipped: Buffer | null }

export class ApiDocs {
  /** Every path under /docs that exists. */
  readonly paths: readonly string[]
  readonly #specification: Record<string, unknown>
  #documents: Promise<Map<string, StaticDocument>> | null = null

  constructor(specification: Record<string, unknown>) {
    this.#specification = specification
    this.paths = ['/docs', '/docs/json', '/docs/yaml', ...swaggerFiles().map((file) => `/docs/static/${file}`)]
  }

  /** Answers a request for one of the paths. The first request loads all documents. Throws if they cannot be read. */
  async handle(context: ResponseContext, path: string, request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
    this.#documents ??= this.#load()
    const document = (await this.#documents).get(path)!
    if (raw.destroyed) return
    if (context.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
    const headers = [...documentHeaders(request.id), 'ETag', document.etag]
    if (request.headers['if-none-match'] === document.etag) return void raw.writeHead(304, headers).end()
    const { gzipped } = document
    const isGzipped = gzipped !== null && acceptsGzip(request.headers['accept-encoding'])
    const body = isGzipped ? gzipped : document.body
    if (isGzipped) headers.push('Content-Encoding', 'gzip')
    headers.push('Content-Security-Policy', DOCS_CSP)
    headers.push('Content-Type', document.type, 'Content-Length', String(body.length))
    raw.writeHead(200, headers)
    raw.end(request.method === 'HEAD' ? undefined : body)
  }

  async #load(): Promise<Map<string, StaticDocument>> {
    const app = fastify({ logger: false })
    await app.register(swagger, { mode: 'static', specification: { document: this.#specification as never } })
    await app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { validatorUrl: null } })
    const documents = new Map<string, StaticDocument>()
    for (const path of this.paths) {
      const { rawPayload, headers } = await app.inject({ method: 'GET', url: path })
      documents.set(path, await loadDocument(rawPayload, String(headers['content-type'])))
    }
    await app.close()
    return documents
  }
}

function swaggerFiles(): string[] {
  const folder = new URL('./static/', import.meta.resolve('@fastify/swagger-ui'))
  const files = readdirSync(folder).filter((file) => !UNUSED_SWAGGER_FILES.includes(file))
  return [...files, 'swagger-initializer.js']
}

async function loadDocument(body: Buffer, type: string): Promise<StaticDocument> {
  const zipped = body.length > MIN_GZIP_DOCUMENT_BYTES ? await gzipDocument(body) : null
  const digest = createHash('sha256').update(body).digest('base64url')
  return { type, etag: `W/"${digest}"`, body, gzipped: zipped !== null && zipped.length < body.length ? zipped : null }
}
