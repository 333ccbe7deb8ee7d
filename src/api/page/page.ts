/** The web page: answers page addresses with its document, and `/assets/` with the files of the bundle. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { acceptsBrotli, acceptsGzip, normalizedPath } from '../http/request.ts'
import { isLastResponse, type ResponseContext } from '../http/response.ts'
import { MANIFEST_FILE, type PageManifest } from './bundle.ts'

const ASSETS_ROUTE = '/assets/:name'
const SHELL_CACHE = 'public, max-age=0, must-revalidate'
const ASSET_CACHE = 'public, max-age=31536000, immutable'
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** One file with its compressed forms. All responses share the buffers. */
type PageFile = { type: string; etag: string; cache: string; body: Buffer; gzipped: Buffer; brotli: Buffer }

export class WebPage {
  readonly #shell: PageFile
  readonly #manifest: PageManifest
  readonly #assets: ReadonlyMap<string, PageFile>

  /** Reads a bundle. `folder`: the result of preparePageBundle(). */
  constructor(folder: string) {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8')) as PageManifest
    const html = Buffer.from(shellHtml(manifest))
    this.#shell = pageFile('text/html; charset=utf-8', SHELL_CACHE, html, gzipSync(html), brotliCompressSync(html))
    this.#manifest = manifest
    this.#assets = new Map(manifest.files.map((name) => [`/assets/${name}`, readAsset(folder, name)]))
  }

  /** Answers a request if it is one for the page. Returns false, and sends nothing, if it is not. */
  answer(context: ResponseContext, request: ApiRequest, reply: ApiReply): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const asset = this.#assets.get(request.url)
    if (asset === undefined && !prefersHtml(request)) return false
    const route = asset === undefined ? pageRouteOf(normalizedPath(request.url)) : ASSETS_ROUTE
    if (route === null) return false
    request.accessRecord.path = route
    if (asset !== undefined) sendPageFile(context, request, reply, 200, asset, [])
    else sendPageFile(context, request, reply, 200, this.#shell, shellHeaders(this.#manifest, route))
    return true
  }

  /**
   * Answers a browser's request for an unknown address with the document, which says that there is no such page. Returns
   * false, and sends nothing, for a request of a program or a path that belongs to the API.
   */
  answerUnknown(context: ResponseContext, request: ApiRequest, reply: ApiReply): boolean {
    const path = normalizedPath(request.url)
    if (!['GET', 'HEAD'].includes(request.method) || !prefersHtml(request) || isApiPath(path)) return false
    sendPageFile(context, request, reply, 404, this.#shell, shellHeaders(this.#manifest, path))
    return true
  }
}

function pageFile(type: string, cache: string, body: Buffer, gzipped: Buffer, brotli: Buffer): PageFile {
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type, cache, etag, body, gzipped, brotli }
}

function readAsset(folder: string, name: string): PageFile {
  const read = (end: string): Buffer => readFileSync(join(folder, name + end))
  return pageFile(TYPES[extname(name)]!, ASSET_CACHE, read(''), read('.gz'), read('.br'))
}

function sendPageFile(
  context: ResponseContext,
  request: ApiRequest,
  { raw }: ApiReply,
  status: 200 | 404,
  file: PageFile,
  extraHeaders: readonly string[],
): void {
  if (context.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  const headers = ['Request-Id', request.id, 'Cache-Control', file.cache, 'ETag', file.etag]
  headers.push('Vary', 'Accept, Accept-Encoding', 'Referrer-Policy', 'no-referrer', 'X-Content-Type-Options', 'nosniff')
  headers.push(...extraHeaders)
  if (status === 200 && request.headers['if-none-match'] === file.etag) return void raw.writeHead(304, headers).end()
  const [body, encoding] = encodedBody(file, request.headers['accept-encoding'])
  if (encoding !== null) headers.push('Content-Encoding', encoding)
  headers.push('Content-Type', file.type, 'Content-Length', String(body.length))
  raw.writeHead(status, headers)
  raw.end(request.method === 'HEAD' ? undefined : body)
}

function encodedBody(
  { body, gzipped, brotli }: PageFile,
  accepted: string | undefined,
): [body: Buffer, encoding: 'br' | 'gzip' | null] {
  if (acceptsBrotli(accepted)) return [brotli, 'br']
  return acceptsGzip(accepted) ? [gzipped, 'gzip'] : [body, null]
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

/** Allows only files and calls of this server, and no inline code. */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of the document at a route: the browser loads its files, and the data of the reference, at once. */
function shellHeaders({ main, style }: PageManifest, route: string): string[] {
  const preloads = [`</assets/${style}>; rel=preload; as=style`, `</assets/${main}>; rel=modulepreload`]
  if (route.startsWith('/docs')) preloads.push('</openapi.json>; rel=preload; as=fetch; crossorigin')
  return [
    'Content-Security-Policy',
    PAGE_CSP,
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

/** The HTML document of every page address: it loads the bundle, which renders the page. */
function shellHtml({ main, style, theme, icon }: PageManifest): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="What is known about a domain: DNS and its history, website, neighbours, redirects.">
<title>domaindex</title>
<link rel="icon" href="/assets/${icon}" type="image/svg+xml">
<script src="/assets/${theme}"></script>
<link rel="stylesheet" href="/assets/${style}">
<link rel="preload" href="/app/session" as="fetch" crossorigin>
<script type="module" src="/assets/${main}"></script>
</head>
<body>
<div id="page"></div>
<noscript><p class="noscript">This page needs JavaScript. The API works without it: its description is
<a href="/openapi.json">/openapi.json</a>.</p></noscript>
</body>
</html>
`
}
