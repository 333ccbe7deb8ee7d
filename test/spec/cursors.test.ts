/** Cursors: issued, accepted, expired, rejected, on every paged endpoint. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { TESTER } from '../tester.ts'
import { assertRefused, type ErrorKey } from './errors.ts'
import { hosted, look, ok, redirecting } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld, NOON, type Parameters } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const DAY = 86_400

/** Each paged endpoint with a query that has more than one page. */
const WALKS: Record<string, Parameters> = {
  redirect: { query: 'hub.example' },
  reverseip: { query: 'hub.example' },
  dnshistory: { query: 'hub.example', type: 'A' },
}

before(async () => {
  const names = ['a', 'b', 'c', 'd'].map((label) => `${label}.test`)
  await world.ingest(...names.flatMap((name) => [redirecting(name, 'hub.example'), hosted(name, ['192.0.2.1'])]))
  await world.ingest(
    hosted('other.example', ['192.0.2.1']),
    redirecting('a.test', 'other.example', '2025-01-01T00:00:00Z'),
  )
  for (const day of [1, 2, 3, 4]) {
    const A = day === 4 ? ['192.0.2.1'] : [`192.0.2.${day + 1}`]
    await world.ingest(look('hub.example', { dns: ok({ A, MX: [] }) }, `2026-11-0${day}T00:00:00Z`))
  }
})

const ask = (endpoint: string, parameters: Parameters) => world.ask(endpoint, { token, limit: 1, ...parameters })
const cursorOf = async (endpoint: string) => metaOf(await ask(endpoint, WALKS[endpoint]!)).next
const refused = async (endpoint: string, parameters: Parameters, key: ErrorKey) =>
  assertRefused(await ask(endpoint, { ...WALKS[endpoint], ...parameters }), endpoint, key)

/** The number of rows or states in a response. */
async function rows(endpoint: string, next: string): Promise<number> {
  const { status, body } = await ask(endpoint, { ...WALKS[endpoint], next })
  assert.equal(status, 200)
  const { result } = body as { result: object[] | { A: object[] } }
  return Array.isArray(result) ? result.length : result.A.length
}

