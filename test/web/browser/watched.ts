/** The watches of an account for the screenshots, and changes that they match. */

import assert from 'node:assert/strict'
import { Deliverer } from '../../../src/delivery/sending/deliverer.ts'
import type { Attempt } from '../../../src/delivery/sending/webhook-sender.ts'
import type { WatchRule } from '../../../src/watch/watch.ts'
import { look, NXDOMAIN, ok, site as website } from '../../spec/observations.ts'
import type { Known, World } from '../../spec/world.ts'

/** Sends what waits for webhooks, to receivers that refuse it or accept it. */
export async function deliver(world: World, isDelivered: boolean): Promise<void> {
  const attempt: Attempt = isDelivered
    ? { isDelivered, status: 204, error: null, retryAfter: null }
    : { isDelivered, status: 500, error: 'HTTP status 500', retryAfter: null }
  const deliverer = new Deliverer({
    store: world.store,
    holder: 'test',
    monotonicMs: () => 0,
    random: () => 0.5,
    onFault: assert.ifError,
    send: async () => attempt,
  })
  await deliverer.look()
  await deliverer.idle()
}

/** A watch of each form, a webhook that refuses, and events with one and with several differences. */
export async function fillWatches(world: World, { account: { id }, token }: Known, certificate: object): Promise<void> {
  const rules: Pick<WatchRule, 'kind' | 'value' | 'types'>[] = [
    { kind: 'suffix', value: 'quay.example', types: null },
    { kind: 'pattern', value: '*lighthouse*', types: ['new', 'records'] },
    { kind: 'address', value: '198.51.100.0/24', types: null },
    { kind: 'text', value: 'harbour-books.example', types: null },
  ]
  const { ledger } = world.store
  for (const rule of rules) {
    const threshold = rule.kind === 'text' ? 20 : null
    const created = await ledger.createWatch(10, id, { ...rule, threshold }, world.clock.now)
    assert.ok(typeof created === 'object')
    if (rule.kind === 'address') await ledger.muteWatch(id, created.id, true, world.clock.now)
  }
  const webhook = await world.send('/webhooks', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ url: 'https://receiver.example/hooks/domaindex' }),
  })
  assert.equal(webhook.status, 201, webhook.text)
  const mail = [10, 20].map((priority) => ({ priority, mail_server: `mx${priority}.mail.example` }))
  await world.ingest(
    look('north-lighthouse.example', { dns: ok({ A: ['192.0.2.61'] }) }, '2026-11-20T09:00:00Z'),
    look('www.quay.example', { dns: ok({ A: ['192.0.2.60'], MX: mail }) }, '2026-11-20T09:10:00Z'),
    look('www.quay.example', { web: website({ ssl: 'valid', certificate }) }, '2026-11-20T09:20:00Z'),
    look('www.quay.example', { dns: ok({ A: ['192.0.2.62', '192.0.2.63'], MX: [] }) }, '2026-11-20T10:00:00Z'),
    look('www.quay.example', { dns: NXDOMAIN }, '2026-11-20T11:00:00Z'),
  )
  await deliver(world, false)
}
