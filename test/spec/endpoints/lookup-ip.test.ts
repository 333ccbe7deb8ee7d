/** /lookup: the DNS fields of a domain, and what stays when it no longer exists. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../errors.ts'
import { hosted, look, NXDOMAIN, ok, SERVFAIL, site } from '../observations.ts'
import { rowsOf } from '../walks.ts'
import { makeWorld } from '../world.ts'
import { foundIn, fresh } from './characteristics.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const assertFound = foundIn(world, token)

for (const [sentence, dns, expected] of [
  ['ip v4only: only A', ok({ A: ['192.0.2.9'], AAAA: [] }), { ip: 'v4only' }],
  ['ip v6only: only AAAA', ok({ A: [], AAAA: ['2001:db8::9'] }), { ip: 'v6only' }],
  ['ip both: A and AAAA', ok({ A: ['192.0.2.10'], AAAA: ['2001:db8::10'] }), { ip: 'both' }],
  ['ip servfail: the responsible name server failed to answer', SERVFAIL, { ip: 'servfail' }],
  ['ip noip: no A or AAAA record', ok({ A: [], AAAA: [], MX: [] }), { ip: 'noip' }],
  ['ip nxdomain: the domain is currently not in the zone', NXDOMAIN, { ip: 'nxdomain' }],
  ['ip is omitted until A or AAAA was queried', ok({ NS: ['ns.example'] }), {}],
  ['ip: a type that was never queried counts as empty', ok({ A: ['192.0.2.11'] }), { ip: 'v4only' }],
  ['ip: a type that was never queried counts as empty, so noip', ok({ AAAA: [] }), { ip: 'noip' }],
  [
    'only_dns_no_web: DNS entries exist but no A or AAAA record',
    ok({ A: [], AAAA: [], NS: ['ns.example'] }),
    { ip: 'noip', only_dns_no_web: 'yes' },
  ],
  ['only_dns_no_web is "no" if ip is omitted', ok({ MX: [{ priority: 1, mail_server: 'm.example' }] }), {}],
] as const) {
  test(sentence, async () => {
    const domain = fresh()
    await world.ingest(look(domain, { dns }))
    await assertFound(domain, expected)
  })
}

test('ip comes from the newest dns part', async () => {
  const domain = fresh()
  await world.ingest(look(domain, { dns: NXDOMAIN }, '2026-11-10T00:00:00Z'))
  await world.ingest(hosted(domain, ['192.0.2.30'], '2026-11-09T00:00:00Z'))
  await assertFound(domain, { ip: 'nxdomain' })
  await world.ingest(look(domain, { dns: ok({ NS: ['ns.example'] }) }, '2026-11-11T00:00:00Z'))
  await assertFound(domain, { ip: 'v4only' })
  await world.ingest(look(domain, { dns: SERVFAIL }, '2026-11-12T00:00:00Z'))
  await assertFound(domain, { ip: 'servfail' })
})

test('only_dns_no_web ends with the first address', async () => {
  const domain = fresh()
  await world.ingest(look(domain, { dns: ok({ A: [], TXT: [['t']] }) }, '2026-11-10T00:00:00Z'))
  await assertFound(domain, { ip: 'noip', only_dns_no_web: 'yes' })
  await world.ingest(look(domain, { dns: ok({ A: ['192.0.2.31'] }) }, '2026-11-11T00:00:00Z'))
  await assertFound(domain, { ip: 'v4only' })
})

for (const [word, removed] of [
  ['nxdomain', NXDOMAIN],
  ['servfail', SERVFAIL],
] as const) {
  test(`${word}: web fields keep the last known state, and the domain leaves every reverse-IP list but stays in /redirect`, async () => {
    const [domain, neighbour, target] = [`gone.${word}.test`, `neighbour.${word}.test`, `target-${word}.test`]
    const address = word === 'nxdomain' ? '198.51.100.8' : '198.51.100.9'
    const web = site({ redirect_to_https: true, ssl: 'valid', redirects_to: target })
    await world.ingest(look(domain, { dns: ok({ A: [address] }), web }), hosted(neighbour, [address]))
    await assertFound(neighbour, { ip: 'v4only', reverse_ip_count: '1' })
    await world.ingest(look(domain, { dns: removed }, '2026-11-20T00:00:00Z'))
    await assertFound(domain, { redirect_to_https: 'yes', redirect_to_domain: 'yes', ssl: 'valid', ip: word })
    await assertFound(neighbour, { ip: 'v4only', reverse_ip_count: '0' })
    assert.deepEqual(await rowsOf(world, 'reverseip', { token, query: neighbour }), [])
    assert.deepEqual(await rowsOf(world, 'redirect', { token, query: target }), [{ target: domain }])
    assertRefused(await world.ask('reverseip', { token, query: domain }), 'reverseip', 'no_data')
  })
}