for (const endpoint of Object.keys(WALKS)) {
  test(`/${endpoint}: issued, less than 24 hours old: next page delivered; 24 hours old: cursor_expired`, async () => {
    const next = await cursorOf(endpoint)
    world.clock.now = NOON + DAY - 1
    assert.equal(await rows(endpoint, next), 1)
    world.clock.now = NOON + DAY
    await refused(endpoint, { next }, 'cursor_expired')
    world.clock.now = NOON
    assert.equal(await rows(endpoint, next), 1)
  })

  test(`/${endpoint}: a new cursor has its own 24 hours`, async () => {
    const first = await cursorOf(endpoint)
    world.clock.now = NOON + DAY - 1
    const { next } = metaOf(await ask(endpoint, { ...WALKS[endpoint], next: first }))
    world.clock.now = NOON + DAY + 10
    assert.equal(await rows(endpoint, next), 1)
    await refused(endpoint, { next: first }, 'cursor_expired')
    world.clock.now = NOON
  })

  test(`/${endpoint}: issued more than 60 s in the future: cursor_invalid`, async () => {
    const next = await cursorOf(endpoint)
    world.clock.now = NOON - 60
    assert.equal(await rows(endpoint, next), 1)
    world.clock.now = NOON - 61
    await refused(endpoint, { next }, 'cursor_invalid')
    world.clock.now = NOON
  })

  test(`/${endpoint}: altered at any byte, shortened or extended: cursor_invalid`, async () => {
    const next = await cursorOf(endpoint)
    const swap = (char: string) => (char === 'A' ? 'B' : 'A')
    for (let at = 0; at < next.length; at++) {
      await refused(endpoint, { next: next.slice(0, at) + swap(next[at]!) + next.slice(at + 1) }, 'cursor_invalid')
    }
    for (let end = 1; end < next.length; end += 7)
      await refused(endpoint, { next: next.slice(0, end) }, 'cursor_invalid')
    const others = [`${next}A`, `${next}.`, `A${next}`, next.toUpperCase(), `${next}=`, next.slice(1), next + next]
    for (const other of others) await refused(endpoint, { next: other }, 'cursor_invalid')
  })

  test(`/${endpoint}: no other last character of a cursor is accepted`, async () => {
    const next = await cursorOf(endpoint)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twins = [...alphabet].filter((char) => char !== next.at(-1)).map((char) => next.slice(0, -1) + char)
    for (const twin of twins) await refused(endpoint, { next: twin }, 'cursor_invalid')
  })

  test(`/${endpoint}: another query: cursor_mismatch`, async () => {
    await refused(endpoint, { query: 'other.example', next: await cursorOf(endpoint) }, 'cursor_mismatch')
  })

  test(`/${endpoint}: the same query in another spelling is accepted, and white space around next is ignored`, async () => {
    const next = await cursorOf(endpoint)
    const seen = await ask(endpoint, { ...WALKS[endpoint], query: ' HUB.Example. ', next: ` ${next}\n` })
    assert.deepEqual(seen.body, (await ask(endpoint, { ...WALKS[endpoint], next })).body)
  })

  test(`/${endpoint}: a cursor of another endpoint: cursor_mismatch`, async () => {
    for (const other of Object.keys(WALKS).filter((name) => name !== endpoint)) {
      await refused(endpoint, { next: await cursorOf(other) }, 'cursor_mismatch')
    }
  })

  test(`/${endpoint}: query stays required with a cursor`, async () => {
    const next = await cursorOf(endpoint)
    await refused(endpoint, { query: '', next }, 'query_missing')
    await refused(endpoint, { query: 'nodot', next }, 'domain_format')
  })

  test(`/${endpoint}: a cursor can be used again, and by GET`, async () => {
    const next = await cursorOf(endpoint)
    const byPost = await ask(endpoint, { ...WALKS[endpoint], next })
    const parameters = { token, limit: 1, ...WALKS[endpoint], next }
    assert.deepEqual((await world.ask(endpoint, parameters, { method: 'GET' })).body, byPost.body)
  })

  test(`/${endpoint}: another account of the same installation may continue`, async () => {
    const other = await world.account({ plan: 'basic' })
    const next = await cursorOf(endpoint)
    assert.equal((await ask(endpoint, { ...WALKS[endpoint], token: other.token, next })).status, 200)
  })
}

test('an expired cursor of another query is expired, and an altered one of another query is invalid', async () => {
  const next = await cursorOf('redirect')
  world.clock.now = NOON + DAY
  await refused('redirect', { query: 'other.example', next }, 'cursor_expired')
  await refused('redirect', { query: 'other.example', next: `${next}A` }, 'cursor_invalid')
  world.clock.now = NOON
})

test('dnshistory: a cursor of another record type than the type sent: cursor_mismatch', async () => {
  await refused('dnshistory', { type: 'MX', next: await cursorOf('dnshistory') }, 'cursor_mismatch')
})

test('valid across restarts and processes of one installation', async () => {
  const cursors = await Promise.all(Object.keys(WALKS).map(cursorOf))
  await world.reopen()
  for (const [index, endpoint] of Object.keys(WALKS).entries()) {
    assert.equal(await rows(endpoint, cursors[index]!), 1)
    assert.equal(await cursorOf(endpoint), cursors[index])
  }
})

test('a cursor of another installation is invalid', async () => {
  const elsewhere = await makeWorld()
  const stranger = await elsewhere.account({ plan: 'premium' })
  const next = await cursorOf('redirect')
  const seen = await elsewhere.ask('redirect', { token: stranger.token, query: 'hub.example', next })
  assertRefused(seen, 'redirect', 'cursor_invalid')
})

test('a former secret is accepted for 24 hours', async () => {
  const next = await cursorOf('redirect')
  await world.store.ledger.as(TESTER).rotateSecret(NOON - 10)
  await world.serve()
  assert.equal(await rows('redirect', next), 1)
  assert.notEqual(await cursorOf('redirect'), next)
})
