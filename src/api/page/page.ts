/** The web page: answers page addresses with the shell, and `/assets/` with the files of the bundle. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { acceptsBrotli, acceptsGzip, normalizedPath } from '../http/request.ts'
import { isLastResponse, type ResponseContext } from '../http/response.ts'
import { MANIFEST_FILE, type PageManifest } from './bundle.ts'
import { isApiPath, pageRouteOf, prefersHtml } from './page-addresses.ts'
import { shellHeaders, shellHtml } from './shell.ts'

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
