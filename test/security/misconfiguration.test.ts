/** OWASP API8:2023, security misconfiguration: headers, methods and errors of every kind of response. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../app/sessions.ts'
import { pageServer } from './page-server.ts'

const { world, address, get, post } = await pageServer()
const { account, token } = await world.account({ plan: 'local' })
const session = (await visit(world, account)).headers
const asset = /\/assets\/[\w.-]+\.js/.exec(await (await get('/')).text())![0]

/** One request of each kind. */
const RESPONSES: Record<string, () => Promise<Response>> = {
  'the page': () => get('/'),
  'a file of the page': () => get(asset),
  'a session': () => get('/app/session', session),
  'no session': () => get('/app/tokens'),
  'a call of the page': () => post('/app/api/lookup', { query: 'a.example' }, session),
  'a call of a program': () => post('/v1.0/lookup', { token, query: 'a.example' }),
  'a wrong token': () => post('/v1.0/lookup', { token: 'x', query: 'a.example' }),
  'an unknown path': () => get('/nothing/here'),
  'a wrong sign-in': () => post('/app/sign-in', { email: 'a@example.com', password: 'x' }),
  'the description': () => get('/openapi.json'),
}

for (const [name, request] of Object.entries(RESPONSES))
  test(`${name}: no type is guessed, no referrer is sent, and nothing tells what runs here`, async () => {
    const { headers } = await request()
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    for (const header of ['server', 'x-powered-by']) assert.equal(headers.get(header), null)
    assert.match(headers.get('content-type') ?? '', /; charset=utf-8$/)
  })

test('what belongs to a session is kept by no cache and read by no other page', async () => {
  for (const path of ['/app/session', '/app/tokens', '/app/usage', '/app/plan', '/app/files', '/app/sessions']) {
    const { status, headers } = await get(path, { ...session, Origin: 'https://other.test' })
    assert.equal(status, 200, path)
    assert.equal(headers.get('cache-control'), 'private, no-store', path)
    assert.equal(headers.get('access-control-allow-origin'), null, path)
    assert.equal(headers.get('access-control-allow-credentials'), null, path)
  }
})

test('a preflight request of another page is not allowed under /app, and never with credentials', async () => {
  const ask = { Origin: 'https://other.test', 'Access-Control-Request-Method': 'POST' }
  for (const path of ['/app/sign-in', '/app/tokens', '/app/api/lookup', '/app/password']) {
    const { status, headers } = await get(path, ask, 'OPTIONS')
    assert.equal(status, 204, path)
    assert.equal(headers.get('access-control-allow-origin'), null, path)
  }
  const open = await get('/v1.0/lookup', ask, 'OPTIONS')
  assert.equal(open.headers.get('access-control-allow-origin'), '*')
  assert.equal(open.headers.get('access-control-allow-credentials'), null)
})

test('the page runs only its own files and stands in no frame', async () => {
  const { headers } = await get('/domain/a.example')
  const policy = headers.get('content-security-policy')!
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(part), part)
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
})

test('methods that no path has are unknown, whatever the path is', async () => {
  for (const method of ['PUT', 'PATCH', 'PROPFIND', 'SEARCH'])
    for (const path of ['/', '/app/session', '/app/tokens', '/v1.0/lookup', asset]) {
      const seen = await fetch(address + path, { method, headers: session })
      assert.equal(seen.status, 404, `${method} ${path}`)
    }
})

test('a fault inside shows no stack, no statement and no path to the client', async () => {
  const fail = async (): Promise<never> => {
    throw new Error('select secret from account: no such table in /data/domaindex.db')
  }
  const broken = await pageServer(({ facts, inverse, events, ledger }) => ({
    facts,
    inverse,
    events,
    ledger: { ...ledger, findSession: fail, countAttempt: fail, findToken: fail },
  }))
  const answers = [
    await broken.get('/app/session', session),
    await broken.post('/app/sign-in', { email: 'a@example.com', password: 'x' }),
    await broken.post('/v1.0/lookup', { token, query: 'a.example' }),
  ]
  for (const answer of answers) {
    const text = await answer.text()
    assert.equal(answer.status, 500, text)
    assert.doesNotMatch(text, /\bat \S+:\d+|select|\.ts|sqlite|\/(tmp|home|work|root)\//i)
  }
})
