/** Watches and events over HTTP: who sees what, what it costs, and how events come as they happen. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { type Known, makeWorld } from '../../spec/world.ts'
import { until } from '../../until.ts'

const world = await makeWorld()

type Watch = { id: number; kind: string; value: string }
type Event = { id: number; watch: number; name: string; differences: { type: string }[] }
type Page = { meta: { next: number; limit: number }; result: Event[] }

const headersOf = ({ token }: Known, more: Record<string, string> = {}) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  ...more,
})
const send = (known: Known, method: string, path: string, body?: object) =>
  world.send(path, { method, headers: headersOf(known), ...(body && { body: JSON.stringify(body) }) })

async function watch(known: Known, body: object): Promise<Watch> {
  const created = await send(known, 'POST', '/watches', body)
  assert.equal(created.status, 201, created.text)
  return created.body as Watch
}

async function eventsAfter(known: Known, after = 0, more = ''): Promise<Page> {
  const page = await send(known, 'GET', `/events?after=${after}${more}`)
  assert.equal(page.status, 200, page.text)
  return page.body as Page
}

const observe = (domain: string, minute: number, address = `192.0.2.${minute}`) =>
  world.ingest({
    domain,
    observed_at: `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`,
    dns: { status: 'ok', A: [address] },
  })

const usedBy = async (known: Known): Promise<number> =>
  ((await send(known, 'GET', '/account/quota')).body as { used: number }).used

test('an account creates, lists, mutes and removes watches, and sees none of another', async () => {
  const [known, other] = [await world.account({ plan: 'basic' }), await world.account()]
  const first = await watch(known, { kind: 'address', value: '192.0.2.77/24', types: ['records'] })
  assert.deepEqual(first, {
    id: first.id,
    kind: 'address',
    value: '192.0.2.0/24',
    threshold: null,
    types: ['records'],
    created: '2026-11-20T12:00:00Z',
    muted: null,
  })
  const second = await watch(known, { kind: 'text', value: 'One.example.' })
  assert.deepEqual((await send(known, 'GET', '/watches')).body, {
    watches: [first, { ...second, threshold: 20 }],
    used: 2,
    max: DEFAULT_PLAN_LIMITS.basic.watches,
  })
  assert.deepEqual((await send(other, 'GET', '/watches')).body, {
    watches: [],
    used: 0,
    max: DEFAULT_PLAN_LIMITS.free.watches,
  })
  assert.deepEqual((await send(known, 'GET', `/watches/${first.id}`)).body, first)
  for (const id of ['0', 'x', '99999999999']) assert.equal((await send(known, 'GET', `/watches/${id}`)).status, 404)
  for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { muted: true }]] as const)
    assert.equal((await send(other, method, `/watches/${first.id}`, body)).status, 404)
  const muted = await send(known, 'PATCH', `/watches/${first.id}`, { muted: true })
  assert.deepEqual(muted.body, { ...first, muted: '2026-11-20T12:00:00Z' })
  assert.deepEqual((await send(known, 'PATCH', `/watches/${first.id}`, { muted: false })).body, first)
  assert.equal((await send(known, 'DELETE', `/watches/${first.id}`)).status, 204)
  assert.equal((await send(known, 'DELETE', `/watches/${first.id}`)).status, 404)
  assert.equal(await usedBy(known), 0)
})

test('the number of watches has the limit of the plan, and each is there once', async () => {
  const known = await world.account()
  for (let n = 0; n < DEFAULT_PLAN_LIMITS.free.watches; n++)
    await watch(known, { kind: 'name', value: `n${n}.example` })
  const { status, body } = await send(known, 'POST', '/watches', { kind: 'name', value: 'more.example' })
  assert.deepEqual([status, (body as { error: string }).error], [409, 'conflict'])
  const premium = await world.account({ plan: 'premium' })
  await watch(premium, { kind: 'name', value: 'a.example' })
  assert.equal((await send(premium, 'POST', '/watches', { kind: 'name', value: 'A.example' })).status, 409)
})

for (const [field, body] of [
  ['kind', { kind: 'names', value: 'a.example' }],
  ['value', { kind: 'name', value: 'https://a.example/' }],
  ['value', { kind: 'name' }],
  ['value', { kind: 'pattern', value: 'ab*' }],
  ['types', { kind: 'name', value: 'a.example', types: ['old'] }],
  ['types', { kind: 'name', value: 'a.example', types: [] }],
  ['types', { kind: 'name', value: 'a.example', types: ['new', 'text'] }],
  ['types', { kind: 'text', value: 'a.example', types: ['records'] }],
  ['types', { kind: 'address', value: '192.0.2.1', types: ['new'] }],
  ['threshold', { kind: 'name', value: 'a.example', threshold: 5 }],
  ['threshold', { kind: 'text', value: 'a.example', threshold: 0 }],
  ['threshold', { kind: 'lookalikes', value: 'google.com', threshold: 39 }],
  ['value', { kind: 'lookalikes', value: 'co.uk' }],
] as const)
  test(`${JSON.stringify(body)} is refused because of ${field}`, async () => {
    const { status, body: error } = await send(await world.account(), 'POST', '/watches', body)
    assert.equal(status, 400)
    assert.deepEqual([(error as { error: string }).error, (error as { field: string }).field], ['value_invalid', field])
  })

test('a page of events costs one call, an empty one nothing, and the next page begins after it', async () => {
  const [known, other] = [await world.account(), await world.account()]
  const { id } = await watch(known, { kind: 'suffix', value: 'paged.example' })
  await watch(other, { kind: 'name', value: 'other.example' })
  for (const minute of [1, 2, 3]) await observe('a.paged.example', minute)
  const first = await eventsAfter(known, 0, '&limit=2')
  assert.deepEqual(
    first.result.map((event) => [event.watch, event.name, event.differences.map(({ type }) => type)]),
    [
      [id, 'a.paged.example', ['new', 'records']],
      [id, 'a.paged.example', ['records']],
    ],
  )
  assert.deepEqual([first.meta.next, first.meta.limit], [first.result[1]!.id, 2])
  const second = await eventsAfter(known, first.meta.next)
  assert.equal(second.result.length, 1)
  assert.equal(await usedBy(known), 2)
  assert.deepEqual((await eventsAfter(known, second.meta.next)).result, [])
  assert.deepEqual((await eventsAfter(other)).result, [])
  assert.equal(await usedBy(known), 2)
  assert.equal(await usedBy(other), 0)
  const lines = await fetch(`${world.address}/events?limit=2`, {
    headers: headersOf(known, { Accept: 'application/x-ndjson' }),
  })
  const texts = (await lines.text()).trim().split('\n')
  assert.deepEqual(JSON.parse(texts[2]!), { end: true, rows: 2, next: first.meta.next })
  assert.deepEqual(JSON.parse(texts[0]!), first.result[0])
})

test('a wrong number is refused, and so is a request without a token', async () => {
  const known = await world.account()
  for (const [query, field] of [
    ['after=x', 'after'],
    ['after=-1', 'after'],
    ['wait=31', 'wait'],
  ] as const) {
    const { status, body } = await send(known, 'GET', `/events?${query}`)
    assert.deepEqual([status, (body as { field: string }).field], [400, field])
  }
  for (const path of ['/events', '/watches']) assert.equal((await world.send(path, {})).status, 401)
})

test('a number that no event has had is refused, and that of a removed event is not', async () => {
  const known = await world.account()
  await watch(known, { kind: 'name', value: 'erased.example' })
  await observe('erased.example', 1)
  const { next } = (await eventsAfter(known)).meta
  await world.store.observations.forget('erased.example' as DomainName)
  assert.deepEqual((await eventsAfter(known, next)).result, [])
  const refused = await send(known, 'GET', `/events?after=${next + 1}`)
  const { error, field, msg } = refused.body as Record<string, string>
  assert.deepEqual([refused.status, error, field], [400, 'value_invalid', 'after'])
  assert.match(msg!, new RegExp(`"after": the newest one is ${await world.store.events.lastEvent()}\\.`))
  const headers = headersOf(known, { Accept: 'text/event-stream', 'Last-Event-ID': String(next + 1) })
  assert.equal((await fetch(`${world.address}/events`, { headers })).status, 400)
})

test('a request that waits is answered with the first event, or empty after its time', async () => {
  const known = await world.account()
  await watch(known, { kind: 'name', value: 'waited.example' })
  const waiting = eventsAfter(known, 0, '&wait=30')
  await observe('unwatched.example', 1)
  await observe('waited.example', 1)
  const { result, meta } = await waiting
  assert.deepEqual(
    result.map(({ name }) => name),
    ['waited.example'],
  )
  let isAnswered = false
  const empty = eventsAfter(known, meta.next, '&wait=30').finally(() => {
    isAnswered = true
  })
  await until(() => {
    world.clock.ticks += 10_000
    return isAnswered
  })
  assert.deepEqual((await empty).result, [])
})

/** Reads a stream until it has so many events, and closes it. */
async function readStream(known: Known, count: number, headers: Record<string, string>, onOpen: () => Promise<void>) {
  const { body, status } = await fetch(`${world.address}/events`, {
    headers: headersOf(known, { Accept: 'text/event-stream', ...headers }),
  })
  assert.equal(status, 200)
  let text = ''
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let opening: Promise<void> | null = null
  while ((text.match(/^data: /gm) ?? []).length < count) {
    const { value, done } = await reader.read()
    assert.equal(done, false)
    text += value
    opening ??= onOpen()
  }
  await opening
  await reader.cancel()
  return [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data]) => ({
    id: Number(id),
    event: JSON.parse(data!) as Event,
  }))
}

