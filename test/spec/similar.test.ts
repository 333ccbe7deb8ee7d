/** /similar: the errors on the way to websites with a similar text. */

import { test } from 'node:test'
import { assertRefused } from './errors.ts'
import { look, site } from './observations.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()

test('no start-page text on record: 404 no_data, at the top level', async () => {
  const { token } = await world.account()
  await world.ingest(look('silent.example', { web: site() }), look('bare.example'))
  for (const query of ['silent.example', 'bare.example', 'unknown.example']) {
    assertRefused(await world.ask('similar', { token, query }), 'similar', 'no_data')
  }
})

test('any plan', async () => {
  for (const plan of ['free', 'basic', 'premium'] as const) {
    const { token } = await world.account({ plan })
    assertRefused(await world.ask('similar', { token, query: 'unknown.example' }), 'similar', 'no_data')
  }
})

for (const [key, query] of [
  ['query_missing', undefined],
  ['query_missing', ''],
  ['domain_format', 'nodot'],
  ['domain_format', '192.0.2.1'],
  ['domain_format', ['a.example']],
] as const) {
  test(`400 ${key}, at the top level: ${JSON.stringify(query)}`, async () => {
    const { token } = await world.account()
    assertRefused(await world.ask('similar', { token, query }), 'similar', key)
  })
}

test('/similar takes the same parameters in the query string', async () => {
  const { token } = await world.account()
  const get = (parameters: object) => world.ask('similar', { token, ...parameters }, { method: 'GET' })
  assertRefused(await get({}), 'similar', 'query_missing')
  assertRefused(await get({ query: 'unknown.example', limit: '5' }), 'similar', 'no_data')
})
