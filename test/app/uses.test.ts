/** /app/api/uses: who uses a host or a TXT record, and when, by session. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { look, ok } from '../spec/observations.ts'
import { makeWorld } from '../spec/world.ts'
import { assertError, visit } from './sessions.ts'

const world = await makeWorld()
const MX = [{ priority: 10, mail_server: 'mx.example' }]

before(async () => {
  const FIRST = '2026-01-01T00:00:00Z'
  await world.ingest(
    look('one.example', { dns: ok({ NS: ['ns.example'], MX, TXT: [['a', 'b']] }) }, FIRST),
    look('two.example', { dns: ok({ NS: ['ns.example'], MX: [], TXT: [['ab']] }) }, FIRST),
    look('one.example', { dns: ok({ NS: ['other.example'], MX, TXT: [['a', 'b']] }) }, '2026-02-01T00:00:00Z'),
  )
})

const uses = async (parameters: Record<string, string>) => {
  const { account } = await world.account()
  return (await visit(world, account)).send(`/app/api/uses?${new URLSearchParams(parameters)}`)
}
const rowsOf = async (parameters: Record<string, string>) =>
  ((await uses(parameters)).body as { result: Record<string, string>[] }).result.map(
    ({ target, type, priority, first_seen, last_seen }) =>
      `${target} ${type} ${priority} ${first_seen!.slice(5, 10)} ${last_seen!.slice(5, 10)}`,
  )

test('a host has the domains that use it, with the first and the last time', async () => {
  assert.deepEqual(await rowsOf({ host: 'NS.example.' }), [
    'one.example NS null 01-01 01-01',
    'two.example NS null 01-01 01-01',
  ])
  assert.deepEqual(await rowsOf({ host: 'mx.example' }), ['one.example MX 10 01-01 02-01'])
})

test('a text has the domains with exactly these parts', async () => {
  assert.deepEqual(await rowsOf({ text: '["a","b"]' }), ['one.example TXT null 01-01 02-01'])
  assert.deepEqual(await rowsOf({ text: '["ab"]' }), ['two.example TXT null 01-01 01-01'])
})

test('pages follow each other, and a cursor belongs to its query', async () => {
  const first = (await uses({ host: 'ns.example', limit: '1' })).body as { meta: { next: string } }
  const next = first.meta.next
  assert.deepEqual(await rowsOf({ host: 'ns.example', next }), ['two.example NS null 01-01 01-01'])
  assertError(await uses({ host: 'mx.example', next }), 400, 'cursor_mismatch')
})

test('errors: nothing on record, no query, both, no JSON', async () => {
  assertError(await uses({ host: 'nobody.example' }), 404, 'no_data')
  for (const wrong of [{}, { host: 'a b' }, { host: 'ns.example', text: '["a"]' }, { text: 'a' }, { text: '[1]' }])
    assertError(await uses(wrong as Record<string, string>), 400, 'value_invalid')
  assertError(await world.send('/app/api/uses?host=ns.example', {}), 401, 'session_missing')
})
