/** /snapshot: the add-ons that it needs, and its errors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Addon } from '../../src/accounts/account.ts'
import { assertRefused, type ErrorKey } from './errors.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()

async function refusal(addons: readonly Addon[], parameters: object, key: ErrorKey): Promise<string> {
  const { token } = await world.account({ plan: 'premium', addons })
  return assertRefused(await world.ask('snapshot', { token, ...parameters }), 'snapshot', key)
}

test('403 addon_required: export not purchased; msg names which', async () => {
  assert.match(await refusal([], {}, 'addon_required'), /\bexport\b/)
  assert.match(await refusal([], { download: '1' }, 'addon_required'), /\bexport\b/)
  assert.match(await refusal(['enriched'], {}, 'addon_required'), /\bexport\b/)
})

test('403 addon_required also for enriched without the second add-on; without both, export is named', async () => {
  assert.match(await refusal(['export'], { enriched: '1' }, 'addon_required'), /\benriched\b/)
  assert.match(await refusal(['export'], { enriched: '1', download: '1' }, 'addon_required'), /\benriched\b/)
  assert.match(await refusal([], { enriched: '1' }, 'addon_required'), /\bexport\b/)
  assert.match(await refusal(['enriched'], { enriched: '1' }, 'addon_required'), /\bexport\b/)
})

test('404 no_data: no snapshot built yet', async () => {
  await refusal(['export'], {}, 'no_data')
  await refusal(['export'], { download: '1' }, 'no_data')
  await refusal(['export', 'enriched'], { enriched: '1' }, 'no_data')
  await refusal(['export', 'enriched'], { enriched: '1', download: '1' }, 'no_data')
})

test('an add-on is enough, whatever the plan', async () => {
  const { token } = await world.account({ addons: ['export'] })
  assertRefused(await world.ask('snapshot', { token }), 'snapshot', 'no_data')
})

for (const [word, value, needed] of [
  ['on', '1', true],
  ['on', 1, true],
  ['on', ' 1 ', true],
  ['off', '0', false],
  ['off', 0, false],
  ['off', 'true', false],
  ['off', true, false],
  ['off', 'yes', false],
  ['off', '01', false],
  ['off', '', false],
  ['off', null, false],
  ['off', ['1'], false],
] as const) {
  test(`download and enriched are on with "1" or 1 and off otherwise: ${JSON.stringify(value)} is ${word}`, async () => {
    await refusal(['export'], { enriched: value, download: value }, needed ? 'addon_required' : 'no_data')
  })
}

test('/snapshot takes the same parameters in the query string', async () => {
  const { token } = await world.account({ addons: ['export'] })
  const get = (parameters: object) => world.ask('snapshot', { token, ...parameters }, { method: 'GET' })
  assertRefused(await get({ download: '1' }), 'snapshot', 'no_data')
  assertRefused(await get({ enriched: '1' }), 'snapshot', 'addon_required')
})
