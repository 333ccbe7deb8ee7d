/** The watches of an account for the screenshots, and changes that they match. */

import assert from 'node:assert/strict'
import type { Account } from '../../../src/accounts/account.ts'
import type { WatchRule } from '../../../src/watch/watch.ts'
import { look, NXDOMAIN, ok, site as website } from '../../spec/observations.ts'
import type { World } from '../../spec/world.ts'

/** A watch of each form, and events with one and with several differences. */
export async function fillWatches(world: World, { id }: Account, certificate: object): Promise<void> {
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
  const mail = [10, 20].map((priority) => ({ priority, mail_server: `mx${priority}.mail.example` }))
  await world.ingest(
    look('north-lighthouse.example', { dns: ok({ A: ['192.0.2.61'] }) }, '2026-11-20T09:00:00Z'),
    look('www.quay.example', { dns: ok({ A: ['192.0.2.60'], MX: mail }) }, '2026-11-20T09:10:00Z'),
    look('www.quay.example', { web: website({ ssl: 'valid', certificate }) }, '2026-11-20T09:20:00Z'),
    look('www.quay.example', { dns: ok({ A: ['192.0.2.62', '192.0.2.63'], MX: [] }) }, '2026-11-20T10:00:00Z'),
    look('www.quay.example', { dns: NXDOMAIN }, '2026-11-20T11:00:00Z'),
  )
}