test('a stream sends events as they come, and continues after the last one of an earlier stream', async () => {
  const known = await world.account()
  await watch(known, { kind: 'name', value: 'streamed.example' })
  await observe('streamed.example', 1)
  const live = await readStream(known, 1, {}, () => observe('streamed.example', 2))
  const all = await eventsAfter(known)
  assert.deepEqual(live, [{ id: all.result[1]!.id, event: all.result[1] }])
  await observe('streamed.example', 3)
  const later = await readStream(known, 1, { 'Last-Event-ID': String(live[0]!.id) }, async () => {})
  assert.deepEqual(
    later.map(({ event }) => event),
    (await eventsAfter(known, live[0]!.id)).result,
  )
  assert.equal(await usedBy(known), 4)
})

test('a stream ends when its token is revoked', async () => {
  const known = await world.account()
  const { body } = await fetch(`${world.address}/events`, {
    headers: headersOf(known, { Accept: 'text/event-stream' }),
  })
  const reader = body!.getReader()
  await reader.read()
  await world.revoke(known)
  const ended = (async () => {
    for (;;) if ((await reader.read()).done) return true
  })()
  let isEnded = false
  void ended.then(() => {
    isEnded = true
  })
  await until(() => {
    world.clock.ticks += 10_000
    return isEnded
  })
})

