/** Webhooks over HTTP: who creates and sees which, their tests, and what failed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { DeliveriesResponse } from '../../../client/src/client.ts'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import { Deliverer } from '../../../src/delivery/sending/deliverer.ts'
import type { Attempt } from '../../../src/delivery/sending/webhook-sender.ts'
import { type Known, makeWorld } from '../../spec/world.ts'
import { until } from '../../until.ts'

const world = await makeWorld()
const URL = 'https://receiver.example/secret-path'

type Body = Record<string, unknown>

const send = (known: Known, method: string, path: string, body?: object) =>
  world.send(path, {
    method,
    headers: { Authorization: `Bearer ${known.token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

const bearerOf = ({ token }: Known) => ({ Authorization: `Bearer ${token}` })

async function create(known: Known, body: Body = { url: URL }): Promise<Body & { id: number; secret: string }> {
  const created = await send(known, 'POST', '/webhooks', body)
  assert.equal(created.status, 201, created.text)
  return created.body as Body & { id: number; secret: string }
}

const ACCEPTED: Attempt = { isDelivered: true, status: 200, error: null, retryAfter: null }
const REFUSED: Attempt = { isDelivered: false, status: 500, error: 'HTTP status 500', retryAfter: null }

/** A deliverer whose receiver answers as the test says. */
function deliverer(answer: () => Attempt) {
  const received: { headers: Record<string, string>; body: string }[] = []
  const each = new Deliverer({
    store: world.store,
    holder: 'test',
    monotonicMs: () => 0,
    random: () => 0.5,
    onFault: assert.ifError,
    async send(url, headers, body) {
      assert.equal(url, URL)
      received.push({ headers, body })
      return answer()
    },
  })
  const look = () => each.look().then(() => each.idle())
  return { received, look }
}

test('an account creates, lists and removes webhooks, whose secret is shown once, and sees none of another', async () => {
  const [known, other] = [await world.account(), await world.account({ plan: 'basic' })]
  const { secret, ...webhook } = await create(known)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/)
  assert.deepEqual(webhook, {
    ...{ id: webhook.id, url: URL, watches: null, created: '2026-11-20T12:00:00Z', state: 'active' },
    ...{ failing_since: null, next_attempt: null, last_success: null, last_error: null, disabled: null },
    ...{ waiting: 0, dead: 0 },
  })
  assert.deepEqual((await send(known, 'GET', '/webhooks')).body, { webhooks: [webhook], max: 1 })
  const max = DEFAULT_PLAN_LIMITS.basic.webhooks
  assert.deepEqual((await send(other, 'GET', '/webhooks')).body, { webhooks: [], max })
  const { status, body } = await send(known, 'POST', '/webhooks', { url: URL })
  assert.deepEqual([status, (body as Body).error], [409, 'conflict'])
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', '/redeliver'],
  ] as const)
    assert.equal((await send(other, method, `/webhooks/${webhook.id}${path}`)).status, 404, path)
  assert.equal((await send(known, 'DELETE', `/webhooks/${webhook.id}`)).status, 204)
  assert.equal((await send(known, 'DELETE', `/webhooks/${webhook.id}`)).status, 404)
  assert.equal((await world.send('/webhooks', {})).status, 401)
  assert.equal(((await send(known, 'GET', '/account/quota')).body as Body).used, 0)
})

test('a wrong URL, list of watches or event is refused', async () => {
  const known = await world.account()
  for (const [field, body] of [
    ['url', {}],
    ['url', { url: 'http://receiver.example/' }],
    ['url', { url: 'https://10.0.0.1/' }],
    ['watches', { url: URL, watches: [] }],
    ['watches', { url: URL, watches: [99] }],
    ['watches', { url: URL, watches: 'all' }],
  ] as const) {
    const { status, body: error } = await send(known, 'POST', '/webhooks', body)
    assert.deepEqual([status, (error as Body).error, (error as Body).field], [400, 'value_invalid', field])
  }
})

test('only an empty body or object has all dead events sent again', async () => {
  const known = await world.account()
  const path = `/webhooks/${(await create(known)).id}/redeliver`
  const post = (body: string) => world.send(path, { ...{ method: 'POST', body }, headers: bearerOf(known) })
  for (const [field, body] of [
    ['event', '{"event":0}'],
    ['event', '{"event":null}'],
    ['evnt', '{"evnt":3}'],
    ['body', '{'],
    ['body', '[]'],
    ['body', ' '],
  ] as const) {
    const { status, body: error } = await post(body)
    assert.deepEqual([status, (error as Body).error, (error as Body).field], [400, 'value_invalid', field], body)
  }
  for (const body of ['', '{}']) assert.deepEqual((await post(body)).body, { redelivered: 0 }, body)
})

