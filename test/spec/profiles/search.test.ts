/** The search: which names are found, in which order, with which filters, and what is refused. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { addNames } from '../../../src/registrations/add-names.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import type { Day } from '../../../src/values/time.ts'
import { look, ok, site } from '../observations.ts'
import { makeWorld } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const on = (day: string) => `2026-${day}T10:00:00Z`

before(async () => {
  await world.ingest(
    look(
      'bank.com',
      {
        dns: ok({ A: ['192.0.2.1'], NS: ['a.ns.example'], MX: [{ priority: 10, mail_server: 'mx.bank.com' }] }),
        web: site(),
      },
      on('01-10'),
    ),
    look(
      'bank.com',
      { dns: ok({ A: ['192.0.2.2'], NS: ['a.ns.example'], MX: [{ priority: 10, mail_server: 'mx.bank.com' }] }) },
      on('02-10'),
    ),
    look(
      'bank-login.net',
      {
        dns: ok({ A: ['198.51.100.1'], NS: ['ns.example'] }),
        web: site({ has_website: false, redirects_to: 'bank.com' }),
      },
      on('03-10'),
    ),
    look('mybank.co.uk', { dns: ok({ A: ['192.0.2.9'] }) }, on('04-10')),
    look('x.bank', { dns: ok({ AAAA: ['2001:db8::1'] }) }, on('04-11')),
    look('gone-bank.org', { dns: ok({ A: ['192.0.2.1'] }) }, on('04-12')),
    look('other.com', { dns: ok({ A: ['192.0.2.1'] }) }, on('04-12')),
  )
  await world.store.observations.forget(parseName('gone-bank.org')!)
  const names = (async function* () {
    yield [parseName('newbank.shop')!, parseName('mybank.co.uk')!]
  })()
  const context = { store: world.store, signal: new AbortController().signal, onAdded: () => {} }
  await addNames(names, { insertsUnknown: true, makesDue: true, registered: '2026-04-20' as Day }, context)
})

type Page = { meta: { next: string | null; query: string }; result: { name: string }[] }

const get = (query: Record<string, string>, headers = {}) =>
  world.send(`/search?${new URLSearchParams(query)}`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/json', ...headers },
  })
const pageOf = async (query: Record<string, string>) => (await get(query)).body as Page
const namesOf = async (query: Record<string, string>) => (await pageOf(query)).result.map(({ name }) => name)
const refusalOf = async (query: Record<string, string>) => {
  const { status, body } = await get(query)
  const { error, msg } = body as { error: string; msg: string }
  return [status, error, msg] as const
}

test('names that begin with the text come first, and names that no probe has observed are found', async () => {
  const { meta, result } = await pageOf({ q: ' Bank ' })
  assert.equal(meta.query, 'Bank')
  assert.deepEqual(result[0], {
    ...{ name: 'bank.com', first_seen: on('01-10'), registered: null, observed: on('02-10'), ip: 'v4only' },
    ...{ has_website: 'yes', redirects_to: null },
  })
  assert.deepEqual(
    result.map(({ name }) => name),
    ['bank.com', 'bank-login.net', 'mybank.co.uk', 'newbank.shop', 'x.bank'],
  )
  assert.deepEqual(result[3], {
    ...{ name: 'newbank.shop', first_seen: null, registered: '2026-04-20', observed: null, ip: null },
    ...{ has_website: null, redirects_to: null },
  })
  assert.equal((result[1] as { redirects_to?: string }).redirects_to, 'bank.com')
})

test('patterns, suffixes and regular expressions find what they match', async () => {
  assert.deepEqual(await namesOf({ q: 'bank*' }), ['bank.com', 'bank-login.net'])
  assert.deepEqual(await namesOf({ q: '*.bank' }), ['x.bank'])
  assert.deepEqual(await namesOf({ q: '*bank.c*' }), ['bank.com', 'mybank.co.uk'])
  assert.deepEqual(await namesOf({ q: '/(my|new)bank/' }), ['mybank.co.uk', 'newbank.shop'])
})

test('filters select by what is known of the names', async () => {
  assert.deepEqual(await namesOf({ q: 'bank', tld: 'co.uk' }), ['mybank.co.uk'])
  assert.deepEqual(await namesOf({ q: 'bank', has_website: 'yes' }), ['bank.com'])
  assert.deepEqual(await namesOf({ q: 'bank', has_website: 'no' }), ['bank-login.net'])
  assert.deepEqual(await namesOf({ q: 'bank', ip: '192.0.2.0/24' }), ['bank.com', 'mybank.co.uk'])
  assert.deepEqual(await namesOf({ q: 'bank', ip: '192.0.2.2' }), ['bank.com'])
  assert.deepEqual(await namesOf({ q: 'bank', ns: 'ns.example' }), ['bank.com', 'bank-login.net'])
  assert.deepEqual(await namesOf({ q: 'bank', ns: 'a.ns.example' }), ['bank.com'])
  assert.deepEqual(await namesOf({ q: 'bank', mx: 'bank.com' }), ['bank.com'])
  assert.deepEqual(await namesOf({ q: 'bank', first_seen_from: '2026-03-10', first_seen_to: '2026-04-10' }), [
    'bank-login.net',
    'mybank.co.uk',
  ])
  assert.deepEqual(await namesOf({ q: 'bank', registered_from: '2026-04-20' }), ['mybank.co.uk', 'newbank.shop'])
  assert.equal((await refusalOf({ q: 'bank', registered_to: '2026-04-19' }))[1], 'no_data')
  assert.deepEqual(await namesOf({ q: 'newbank', registered_to: '2026-04-20' }), ['newbank.shop'])
})

test('a filter that few names pass gives full pages, and the next page begins after the last row', async () => {
  const first = await pageOf({ q: 'bank', limit: '1', registered_from: '2026-04-20' })
  assert.deepEqual(
    first.result.map(({ name }) => name),
    ['mybank.co.uk'],
  )
  const second = await pageOf({ q: 'bank', limit: '1', registered_from: '2026-04-20', next: first.meta.next! })
  assert.deepEqual(
    second.result.map(({ name }) => name),
    ['newbank.shop'],
  )
})

test('pages follow each other, and a cursor belongs to its search and its filters', async () => {
  const found: string[] = []
  let next = ''
  do {
    const page = await pageOf({ q: 'bank', limit: '2', ...(next && { next }) })
    assert.ok(page.result.length <= 2)
    found.push(...page.result.map(({ name }) => name))
    next = page.meta.next ?? ''
  } while (next !== '')
  assert.deepEqual(found, await namesOf({ q: 'bank' }))
  const { meta } = await pageOf({ q: 'bank', limit: '2' })
  assert.equal((await refusalOf({ q: 'bank', tld: 'com', next: meta.next! }))[1], 'cursor_mismatch')
})

async function usedCalls(): Promise<number> {
  const { body } = await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })
  return (body as { used: number }).used
}

test('what cannot be searched is refused with what to do, and costs nothing', async () => {
  const used = await usedCalls()
  assert.match((await refusalOf({}))[2], /send the text as "q"/)
  for (const [query, message] of [
    [{ q: '*ba*' }, /no 3 fixed characters/],
    [{ q: '/bank(/' }, /a group has no end/],
    [{ q: 'bücher' }, /A-label/],
    [{ q: 'bank', ip: 'x' }, /"ip" must be an address or a network/],
    [{ q: 'bank', has_website: 'maybe' }, /yes or no/],
  ] as const) {
    const [status, error, msg] = await refusalOf(query)
    assert.deepEqual([status, error], [400, 'search_invalid'])
    assert.match(msg, message)
  }
  assert.equal((await refusalOf({ q: 'bank', first_seen_from: '2026-13-01' }))[1], 'date_format')
  assert.equal((await refusalOf({ q: 'bank', registered_from: '01-04-2026' }))[1], 'date_format')
  const wrong = { q: 'bank', registered_from: '2026-04-02', registered_to: '2026-04-01' }
  assert.equal((await refusalOf(wrong))[1], 'date_format')
  assert.equal(await usedCalls(), used)
  assert.equal((await refusalOf({ q: 'nobody-has-this' }))[1], 'no_data')
  assert.equal(await usedCalls(), used + 1)
})

test('rows come as CSV too', async () => {
  const response = await fetch(`${world.address}/search?q=*.bank`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
  })
  assert.equal(
    await response.text(),
    `name,first_seen,registered,observed,ip,has_website,redirects_to\nx.bank,${on('04-11')},,${on('04-11')},v6only,,\n`,
  )
})