test('an account has few requests that wait, and those whose clients have gone count no longer', async () => {
  const known = await world.account()
  const headers = { Authorization: `Bearer ${known.token}` }
  const end = new AbortController()
  const open = () => fetch(`${world.address}/events?wait=30`, { headers, signal: end.signal })
  // four wait, and the fifth is refused: it is the only one that ends
  const polls = Array.from({ length: 5 }, () => open().then(({ status }) => status))
  assert.equal(await Promise.race(polls), 500)
  assert.equal((await send(known, 'GET', '/watches')).status, 200)
  end.abort()
  await Promise.allSettled(polls)
  await watch(known, { kind: 'name', value: 'back.example' })
  await observe('back.example', 1)
  await until(async () => (await send(known, 'GET', '/events?wait=30')).status === 200)
})

test('CSV has the differences as JSON', async () => {
  const known = await world.account()
  await watch(known, { kind: 'name', value: 'csv.example', types: ['new'] })
  await observe('csv.example', 1)
  const headers = { Authorization: `Bearer ${known.token}`, Accept: 'text/csv' }
  const [head, row] = (await (await fetch(`${world.address}/events`, { headers })).text()).split('\n')
  assert.equal(head, 'id,time,watch,name,observed_at,differences')
  assert.match(row!, /,csv\.example,.*,"\[\{""type"":""new""\}\]"$/)
})

