/** /lookup: the key characteristics of one domain, field by field. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../errors.ts'
import { hosted, look, ok, redirecting, site } from '../observations.ts'
import { rowsOf } from '../walks.ts'
import { makeWorld } from '../world.ts'
import { foundIn, fresh } from './characteristics.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const ask = (query: unknown) => world.ask('lookup', { token, query })
const assertFound = foundIn(world, token)

test('response 200: meta (query, rcode, msg) and result as in the domain characteristics table', async () => {
  const web = site({
    redirect_to_https: true,
    redirect_to_www: true,
    ssl: 'valid',
    social_accounts: [{ network: 'x', type: 'x', username: 'whole', url: 'https://x.com/whole' }],
  })
  await world.ingest(look('whole.example', { dns: ok({ A: ['192.0.2.1'], AAAA: ['2001:db8::1'] }), web }))
  const seen = await ask('whole.example')
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: { query: 'whole.example', rcode: 200, msg: 'ok' },
    result: {
      has_website: 'yes',
      redirect_to_https: 'yes',
      redirect_to_www: 'yes',
      redirect_to_domain: 'no',
      only_with_www: 'no',
      only_dns_no_web: 'no',
      ssl: 'valid',
      ip: 'both',
      redirect_count: '0',
      reverse_ip_count: '0',
      social_networks: ['x'],
      social_accounts: [{ network: 'x', type: 'x', username: 'whole', url: 'https://x.com/whole' }],
    },
  })
})

test('known but never crawled: yes/no fields "no", ssl "nocert", arrays empty, counts as they are, no ip', async () => {
  await world.ingest(look('bare.example'), redirecting('to-bare.example', 'bare.example'))
  await assertFound('bare.example', { redirect_count: '1' })
})

test('the same defaults apply to a part that was never observed', async () => {
  const [crawled, resolved] = [fresh(), fresh()]
  await world.ingest(look(crawled, { web: site({ ssl: 'invalid' }) }), look(resolved, { dns: ok({ A: [], AAAA: [] }) }))
  await assertFound(crawled, { has_website: 'yes', ssl: 'invalid' })
  await assertFound(resolved, { ip: 'noip' })
})

for (const [sentence, web, expected] of [
  ['has_website: a website is hosted under the domain', {}, { has_website: 'yes' }],
  ['has_website: the domain has none', { has_website: false }, {}],
  [
    'redirect_to_https: from http to https',
    { redirect_to_https: true },
    { has_website: 'yes', redirect_to_https: 'yes' },
  ],
  ['redirect_to_www: to www. plus itself', { redirect_to_www: true }, { has_website: 'yes', redirect_to_www: 'yes' }],
  ['redirect_to_domain: to a different domain', { redirects_to: 'other.test' }, { redirect_to_domain: 'yes' }],
  [
    'only_with_www: the bare domain does not answer',
    { only_with_www: true },
    { has_website: 'yes', only_with_www: 'yes' },
  ],
  ['ssl: valid certificate', { ssl: 'valid' }, { has_website: 'yes', ssl: 'valid' }],
  ['ssl: nocert: no certificate presented', { ssl: 'nocert' }, { has_website: 'yes', ssl: 'nocert' }],
  ['ssl: invalid: one presented but it does not validate', { ssl: 'invalid' }, { has_website: 'yes', ssl: 'invalid' }],
] as const) {
  test(sentence, async () => {
    const domain = fresh()
    await world.ingest(look(domain, { web: site(web) }))
    await assertFound(domain, expected)
  })
}

test('redirect_to_domain: a host under the same registrable domain is not a different domain', async () => {
  await world.ingest(look('own.example', { web: site({ redirects_to: 'www.own.example' }) }))
  await assertFound('own.example', { has_website: 'yes' })
})

test('has_website is "no" if the domain redirects elsewhere, and it then has no accounts', async () => {
  const domain = fresh()
  const social_accounts = [{ network: 'x', type: 'x', username: 'a', url: 'https://x.com/a' }]
  await world.ingest(look(domain, { web: site({ redirects_to: 'elsewhere.test', social_accounts }) }))
  await assertFound(domain, { has_website: 'no', redirect_to_domain: 'yes' })
})

test('redirect_count: number of domains redirecting to this domain, as a string, equal to the length of /redirect', async () => {
  const sources = Array.from({ length: 7 }, (_, index) => `source${index}.example`)
  await world.ingest(look('counted.test'), ...sources.map((source) => redirecting(source, 'www.counted.test')))
  await assertFound('counted.test', { redirect_count: '7' })
  await world.ingest(redirecting('source0.example', 'other.test', '2026-11-20T00:00:00Z'))
  await assertFound('counted.test', { redirect_count: '6' })
  assert.equal((await rowsOf(world, 'redirect', { token, query: 'counted.test', limit: 4 })).length, 6)
})

test('reverse_ip_count: the sum over all addresses, so a domain on two of those addresses counts twice', async () => {
  const both = ['198.51.100.1', '2001:db8:1::1']
  await world.ingest(hosted('asked.example', both), hosted('twice.example', both), hosted('once.example', [both[1]!]))
  await assertFound('asked.example', { ip: 'both', reverse_ip_count: '3' })
  assert.equal((await rowsOf(world, 'reverseip', { token, query: 'asked.example', limit: 2 })).length, 3)
})

test('reverse_ip_count counts the domains that currently share an address', async () => {
  const [stays, moves] = [fresh(), fresh()]
  await world.ingest(hosted(stays, ['198.51.100.2']), hosted(moves, ['198.51.100.2']))
  await assertFound(stays, { ip: 'v4only', reverse_ip_count: '1' })
  await world.ingest(hosted(moves, ['198.51.100.3'], '2026-11-20T00:00:00Z'))
  await assertFound(stays, { ip: 'v4only', reverse_ip_count: '0' })
})

test('social_networks each once, bytewise; social_accounts in page order, each url once, several per network', async () => {
  const domain = fresh()
  const account = (network: string, type: string, username: string) => ({
    network,
    type,
    username,
    url: `https://${network}.com/${username}`,
  })
  const page = [
    account('x', 'x', 'b'),
    account('linkedin', 'linkedin_company', 'firm'),
    account('x', 'x', 'a'),
    account('facebook', 'a_new_variant', 'page'),
  ]
  await world.ingest(look(domain, { web: site({ social_accounts: [...page, page[0]] }) }))
  await assertFound(domain, {
    has_website: 'yes',
    social_networks: ['facebook', 'linkedin', 'x'],
    social_accounts: page,
  })
})

test('404 no_data, the error object nested inside result', async () => {
  assertRefused(await ask('never-heard-of.example'), 'lookup', 'no_data')
})

test('an unknown suffix is accepted and gives 404 no_data', async () => {
  assertRefused(await ask('a.suffix-that-is-none'), 'lookup', 'no_data')
})

test('a forgotten domain is answered like an unknown one', async () => {
  const domain = fresh()
  await world.ingest(look(domain, { web: site() }))
  await world.store.observations.forget(domain as never)
  assertRefused(await ask(domain), 'lookup', 'no_data')
})

for (const [what, query] of [
  ['no query', undefined],
  ['null', null],
  ['an empty query', ''],
  ['white space', '  \t'],
] as const) {
  test(`400 query_missing: ${what}`, async () => {
    assertRefused(await ask(query), 'lookup', 'query_missing')
  })
}

for (const query of ['nodot', '192.0.2.1', ['a.example'], { a: 1 }, true, 42]) {
  test(`400 domain_format: ${JSON.stringify(query)}`, async () => {
    assertRefused(await ask(query), 'lookup', 'domain_format')
  })
}

test('Observed-At is the time of the newest observation of DNS and of the web', async () => {
  const [dns, web, both, none] = [fresh(), fresh(), fresh(), fresh()]
  const A = ok({ A: ['203.0.113.1'] })
  await world.ingest(look(dns, { dns: A }), look(web, { web: site() }), look(none))
  await world.ingest(look(both, { dns: A, web: site() }, '2026-11-18T00:00:00Z'))
  await world.ingest(look(both, { dns: ok({ MX: [] }) }, '2026-11-19T23:59:59Z'))
  const header = async (query: string) => (await ask(query)).headers.get('Observed-At')
  assert.equal(await header(dns), 'dns="2026-11-19T00:00:00Z"')
  assert.equal(await header(web), 'web="2026-11-19T00:00:00Z"')
  assert.equal(await header(both), 'dns="2026-11-19T23:59:59Z", web="2026-11-18T00:00:00Z"')
  assert.equal(await header(none), null)
})
