/** The feed of events: an Atom document at a link that its account creates and ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Known, makeWorld } from '../../spec/world.ts'
import { TESTER } from '../../tester.ts'

const world = await makeWorld()

const send = (known: Known, method: string, path: string, body?: object) =>
  world.send(path, {
    method,
    headers: { Authorization: `Bearer ${known.token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
const usedBy = async (known: Known) => ((await send(known, 'GET', '/account/quota')).body as { used: number }).used
const observe = (name: string, minute: number) =>
  world.ingest({
    domain: name,
    observed_at: `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`,
    dns: { status: 'ok', A: [`192.0.2.${minute}`] },
  })

async function linkOf(known: Known): Promise<string> {
  const { status, body } = await send(known, 'POST', '/feed')
  assert.equal(status, 201)
  return world.address + (body as { path: string }).path
}

test('a feed has the newest events, is charged if it changed, and is free if the reader has it', async () => {
  const known = await world.account()
  assert.deepEqual((await send(known, 'GET', '/feed')).body, { created: null })
  const link = await linkOf(known)
  assert.deepEqual((await send(known, 'GET', '/feed')).body, { created: '2026-11-20T12:00:00Z' })
  const empty = await fetch(link)
  assert.deepEqual([empty.status, empty.headers.get('content-type')], [200, 'application/atom+xml; charset=utf-8'])
  assert.doesNotMatch(await empty.text(), /<entry>/)
  assert.equal(await usedBy(known), 0)
  await send(known, 'POST', '/watches', { kind: 'suffix', value: 'fed.example' })
  for (const minute of [1, 2]) await observe('a.fed.example', minute)
  const full = await fetch(link)
  const text = await full.text()
  const { result } = (await send(known, 'GET', '/events')).body as { result: { id: number }[] }
  const ids = [...text.matchAll(/<id>.*\/events#(\d+)<\/id>/g)].map(([, id]) => Number(id))
  assert.deepEqual(ids, result.map(({ id }) => id).toReversed())
  assert.match(text, /<title>a\.fed\.example: new name; A \+ 192\.0\.2\.1<\/title>/)
  assert.match(text, /<link href="http:\/\/127\.0\.0\.1:\d+\/domain\/a\.fed\.example"\/>/)
  assert.equal(await usedBy(known), 2)
  const headers = { 'If-None-Match': full.headers.get('etag')! }
  const same = await fetch(link, { headers })
  assert.equal(same.status, 304)
  for (const response of [full, same])
    assert.deepEqual(
      ['cache-control', 'referrer-policy'].map((name) => response.headers.get(name)),
      ['private, no-cache', 'no-referrer'],
    )
  assert.equal(await usedBy(known), 2)
  await observe('a.fed.example', 3)
  assert.equal((await fetch(link, { headers })).status, 200)
  assert.equal(await usedBy(known), 3)
})

test('the tag of a full feed changes if an event inside it is forgotten', async () => {
  const { feedTag } = await import('../../../src/api/endpoints/watch/feed.ts')
  const common = { watch: 1, name: null, observed_at: null, differences: '[]' }
  const feed = (...numbers: number[]) => numbers.map((number) => ({ ...common, number, time: 5 }))
  assert.equal(feedTag(feed(9, 8, 7)), feedTag(feed(9, 8, 7)))
  const others = [feed(9, 8, 6), feed(9, 7, 6), feed(9, 8), feed(), feed(9, 8, 7).map((each) => ({ ...each, time: 6 }))]
  assert.equal(new Set([feed(9, 8, 7), ...others].map(feedTag)).size, 1 + others.length)
})

test('a new link ends the earlier one, and an account ends its link', async () => {
  const known = await world.account()
  const first = await linkOf(known)
  const second = await linkOf(known)
  assert.equal((await fetch(first)).status, 401)
  assert.equal((await fetch(second)).status, 200)
  await world.store.ledger.as(TESTER).suspendAccount(known.account.id, world.clock.now)
  assert.equal((await fetch(second)).status, 401)
  await world.store.ledger.as(TESTER).resumeAccount(known.account.id)
  assert.equal((await send(known, 'DELETE', '/feed')).status, 204)
  assert.equal((await fetch(second)).status, 401)
  const missing = await fetch(`${world.address}/events.atom`)
  assert.deepEqual([missing.status, ((await missing.json()) as { error: string }).error], [401, 'token_missing'])
})

test('what an event says cannot break the document', async () => {
  const { atomFeed } = await import('../../../src/api/endpoints/watch/feed.ts')
  const differences = JSON.stringify([{ type: 'redirect', before: null, after: '<b>&"\u0001.example' }])
  const event = { number: 1, watch: 1, name: null, time: world.clock.now, observed_at: null, differences }
  const text = atomFeed([event], 'http://a"<.example', world.clock.now)
  assert.match(text, /<title>redirects to &lt;b&gt;&amp;&quot;�\.example<\/title>/)
  assert.match(text, /<id>http:\/\/a&quot;&lt;\.example\/events\.atom<\/id>/)
})