test('a network of one address is this address, and IPv4 is not written as IPv6', async () => {
  const known = await world.account({ plan: 'basic' })
  assert.equal((await watch(known, { kind: 'address', value: '192.0.2.1/32' })).value, '192.0.2.1')
  const body = { kind: 'address', value: '::ffff:192.0.2.0/120' }
  assert.equal((await send(known, 'POST', '/watches', body)).status, 400)
})

test('a preview says what a watch would have matched, stores nothing, and costs one call', async () => {
  const known = await world.account()
  for (const minute of [1, 2]) await observe('a.preview.example', minute)
  const preview = (body: object) => send(known, 'POST', '/watches/preview', body)
  const { status, body } = await preview({ kind: 'suffix', value: '*.Preview.example' })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    meta: {
      kind: 'suffix',
      value: 'preview.example',
      from: '2026-10-21T12:00:00Z',
      types: ['new'],
      complete: true,
      rcode: 200,
      msg: 'ok',
    },
    result: [{ name: 'a.preview.example', observed_at: '2026-11-20T10:01:00Z', type: 'new' }],
  })
  assert.equal(await usedBy(known), 1)
  for (const wrong of [{ kind: 'text', value: 'a.example' }, { kind: 'pattern', value: 'ab*' }, {}])
    assert.equal((await preview(wrong)).status, 400)
  const list = await preview([])
  assert.deepEqual([list.status, (list.body as { field: string }).field], [400, 'body'])
  assert.equal((await world.send('/watches/preview', { method: 'POST' })).status, 401)
  assert.equal(await usedBy(known), 1)
  assert.deepEqual(((await send(known, 'GET', '/watches')).body as { watches: [] }).watches, [])
})

test('with "before", events come newest first', async () => {
  const known = await world.account()
  await watch(known, { kind: 'name', value: 'backward.example' })
  for (const minute of [1, 2, 3]) await observe('backward.example', minute)
  const all = (await eventsAfter(known)).result
  const back = async (query: string) => (await send(known, 'GET', `/events?${query}`)).body as Page
  const first = await back('before=now&limit=2')
  assert.deepEqual([first.result, first.meta.next], [all.toReversed().slice(0, 2), all[1]!.id])
  const second = await back(`before=${first.meta.next}&limit=2`)
  assert.deepEqual([second.result, second.meta.next], [[all[0]], 0])
  for (const [query, message] of [
    ['before=x', /"before" must be a whole number or "now"/],
    ['before=now&after=0', /without "after"/],
    ['before=now&wait=1', /"wait"/],
  ] as const) {
    const { status, body } = await send(known, 'GET', `/events?${query}`)
    assert.equal(status, 400)
    assert.match((body as { msg: string }).msg, message)
  }
  const headers = headersOf(known, { Accept: 'text/event-stream' })
  const stream = await world.send('/events?before=now', { headers })
  assert.deepEqual([stream.status, JSON.parse(stream.text).field], [400, 'before'])
})

test('an empty value and an empty list of types have messages of their own, and an excess names the weight', async () => {
  const known = await world.account()
  for (const [body, message] of [
    [{ kind: 'address', value: ' ' }, '"value" is empty: send one such as 192.0.2.1.'],
    [{ kind: 'name', value: 'a.example', types: [] }, '"types" is empty: leave it out if all types are to match.'],
    [{ kind: 'name', value: 'a.example', types: 'new' }, '"types" must be a list.'],
  ] as const)
    assert.equal(((await send(known, 'POST', '/watches', body)).body as { msg: string }).msg, message)
  await watch(known, { kind: 'lookalikes', value: 'brand.example' })
  const { body } = await send(known, 'POST', '/watches', { kind: 'name', value: 'a.example' })
  assert.match((body as { msg: string }).msg, /allows 10 watches\. One of lookalikes counts as 10\./)
})
