/** `domaindex webhook` over a server: creates, lists, tests and removes webhooks, and prints what failed. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Deliverer } from '../../../src/delivery/sending/deliverer.ts'
import { makeWorld } from '../../spec/world.ts'
import { until } from '../../until.ts'
import { folderOf } from '../run.ts'

const world = await makeWorld()
const { run } = folderOf({ after })
const URL = 'https://receiver.example/'

test('webhooks are created, listed, tested and removed, and what failed is printed and sent again', async () => {
  const { token } = await world.account()
  const env = { DOMAINDEX_SERVER: world.address, DOMAINDEX_TOKEN: token }
  const rows = async (...args: string[]): Promise<Record<string, unknown>[]> => {
    const { stdout, stderr, code } = await run(args, { env })
    assert.equal(code, 0, stderr)
    const lines = stdout.trim().split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line))
  }
  let isDown = true
  const deliverer = new Deliverer({
    ...{ store: world.store, holder: 'test', monotonicMs: () => 0, random: () => 0.5, onFault: assert.ifError },
    send: async () => ({
      isDelivered: !isDown,
      status: isDown ? 410 : 200,
      error: isDown ? 'gone' : null,
      retryAfter: null,
    }),
  })
  const look = () => deliverer.look().then(() => deliverer.idle())

  const [watch] = await rows('watch', 'add', 'name', 'a.example')
  const [{ secret, ...webhook }] = (await rows('webhook', 'add', URL, '--watches', String(watch!.id))) as [
    Record<string, unknown>,
  ]
  assert.match(String(secret), /^whsec_/)
  assert.deepEqual([webhook.url, webhook.watches], [URL, [watch!.id]])
  assert.deepEqual(await rows('webhook', 'list'), [webhook])
  const id = String(webhook.id)
  await world.ingest({
    domain: 'a.example',
    observed_at: '2026-11-20T10:00:00Z',
    dns: { status: 'ok', A: ['192.0.2.1'] },
  })
  await look()
  const [delivery] = await rows('webhook', 'deliveries', id)
  assert.deepEqual([delivery!.state, delivery!.error], ['waiting', 'gone'])
  isDown = false
  let isTested = false
  const tested = rows('webhook', 'test', id).finally(() => {
    isTested = true
  })
  await until(async () => {
    await look()
    return isTested
  })
  assert.deepEqual(
    (await tested).map(({ delivered, status }) => [delivered, status]),
    [[true, 200]],
  )
  assert.deepEqual(await rows('webhook', 'redeliver', id, '--event', String(delivery!.event)), [{ redelivered: 0 }])
  assert.deepEqual(await rows('webhook', 'remove', id), [])
  assert.deepEqual(await rows('webhook', 'list'), [])
  const wrong = await run(['webhook', 'add', 'http://receiver.example/'], { env })
  assert.match(wrong.stderr, /must be an https:\/\/ URL/)
  for (const watches of ['19,abc', '', '19,']) {
    const { code, stderr } = await run(['webhook', 'add', URL, '--watches', watches], { env })
    assert.equal(code, 2)
    assert.match(stderr, /--watches.*It must be IDs of watches, separated by commas/)
  }
  const { stdout } = await run(['webhook', 'list', '--csv'], { env })
  assert.equal(stdout.split('\n')[0]!.split(',').slice(0, 3).join(), 'id,url,watches')
})
