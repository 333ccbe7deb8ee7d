/** The web page: answers page addresses with its document, and `/assets/` with the files of the bundle. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { acceptsGzip, bestCoding, type Coding, normalizedPath } from '../http/request.ts'
import { isLastResponse, type ResponseContext } from '../http/response.ts'
import { MANIFEST_FILE, type PageManifest } from './bundle.ts'

const ASSETS_ROUTE = '/assets/:name'
/** The document contains the session. */
const DOCUMENT_CACHE = 'private, no-store'
const ASSET_CACHE = 'public, max-age=31536000, immutable'
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** One file with its compressed forms. All responses share the buffers. */
type PageFile = { type: string; etag: string; body: Buffer; gzipped: Buffer; brotli: Buffer }

type EncodedBody = [body: Buffer, encoding: Coding | null]

/** `readSession`: the session of a request as JSON; null if it cannot be read. */
export type PageContext = { responses: ResponseContext; readSession: (request: ApiRequest) => Promise<string | null> }

export class WebPage {
  readonly #document: PageDocument
  readonly #assets: ReadonlyMap<string, PageFile>

  /** Reads a bundle. `folder`: the result of preparePageBundle(). */
  constructor(folder: string) {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8')) as PageManifest
    this.#document = new PageDocument(manifest, readFileSync(join(folder, manifest.boot), 'utf8'))
    this.#assets = new Map(manifest.files.map((name) => [`/assets/${name}`, readAsset(folder, name)]))
  }

  /** Answers a request if it is one for the page. Returns false, and sends nothing, if it is not. */
  answer(context: PageContext, request: ApiRequest, reply: ApiReply): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const asset = this.#assets.get(request.url)
    if (asset === undefined && !prefersHtml(request)) return false
    const route = asset === undefined ? pageRouteOf(normalizedPath(request.url)) : ASSETS_ROUTE
    if (route === null) return false
    request.accessRecord.path = route
    if (asset !== undefined) sendAsset(context.responses, request, reply, asset)
    else void this.#document.send(context, request, reply, 200).catch(() => reply.raw.destroy())
    return true
  }

  /**
   * Answers a browser's request for an unknown address with the document, which says that there is no such page. Returns
   * false, and sends nothing, for a request of a program or a path that belongs to the API.
   */
  answerUnknown(context: PageContext, request: ApiRequest, reply: ApiReply): boolean {
    const path = normalizedPath(request.url)
    if (!['GET', 'HEAD'].includes(request.method) || !prefersHtml(request) || isApiPath(path)) return false
    void this.#document.send(context, request, reply, 404).catch(() => reply.raw.destroy())
    return true
  }
}

/** The HTML document of every page address: it loads the bundle, which renders the page, and contains the session. */
class PageDocument {
  readonly #start: string
  readonly #end: string
  readonly #headers: readonly string[]

  /** `boot`: the script that runs in the document. */
  constructor(manifest: PageManifest, boot: string) {
    const [start, end] = documentHtml(manifest, boot)
    this.#start = start
    this.#end = end
    this.#headers = documentHeaders(manifest, boot)
  }

  async send(context: PageContext, request: ApiRequest, { raw }: ApiReply, status: 200 | 404): Promise<void> {
    const session = (await context.readSession(request)) ?? 'null'
    if (raw.destroyed) return
    const html = Buffer.from(this.#start + session.replaceAll('<', '\\u003c') + this.#end)
    const isZipped = acceptsGzip(request.headers['accept-encoding'])
    const encoded: EncodedBody = isZipped ? [gzipSync(html, { level: 1 }), 'gzip'] : [html, null]
    const headers = responseHeaders(context.responses, request, raw, DOCUMENT_CACHE)
    headers.push(
      'Vary',
      'Accept, Accept-Encoding, Cookie',
      ...this.#headers,
      'Content-Type',
      'text/html; charset=utf-8',
    )
    sendBody(request, raw, status, headers, encoded)
  }
}

function readAsset(folder: string, name: string): PageFile {
  const read = (end: string): Buffer => readFileSync(join(folder, name + end))
  const body = read('')
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type: TYPES[extname(name)]!, etag, body, gzipped: read('.gz'), brotli: read('.br') }
}

