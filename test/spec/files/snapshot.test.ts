/** /snapshot: the required add-ons, and its errors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Addon } from '../../../src/accounts/account.ts'
import { assertRefused, type ErrorKey } from '../errors.ts'
import { makeWorld } from '../world.ts'
import { assertWhole, BUILT, fetchFile, listOf, post, publish } from './files.ts'

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

test('403 addon_required also for enriched without the second add-on, and without both, export is named', async () => {
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

const whole = { addons: ['export', 'enriched'] as const }

test('without download: the report, meta with its keys and no others, result empty', async () => {
  const { token } = await world.account(whole)
  const bare = await world.account({ addons: ['export'] })
  await publish(world, 'domains-2026-11-19.txt.gz', listOf('a.example'), { rows: 1, generated: BUILT - 86_400 })
  const content = listOf('a.example', 'b.example')
  await publish(world, 'domains-2026-11-20.txt.gz', content, { rows: 2 })
  const meta = {
    rcode: 200,
    msg: 'ok',
    generated: '2026-11-20T02:00:00+00:00',
    domains: 2,
    size: content.length,
    filename: 'domains-2026-11-20.txt.gz',
    format: 'names',
    enriched_available: true,
  }
  const seen = await world.ask('snapshot', { token })
  assert.deepEqual([seen.status, seen.body], [200, { meta, result: [] }])
  const other = await world.ask('snapshot', { token: bare.token, download: '0' }, { method: 'GET' })
  assert.deepEqual(other.body, { meta: { ...meta, enriched_available: false }, result: [] })
  assertRefused(await world.ask('snapshot', { token, enriched: 1 }), 'snapshot', 'no_data')
  await publish(world, 'domains-enriched-2026-11-20.csv.gz', content, { rows: 2 })
  const enriched = { ...meta, format: 'enriched', filename: 'domains-enriched-2026-11-20.csv.gz' }
  assert.deepEqual((await world.ask('snapshot', { token, enriched: 1 })).body, { meta: enriched, result: [] })
})

test('with download: the list file, named as meta.filename', async () => {
  const { token } = await world.account(whole)
  const [names, rows] = [listOf('a.example', 'b.example', 'c.example'), listOf('domain,has_website', 'a.example,no')]
  await publish(world, 'domains-2026-11-21.txt.gz', names)
  await publish(world, 'domains-enriched-2026-11-21.csv.gz', rows)
  const plain = await fetchFile(world, '/v1.0/snapshot', post({ token, download: '1' }))
  assertWhole(plain, names, 'attachment; filename="domains-2026-11-21.txt.gz"')
  const enriched = await fetchFile(world, `/v1.0/snapshot?token=${token}&download=1&enriched=1`)
  assertWhole(enriched, rows, 'attachment; filename="domains-enriched-2026-11-21.csv.gz"')
})

test('a held snapshot is not the newest', async () => {
  const { token } = await world.account(whole)
  await publish(world, 'domains-2026-11-22.txt.gz', listOf('a.example'))
  await publish(world, 'domains-2026-11-23.txt.gz', listOf('a.example'), { held: 'it is far too short' })
  const { body } = await world.ask('snapshot', { token })
  assert.equal((body as { meta: { filename: string } }).meta.filename, 'domains-2026-11-22.txt.gz')
})
