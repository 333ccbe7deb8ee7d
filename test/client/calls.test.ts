/** The calls of the client library against a real server. Today is 2026-11-20. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DomaindexClient, DomaindexError, RECORD_TYPES } from '../../client/src/client.ts'
import { RECORD_TYPES as STORED_TYPES } from '../../src/values/records/dns-record.ts'
import { listOf, publish } from '../spec/files/files.ts'
import { look, ok, site } from '../spec/observations.ts'
import { makeWorld, type Parameters } from '../spec/world.ts'
import { collect } from './answers.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'], addons: ['export'] })
const client = new DomaindexClient({ server: world.address, token })

const SOURCES = Array.from({ length: 23 }, (_, index) => `source${String(index).padStart(2, '0')}.example`)
const DAYS = Array.from({ length: 12 }, (_, index) => `2026-11-${String(index + 1).padStart(2, '0')}T00:00:00Z`)
await world.ingest(
  look('target.example', { dns: ok({ A: ['192.0.2.1'] }), web: site() }),
  ...SOURCES.map((name) =>
    look(name, { dns: ok({ A: ['192.0.2.1'] }), web: site({ has_website: false, redirects_to: 'target.example' }) }),
  ),
)
for (const [index, day] of DAYS.entries())
  await world.ingest(look('moving.example', { dns: ok({ A: [`198.51.100.${index + 1}`], TXT: [['v=spf1']] }) }, day))
await publish(world, '2026-11-18.txt.gz', listOf('new.example'))
await publish(world, '2026-11-19.txt.gz', listOf('newer.example'))
await publish(world, 'domains-2026-11-20.txt.gz', listOf('target.example'), { rows: 1 })

/** Asserts that a call of the client returns what a plain request returns. */
async function assertSame(called: Promise<unknown>, endpoint: string, parameters: Parameters): Promise<void> {
  assert.deepEqual(await called, (await world.ask(endpoint, { token, ...parameters })).body)
}

test('each endpoint has a method that returns the body of the response', async () => {
  await assertSame(client.lookup('Target.example.'), 'lookup', { query: 'target.example' })
  await assertSame(client.redirect('target.example', { limit: 30 }), 'redirect', { query: 'target.example', limit: 30 })
  await assertSame(client.reverseip('192.0.2.1', { limit: 30 }), 'reverseip', { query: '192.0.2.1', limit: 30 })
  const history = { query: 'moving.example', type: 'A', limit: 20 } as const
  await assertSame(client.dnshistory('moving.example', { type: 'A', limit: 20, next: null }), 'dnshistory', history)
  await assertSame(client.snapshot(), 'snapshot', {})
})

test('the addresses with and without v1.0/ name the same server', async () => {
  for (const end of ['', '/', '/v1.0', '/v1.0/', '//v1.0//']) {
    const { meta } = await new DomaindexClient({ server: `${world.address}${end}`, token }).lookup('target.example')
    assert.equal(meta.query, 'target.example')
  }
})

test('the profiles, the quota and the files are available', async () => {
  const { name, address_count } = await client.domain('target.example')
  assert.deepEqual({ name, address_count }, { name: 'target.example', address_count: 1 })
  assert.equal((await client.ip('192.0.2.1')).count, 24)
  assert.equal((await client.quota()).limit, 250_000)
  const names = (await client.files()).files.map((file) => file.name)
  assert.deepEqual(names, ['2026-11-18.txt.gz', '2026-11-19.txt.gz', 'domains-2026-11-20.txt.gz'])
  assert.deepEqual(
    (await collect(client.fileEntries({ limit: 1 }))).map((file) => file.name),
    names,
  )
})

test('the iterators give the rows of every page', async () => {
  const sources = (await collect(client.redirectRows('target.example', { limit: 5 }))).map(({ target }) => target)
  assert.deepEqual(sources, SOURCES)
  const times = await collect(client.redirecthistoryRows('target.example', { limit: 5, from: '2026-01-01' }))
  assert.deepEqual(
    times.map(({ target }) => target),
    SOURCES,
  )
  const [state] = await collect(client.webhistoryStates('source00.example', { limit: 1 }))
  assert.equal(state?.redirects_to, 'target.example')
  const neighbours = (await collect(client.reverseipRows('target.example', { limit: 4 }))).map(({ target }) => target)
  assert.deepEqual(neighbours, SOURCES)
  const states = await collect(client.dnshistoryStates('moving.example', { type: 'A', limit: 5 }))
  assert.deepEqual(
    states.map(({ records }) => records[0]!.ipv4_address),
    DAYS.map((_, index) => `198.51.100.${12 - index}`),
  )
})

test('an iterator without rows is complete after one page', async () => {
  const rows = client.redirectRows('moving.example')
  assert.deepEqual(await collect(rows), [])
  assert.equal(rows.isComplete, true)
})

test('given any page size and a stop after any row, the cursor continues without a lost row', async () => {
  for (const [limit, stop] of [
    [5, 5],
    [5, 7],
    [5, 23],
    [1, 1],
    [23, 4],
    [10, 20],
  ] as const) {
    const rows = client.redirectRows('target.example', { limit })
    const first: string[] = []
    for await (const { target } of rows) if (first.push(target) === stop) break
    const rest = (await collect(client.redirectRows('target.example', { limit, next: rows.cursor }))).map(
      ({ target }) => target,
    )
    if (stop === 23) assert.equal(rows.isComplete, true)
    else assert.deepEqual([...first.slice(0, Math.floor(stop / limit) * limit), ...rest], SOURCES)
    assert.equal(rows.cursor === null, stop < limit || stop === 23)
  }
})

test('an error has the fields of the body, from inside `result` and from the top level', async () => {
  const { message, ...nested } = await failure(client.lookup('unknown.example'))
  assert.match(message, /unknown\.example/)
  const { requestId, name, ...fields } = nested
  assert.match(requestId!, /\S/)
  assert.equal(name, 'DomaindexError')
  assert.deepEqual(fields, { status: 404, rcode: 404, error: 'no_data', limit: null, used: null, retryAfter: null })
  assert.equal((await failure(client.dnshistory('nodot'))).error, 'domain_format')
  const stranger = new DomaindexClient({ server: world.address, token: 'unknown' })
  assert.equal((await failure(stranger.lookup('target.example'))).error, 'token_invalid')
  assert.equal((await failure(stranger.quota())).error, 'token_invalid')
  assert.equal((await failure(new DomaindexClient({ server: world.address }).quota())).error, 'token_missing')
})

test('given a used-up budget, the error names the limit, the used calls and the seconds to wait', async () => {
  const poor = await world.account({ plan: 'free' })
  const caller = new DomaindexClient({ server: world.address, token: poor.token })
  for (let call = 0; call < 100; call++) await caller.lookup('target.example')
  const { error, rcode, limit, used, retryAfter } = await failure(caller.lookup('target.example'))
  assert.deepEqual({ error, rcode, limit, used }, { error: 'rate_limited', rcode: 429, limit: 100, used: 100 })
  assert.equal(retryAfter, 43_200) // the clock of the world stands at noon
})

test('the record types are those of the service', () => {
  assert.deepEqual([...RECORD_TYPES].toSorted(), [...STORED_TYPES].toSorted())
})

async function failure(call: Promise<unknown>): Promise<DomaindexError> {
  const error = await call.then(
    () => assert.fail('it succeeded'),
    (thrown) => thrown,
  )
  assert.ok(error instanceof DomaindexError, String(error))
  return error
}
