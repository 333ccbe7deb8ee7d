/** GET /domain/NAME/web and GET /domain/NAME/redirects: a website over time, and what redirected to a domain. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { look, site } from '../observations.ts'
import { makeWorld } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const on = (day: string) => `2026-${day}T10:00:00Z`
const to = (host: string) => ({ web: site({ has_website: false, redirects_to: host }) })

before(async () => {
  await world.ingest(
    look('shop.example', { web: site({}) }, on('01-10')),
    look('shop.example', { web: site({}) }, on('02-10')),
    look('shop.example', to('www.new.example'), on('03-10')),
    look('shop.example', to('www.new.example'), on('04-10')),
    look('shop.example', to('other.example'), on('05-10')),
    look('old.example', to('new.example'), on('02-01')),
  )
})

type State = { first_seen: string; last_seen: string; has_website: string; redirects_to: string | null }
type Row = { target: string; redirect_host: string; first_seen: string; last_seen: string }
type Page<Item> = { meta: { next: string | null; total: number; requested: string | null }; result: Item[] }

const get = (path: string, key = token) =>
  world.send(path, { headers: { Authorization: `Bearer ${key}`, Accept: 'application/json' } })
const pageOf = async <Item>(path: string) => (await get(path)).body as Page<Item>
const errorOf = async (path: string, key = token) => {
  const { status, body } = await get(path, key)
  return [status, (body as { error: string }).error]
}
const redirectsTo = async (path: string) =>
  (await pageOf<Row>(path)).result.map(({ target, redirect_host, first_seen, last_seen }) =>
    [target, redirect_host, first_seen.slice(5, 10), last_seen.slice(5, 10)].join(' '),
  )

test('the states of a website are newest first, each with its first and its last time', async () => {
  const { status, body } = await get('/domain/shop.example/web')
  const { meta, result } = body as Page<State>
  assert.deepEqual([status, meta.total, meta.next, meta.requested], [200, 3, null, null])
  assert.deepEqual(result[1], {
    ...{ first_seen: on('03-10'), last_seen: on('04-10'), has_website: 'no', redirect_to_https: 'no' },
    ...{ redirect_to_www: 'no', redirect_to_domain: 'yes', only_with_www: 'no', ssl: result[1]!['ssl' as never] },
    ...{ redirects_to: 'new.example', redirect_host: 'www.new.example' },
  })
  assert.deepEqual(
    result.map(({ first_seen, last_seen, redirects_to }) => [first_seen, last_seen, redirects_to]),
    [
      [on('05-10'), on('05-10'), 'other.example'],
      [on('03-10'), on('04-10'), 'new.example'],
      [on('01-10'), on('02-10'), null],
    ],
  )
})

test('pages of states follow each other, and their cursor belongs to the domain', async () => {
  const first = await pageOf<State>('/domain/shop.example/web?limit=2')
  const second = await pageOf<State>(`/domain/shop.example/web?limit=2&next=${first.meta.next}`)
  assert.deepEqual([first.result.length, second.result.length, second.meta.next], [2, 1, null])
  assert.equal(second.result[0]!.first_seen, on('01-10'))
  assert.deepEqual(await errorOf(`/domain/old.example/web?next=${first.meta.next}`), [400, 'cursor_mismatch'])
})

test('a www host of which nothing is on record is read as its registrable domain', async () => {
  const { meta, result } = await pageOf<State>('/domain/www.shop.example/web')
  assert.deepEqual([meta.requested, result.length], ['www.shop.example', 3])
  assert.equal((await pageOf<Row>('/domain/www.other.example/redirects')).meta.requested, 'www.other.example')
})

test('the redirects to a domain are there with their times, also those of the past and to hosts below it', async () => {
  assert.deepEqual(await redirectsTo('/domain/new.example/redirects'), [
    'old.example new.example 02-01 02-01',
    'shop.example www.new.example 03-10 04-10',
  ])
  assert.deepEqual(await redirectsTo('/domain/new.example/redirects?from=2026-04-01'), [
    'shop.example www.new.example 03-10 04-10',
  ])
  assert.deepEqual(await redirectsTo('/domain/new.example/redirects?to=2026-03-01'), [
    'old.example new.example 02-01 02-01',
  ])
})

test('at a moment, the redirects are those that a store which ended then would show', async () => {
  const at = (day: string) => redirectsTo(`/domain/new.example/redirects?at=2026-${day}`)
  assert.deepEqual(await at('02-20'), ['old.example new.example 02-01 02-01'])
  assert.deepEqual(await at('05-01'), [
    'old.example new.example 02-01 02-01',
    'shop.example www.new.example 03-10 04-10',
  ])
  assert.deepEqual(await at('05-20'), ['old.example new.example 02-01 02-01'])
})

test('rows are also sent as CSV', async () => {
  const response = await fetch(`${world.address}/domain/new.example/redirects`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
  })
  assert.equal(response.status, 200)
  assert.match(await response.text(), /^target,redirect_host,first_seen,last_seen\nold\.example,new\.example,/)
})

test('errors name what is wrong, and the web of a domain needs the plan of the DNS history', async () => {
  const { token: free } = await world.account({ plan: 'free' })
  assert.deepEqual(await errorOf('/domain/shop.example/web', free), [403, 'plan_required'])
  assert.deepEqual(await errorOf('/domain/unseen.example/web'), [404, 'no_data'])
  assert.deepEqual(await errorOf('/domain/unseen.example/redirects'), [404, 'no_data'])
  assert.deepEqual(await errorOf('/domain/-/web'), [400, 'domain_format'])
  assert.deepEqual(await errorOf('/domain/new.example/redirects?at=2026-01-01&to=2026-02-01'), [400, 'date_format'])
})
