/** The web page over HTTP: which requests get it, its headers, its files, and what stays JSON. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { buildPageBundle, MANIFEST_FILE, type PageManifest } from '../../../src/api/page/bundle.ts'
import { WebPage } from '../../../src/api/page/page.ts'
import { StoreUnavailableFault } from '../../../src/store/port/fault.ts'
import { visit } from '../../app/sessions.ts'
import { makeWorld } from '../../spec/world.ts'
import { createWorldApi } from '../world-api.ts'

const CHROME_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const folder = mkdtempSync(join(tmpdir(), 'page-'))
after(() => rmSync(folder, { recursive: true }))
const bundle = join(folder, 'web')
await buildPageBundle(bundle)
const world = await makeWorld()
const { app } = await createWorldApi(world, {
  page: new WebPage(bundle),
})
after(() => app.close())
const address = await app.listen({ host: '127.0.0.1', port: 0 })

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(address + path, { method, headers: { Accept: CHROME_ACCEPT, ...headers } })
const shell = await get('/')
const html = await shell.text()

test('a browser gets the same document at every page address', async () => {
  assert.equal(shell.status, 200)
  assert.equal(shell.headers.get('content-type'), 'text/html; charset=utf-8')
  const paths = ['/domain/example.com', '/domain/example.com/history?type=A', '/ip/2001:db8::7', '/sign-in', '/docs/']
  for (const path of [...paths, '/account', '/account/tokens', '/verify', '/reset', '/docs'])
    assert.equal(await (await get(path)).text(), html, path)
})

test('a request that does not prefer HTML gets JSON, also for "/"', async () => {
  const accepts = ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0.5, application/json']
  for (const accept of [...accepts, 'text/html;q=0', 'text/plain']) {
    const { status, headers } = await get('/', { Accept: accept })
    assert.deepEqual([status, headers.get('content-type')], [404, 'application/json; charset=utf-8'], accept)
  }
  const { error } = (await (await get('/', { Authorization: 'Bearer x' })).json()) as { error: string }
  assert.equal(error, 'endpoint_unknown')
})

test('a browser gets the document at an unknown address, with status 404', async () => {
  for (const path of ['/domain', '/domain/a/b', '/nothing', '/nothing/at/all', '/a%20b?c=d']) {
    const response = await get(path)
    assert.equal(response.status, 404, path)
    assert.equal(await response.text(), html, path)
    assert.match((await get(path, { Accept: '*/*' })).headers.get('content-type')!, /^application\/json/, path)
  }
  const head = await get('/nothing', {}, 'HEAD')
  assert.deepEqual([head.status, await head.text()], [404, ''])
})

test('other methods, files and paths of the API never get a page', async () => {
  const paths = [
    '/v1.0/lookup',
    '/v1.0/nothing',
    '/v2.0/lookup',
    '/favicon.ico',
    '/assets/main.js',
    '/files/x',
    '/app/nothing',
    '/admin/v1/nothing',
    '/v2',
    '/nothing.php',
  ]
  for (const path of [...paths, '/batch', '/account/quota', '/healthz', '/openapi.json'])
    assert.match((await get(path)).headers.get('content-type')!, /^application\/json/, path)
  assert.equal((await get('/', {}, 'POST')).status, 404)
})

test('the document loads only files of this server, and the policy allows only the script that it contains', async () => {
  const policy = shell.headers.get('content-security-policy')!
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script!)
  assert.equal(scripts.length, 1)
  const digest = createHash('sha256').update(scripts[0]!).digest('base64')
  const parts = ["default-src 'none'", `script-src 'self' 'sha256-${digest}'`, "style-src 'self'"]
  for (const part of [...parts, "frame-ancestors 'none'"]) assert.ok(policy.split('; ').includes(part), part)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  const rest = html.replace(scripts[0]!, '').replace('<script></script>', '')
  assert.doesNotMatch(
    rest,
    /https?:\/\/|<style|style=| on\w+=|<script(?! (type="module" src="\/assets\/|type="application\/json"))/,
  )
  const sources = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)].map(([, source]) => source!)
  assert.equal(sources.length, 3)
  for (const source of sources) assert.equal((await get(source)).status, 200, source)
  assert.equal(shell.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(shell.headers.get('x-frame-options'), 'DENY')
  assert.equal(shell.headers.get('access-control-allow-origin'), null)
})