test('events are sent from the creation on, what failed is listed, and dead events are sent again', async () => {
  const known = await world.account()
  const observe = (minute: number) =>
    world.ingest({
      domain: 'a.example',
      observed_at: `2026-11-20T10:0${minute}:00Z`,
      dns: { status: 'ok', A: [`192.0.2.${minute}`] },
    })
  const watch = (await send(known, 'POST', '/watches', { kind: 'name', value: 'a.example' })).body as { id: number }
  await observe(1)
  const { id, secret } = await create(known, { url: URL, watches: [watch.id, watch.id] })
  await observe(2)
  let answer = ACCEPTED
  const { received, look } = deliverer(() => answer)
  await look()
  const events = (await send(known, 'GET', '/events')).body as { result: Body[] }
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body).data),
    [events.result[1]],
  )
  assert.throws(() => new Webhook(secret).verify(received[0]!.body, received[0]!.headers), /timestamp/i) // in the past
  answer = REFUSED
  await observe(3)
  await look()
  world.clock.now += 4 * 86_400
  await look()
  const listed = (await send(known, 'GET', `/webhooks/${id}/deliveries`)).body as { webhook: Body; deliveries: Body[] }
  const { state, waiting, dead, last_error, watches } = listed.webhook
  assert.deepEqual([state, waiting, dead, last_error, watches], ['failing', 0, 1, 'HTTP status 500', [watch.id]])
  const event = JSON.parse(received[1]!.body).data.id
  assert.deepEqual(listed.deliveries, [
    {
      ...{ event, time: '2026-11-20T12:00:00Z', state: 'dead', attempts: 2 },
      ...{ last_attempt: '2026-11-24T12:00:00Z', next_attempt: null, error: 'HTTP status 500' },
    },
  ])
  answer = ACCEPTED
  assert.deepEqual((await send(known, 'POST', `/webhooks/${id}/redeliver`)).body, { redelivered: 1 })
  await look()
  assert.equal(received.at(-1)!.headers['webhook-id'], received[1]!.headers['webhook-id'], 'a retry has the same ID')
  assert.equal(received.at(-1)!.headers['webhook-id'], `evt_${event}_${Date.parse('2026-11-20T12:00:00Z') / 1_000}`)
  const { webhook, deliveries } = (await send(known, 'GET', `/webhooks/${id}/deliveries`)).body as typeof listed
  assert.deepEqual([webhook.state, webhook.last_success, deliveries], ['active', '2026-11-24T12:00:00Z', []])
})

test('an event that failed has no next attempt while its webhook is disabled', async () => {
  const known = await world.account()
  await send(known, 'POST', '/watches', { kind: 'name', value: 'gone.example' })
  const { id } = await create(known)
  const attempts: Pick<DeliveriesResponse['deliveries'][number], 'state' | 'next_attempt'>[] = []
  for (const status of [500, 410]) {
    await world.ingest({
      domain: 'gone.example',
      observed_at: `2026-11-20T10:0${attempts.length}:00Z`,
      dns: { status: 'ok', A: [`192.0.2.${attempts.length}`] },
    })
    await deliverer(() => ({ ...REFUSED, status })).look()
    const { body } = await send(known, 'GET', `/webhooks/${id}/deliveries`)
    attempts.push((body as DeliveriesResponse).deliveries.at(-1)!)
  }
  assert.deepEqual(
    attempts.map(({ state, next_attempt: at }) => [state, typeof at]),
    [
      ['waiting', 'string'],
      ['waiting', 'object'],
    ],
  )
})

test('a test is answered with its result, and with an error if no process sends', async () => {
  const known = await world.account()
  const { id } = await create(known)
  const { received, look } = deliverer(() => REFUSED)
  const tested = send(known, 'POST', `/webhooks/${id}/test`)
  await until(async () => {
    await look()
    return received.length > 0
  })
  assert.deepEqual((await tested).body, { delivered: false, status: 500, error: 'HTTP status 500', milliseconds: 0 })
  const { type, data } = JSON.parse(received[0]!.body)
  assert.deepEqual([type, data, received[0]!.headers['webhook-id']], ['webhook.test', { webhook: id }, `test_${id}_1`])
  let unanswered: Awaited<ReturnType<typeof send>> | null = null
  void send(known, 'POST', `/webhooks/${id}/test`).then((response) => {
    unanswered = response
  })
  const { status, headers } = await until(() => {
    world.clock.ticks += 10_000
    return unanswered
  })
  assert.deepEqual([status, headers.get('retry-after')], [500, '1'])
})