/** The headers of every response of the page. */
function responseHeaders(
  responses: ResponseContext,
  request: ApiRequest,
  raw: ApiReply['raw'],
  cache: string,
): string[] {
  if (responses.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  const headers = ['Request-Id', request.id, 'Cache-Control', cache]
  headers.push('Referrer-Policy', 'no-referrer', 'X-Content-Type-Options', 'nosniff')
  return headers
}

function sendAsset(responses: ResponseContext, request: ApiRequest, { raw }: ApiReply, file: PageFile): void {
  const headers = responseHeaders(responses, request, raw, ASSET_CACHE)
  headers.push('ETag', file.etag, 'Vary', 'Accept, Accept-Encoding')
  if (request.headers['if-none-match'] === file.etag) return void raw.writeHead(304, headers).end()
  headers.push('Content-Type', file.type)
  sendBody(request, raw, 200, headers, encodedBody(file, request.headers['accept-encoding']))
}

function sendBody(
  request: ApiRequest,
  raw: ApiReply['raw'],
  status: 200 | 404,
  headers: string[],
  [body, encoding]: EncodedBody,
): void {
  if (encoding !== null) headers.push('Content-Encoding', encoding)
  headers.push('Content-Length', String(body.length))
  raw.writeHead(status, headers)
  raw.end(request.method === 'HEAD' ? undefined : body)
}

function encodedBody({ body, gzipped, brotli }: PageFile, accepted: string | undefined): EncodedBody {
  const coding = bestCoding(accepted)
  if (coding === null) return [body, null]
  return [coding === 'br' ? brotli : gzipped, coding]
}

/** The addresses as routes, for the access log. `:name` matches one segment. */
const PAGE_ROUTES = [
  '/',
  '/certificate/:sha256',
  '/domain/:name',
  '/domain/:name/certificates',
  '/domain/:name/history',
  '/domain/:name/lookalikes',
  '/domain/:name/neighbours',
  '/domain/:name/redirects',
  '/domain/:name/similar',
  '/domain/:name/web',
  '/domain/:name/uses',
  '/ip/:address',
  '/ip/:address/:length',
  '/search',
  '/watches',
  '/sign-in',
  '/sign-up',
  '/setup',
  '/verify',
  '/reset',
  '/account',
  '/account/tokens',
  '/account/usage',
  '/account/files',
  '/operator',
  '/operator/accounts/:id',
  '/operator/audit',
  '/operator/crawl',
  '/operator/usage',
  '/docs',
  '/docs/:operation',
]

const PATTERNS = PAGE_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`),
}))

/** The route of a page address; null if the path is none. `path`: without query string and trailing slash. */
function pageRouteOf(path: string): string | null {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.route ?? null
}

/** A version of the API, a folder of its paths, or a file: a browser gets an error of the API there. */
const API_PATH = /^\/(?:v\d[^/]*|app|admin|assets)(?:\/|$)|\.\w+$/

/** Whether an unknown path belongs to the API. */
function isApiPath(path: string): boolean {
  return API_PATH.test(path)
}

/**
 * Whether a request wants a page: it names `text/html` and does not prefer JSON (RFC 9110, section 12.5.1). A request
 * with a token is one of a program.
 */
function prefersHtml({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  if (headers.authorization !== undefined) return false
  const types = (headers.accept ?? '').toLowerCase().split(',').map(parseMediaRange)
  const html = types.find(({ type }) => type === 'text/html')
  if (html === undefined || html.weight === 0) return false
  const json = types.find(({ type }) => type === 'application/json')
  return json === undefined || html.weight > json.weight || (html.weight === json.weight && html.index < json.index)
}

function parseMediaRange(text: string, index: number): { type: string; weight: number; index: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0, index }
}

/** The headers of the document. It may load files of this server and call it, and run the one script that it has. */
function documentHeaders({ main, shared, style }: PageManifest, boot: string): string[] {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(boot).digest('base64')}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  const scripts = [main, ...shared].map((file) => `</assets/${file}>; rel=modulepreload`)
  const preloads = [`</assets/${style}>; rel=preload; as=style`, ...scripts]
  return [
    'Content-Security-Policy',
    policy.join('; '),
    'Link',
    preloads.join(', '),
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'Permissions-Policy',
    'camera=(), geolocation=(), microphone=()',
    'X-Frame-Options',
    'DENY',
  ]
}

/** The document before and after the session. The script comes before the style sheet, for which it would wait. */
function documentHtml({ main, style, icon }: PageManifest, boot: string): [start: string, end: string] {
  return [
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="What is known about a domain: DNS and its history, website, neighbours, redirects.">
<title>domaindex</title>
<link rel="icon" href="/assets/${icon}" type="image/svg+xml">
<script type="application/json" id="session">`,
    `</script>
<script>${boot}</script>
<link rel="stylesheet" href="/assets/${style}">
<script type="module" src="/assets/${main}"></script>
</head>
<body>
<div id="page"></div>
<noscript><p class="noscript">This page needs JavaScript. The API works without it: its description is
<a href="/openapi.json">/openapi.json</a>.</p></noscript>
</body>
</html>
`,
  ]
}