/** The session in a document. */
async function sessionIn(response: Response): Promise<unknown> {
  const [, json] = /<script type="application\/json" id="session">(.*?)<\/script>/s.exec(await response.text())!
  return JSON.parse(json!)
}

test('the document contains the answer of /app/session, and nobody may keep it', async () => {
  const { account } = await world.account()
  const { Cookie } = (await visit(world, account)).headers
  for (const headers of [{}, { Cookie: Cookie! }]) {
    const response = await get('/domain/example.com', headers)
    assert.equal(response.headers.get('cache-control'), 'private, no-store')
    assert.equal(response.headers.get('etag'), null)
    const session = await fetch(`${address}/app/session`, { headers })
    assert.deepEqual(await sessionIn(response), await session.json())
  }
})

test('if the store fails, the document comes without a session, and the page asks for it', async (t) => {
  const { account } = await world.account()
  const { Cookie } = (await visit(world, account)).headers
  const failing = () => Promise.reject(new StoreUnavailableFault('the store is away'))
  const ledger = { ...world.store.ledger, findSession: failing }
  const api = await createWorldApi(world, { page: new WebPage(bundle), store: { ...world.store, ledger } })
  t.after(() => api.app.close())
  const { statusCode, body } = await api.app.inject({ url: '/', headers: { accept: CHROME_ACCEPT, cookie: Cookie! } })
  assert.deepEqual([statusCode, await sessionIn(new Response(body))], [200, null])
})

test('the bundle has one script for each area and one that all share, which the document preloads', async () => {
  const manifest = JSON.parse(readFileSync(join(bundle, MANIFEST_FILE), 'utf8')) as PageManifest
  const { main, shared, areas, files } = manifest
  const folders = globSync('web/views/*/area.tsx', { cwd: join(import.meta.dirname, '../../..') })
  assert.deepEqual(Object.keys(areas).toSorted(), folders.map((path) => basename(dirname(path))).toSorted())
  assert.equal(shared.length, 1)
  const scripts = files.filter((file) => file.endsWith('.js'))
  assert.deepEqual(scripts.toSorted(), [main, ...shared, ...Object.values(areas)].toSorted())
  for (const file of [main, ...shared])
    assert.ok(shell.headers.get('link')!.includes(`</assets/${file}>; rel=modulepreload`), file)
})

test('files are immutable and compressed once', async () => {
  const { main } = JSON.parse(readFileSync(join(bundle, MANIFEST_FILE), 'utf8')) as { main: string }
  const plain = readFileSync(join(bundle, main))
  const path = `/assets/${main}`
  for (const encoding of ['br', 'gzip', 'identity']) {
    const { headers, ...answer } = await fetchDecoded(path, encoding)
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(headers.get('content-encoding'), encoding === 'identity' ? null : encoding)
    assert.ok(answer.body.equals(plain), encoding)
  }
  const { headers } = await get(path)
  assert.equal((await get(path, { 'If-None-Match': headers.get('etag')! })).status, 304)
})

test('HEAD has the headers of GET and no body', async () => {
  const head = await get('/sign-in', { 'Accept-Encoding': 'identity' }, 'HEAD')
  assert.equal(head.status, 200)
  assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(html)))
  assert.equal(await head.text(), '')
})

/** fetch() decodes the body and keeps the header. */
async function fetchDecoded(path: string, encoding: string) {
  const answer = await get(path, { 'Accept-Encoding': encoding })
  return { headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}
