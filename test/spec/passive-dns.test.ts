/** /pdns/query/QUERY: lines of the Common Output Format, with the checks and the charge of the endpoints. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseInstant } from '../../src/values/time.ts'
import { hosted, look, NXDOMAIN, ok } from './observations.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const EIGHT = '2026-11-19T08:00:00Z'
const NINE = '2026-11-19T09:00:00Z'
const TEN = '2026-11-19T10:00:00Z'
const at = (text: string) => parseInstant(text)!

const mail = (priority: number, mail_server: string) => ({ priority, mail_server })
const soa = (serial: number) => ({
  primary_nameserver: 'ns.dns.example',
  admin_email: 'host@dns.example',
  serial,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1_209_600,
  minimum_ttl_seconds: 300,
})

before(async () => {
  await world.ingest(
    look('one.example', { dns: ok({ A: ['192.0.2.1', '192.0.2.2'], TXT: [['a "b"']], NS: [] }) }, NINE),
    look('one.example', { dns: ok({ A: ['192.0.2.2'], MX: [{ priority: 10, mail_server: 'mx.example' }] }) }, TEN),
    look('gone.example', { dns: ok({ A: ['192.0.2.9'] }) }, NINE),
    look('gone.example', { dns: NXDOMAIN }, TEN),
    look('back.example', { dns: ok({ A: ['192.0.2.8'] }) }, EIGHT),
    look('back.example', { dns: NXDOMAIN }, NINE),
    look('back.example', { dns: ok({ A: ['192.0.2.8'] }) }, TEN),
    look('moved.example', { dns: ok({ A: ['192.0.2.8'] }) }, EIGHT),
    look('moved.example', { dns: ok({ A: ['192.0.2.7'] }) }, NINE),
    look('moved.example', { dns: ok({ A: ['192.0.2.8'] }) }, TEN),
    hosted('two.example', ['192.0.2.2', '2001:db8::1'], NINE),
    hosted('two.example', ['192.0.2.2', '2001:db8::1'], TEN),
    look('mx.example', { dns: ok({ A: ['203.0.113.5'] }) }, TEN),
    look('self.example', { dns: ok({ MX: [mail(10, 'self.example'), mail(20, 'mx.example')] }) }, NINE),
    look('zone.example', { dns: ok({ SOA: [soa(1)] }) }, NINE),
    look('zone.example', { dns: ok({ SOA: [soa(2)] }) }, TEN),
    ...Array.from({ length: 12 }, (_, n) =>
      look(
        'many.example',
        { dns: ok({ A: [`198.51.100.${n}`] }) },
        `2026-11-${n + 1}T00:00:00Z`.replace(/-(\d)T/, '-0$1T'),
      ),
    ),
  )
})

const basic = (password: string, user = 'me') => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const query = async (text: string, authorization = basic(token), method = 'GET') => {
  const response = await fetch(`${world.address}/pdns/query/${text}`, {
    method,
    headers: { Authorization: authorization },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const rows = async (text: string, authorization?: string) => {
  const found = await query(text, authorization)
  assert.equal(found.status, 200, found.text)
  assert.equal(found.headers.get('content-type'), 'application/x-ndjson')
  const lines = found.text.split('\n')
  assert.equal(lines.pop(), '')
  return lines.map((line) => JSON.parse(line))
}
const row = (rrname: string, rrtype: string, rdata: string, first: string, last: string | number) => ({
  rrname,
  rrtype,
  rdata,
  time_first: at(first),
  time_last: typeof last === 'string' ? at(last) : last,
})

test('a name has a line per record and time, with the last observation of its type', async () => {
  assert.deepEqual(await rows('One.Example.'), [
    row('one.example', 'A', '192.0.2.2', NINE, TEN),
    row('one.example', 'A', '192.0.2.1', NINE, NINE),
    row('one.example', 'MX', '10 mx.example', TEN, TEN),
    row('one.example', 'TXT', '"a \\"b\\""', NINE, NINE),
  ])
})

test('the records of a name that is gone were last seen when it was there', async () => {
  assert.deepEqual(await rows('gone.example'), [row('gone.example', 'A', '192.0.2.9', NINE, NINE)])
})

test('a name that was gone in between has a line for each time', async () => {
  assert.deepEqual(await rows('back.example'), [
    row('back.example', 'A', '192.0.2.8', TEN, TEN),
    row('back.example', 'A', '192.0.2.8', EIGHT, EIGHT),
  ])
})

test('a domain that left an address and came back has a line for each time there', async () => {
  assert.deepEqual(await rows('192.0.2.8'), [
    row('back.example', 'A', '192.0.2.8', EIGHT, EIGHT),
    row('back.example', 'A', '192.0.2.8', TEN, TEN),
    row('moved.example', 'A', '192.0.2.8', EIGHT, EIGHT),
    row('moved.example', 'A', '192.0.2.8', TEN, TEN),
  ])
})

test('a name has the records of others that name it as a host after its own', async () => {
  assert.deepEqual(await rows('mx.example'), [
    row('mx.example', 'A', '203.0.113.5', TEN, TEN),
    row('one.example', 'MX', '10 mx.example', TEN, TEN),
    row('self.example', 'MX', '20 mx.example', NINE, NINE),
  ])
})

test('an SOA is found by both of its names, and shown as it was at the end of that time', async () => {
  const text = 'ns.dns.example host.dns.example 2 7200 3600 1209600 300'
  assert.deepEqual(await rows('ns.dns.example'), [row('zone.example', 'SOA', text, NINE, TEN)])
  assert.deepEqual(await rows('host.dns.example'), [row('zone.example', 'SOA', text, NINE, TEN)])
})

test('a name that names itself has that record once', async () => {
  assert.deepEqual(await rows('self.example'), [
    row('self.example', 'MX', '10 self.example', NINE, NINE),
    row('self.example', 'MX', '20 mx.example', NINE, NINE),
  ])
})

test('the pages after the first have only what other names say', async () => {
  const first = await query('mx.example?limit=1')
  assert.match(first.text, /^\{"rrname":"mx\.example".*\n\{"rrname":"one\.example".*\n$/)
  const second = await query(`mx.example?limit=1&next=${first.headers.get('next-cursor')}`)
  assert.match(second.text, /^\{"rrname":"self\.example".*\n$/)
  assert.equal(second.headers.get('next-cursor'), null)
  const mismatch = await query(`one.example?next=${first.headers.get('next-cursor')}`)
  assert.deepEqual([mismatch.status, JSON.parse(mismatch.text).error], [400, 'cursor_mismatch'])
})

test('an unknown name has no lines, as it has no history', async () => {
  assert.deepEqual(await rows('unknown.example'), [])
})

test('an address has a line for each domain that was ever on it', async () => {
  assert.deepEqual(await rows('192.0.2.2'), [
    row('one.example', 'A', '192.0.2.2', NINE, TEN),
    row('two.example', 'A', '192.0.2.2', NINE, TEN),
  ])
  assert.deepEqual(await rows('2001:DB8:0::1'), [row('two.example', 'AAAA', '2001:db8::1', NINE, TEN)])
  assert.deepEqual(await rows('192.0.2.1'), [row('one.example', 'A', '192.0.2.1', NINE, NINE)])
  const missing = await query('192.0.2.99')
  assert.deepEqual([missing.status, JSON.parse(missing.text).error], [404, 'no_data'])
})

test('a network has a line for each domain that was ever on one of its addresses', async () => {
  const all = await rows('192.0.2.2,31')
  assert.deepEqual(all, await rows('192.0.2.2'))
  assert.deepEqual(await rows('192.0.2.0%2F31'), [row('one.example', 'A', '192.0.2.1', NINE, NINE)])
  assert.deepEqual(await rows('2001:db8::,32'), await rows('2001:db8::1'))
  const missing = await query('192.0.2.96,28')
  assert.match(missing.text, /on 192\.0\.2\.96 to 192\.0\.2\.111\./)
})

test('an address has pages', async () => {
  const first = await query('192.0.2.2?limit=1')
  const cursor = first.headers.get('next-cursor')!
  assert.equal(first.text.split('\n').length, 2)
  const second = await query(`192.0.2.2?limit=1&next=${cursor}`)
  assert.match(second.text, /two\.example/)
  assert.equal(second.headers.get('next-cursor'), null)
})

test('the plan limits the states of a name, and the response names the types with older ones', async () => {
  const { token: basicToken } = await world.account({ plan: 'basic' })
  const limited = await query('many.example', basic(basicToken))
  assert.equal(limited.text.trimEnd().split('\n').length, 10)
  assert.equal(limited.headers.get('truncated-types'), 'A')
  assert.equal((await rows('many.example')).length, 12)
  assert.equal((await query('many.example')).headers.get('truncated-types'), null)
})

test('a free plan may ask for addresses, and not for names', async () => {
  const { token: free } = await world.account()
  const refused = await query('one.example', basic(free))
  assert.deepEqual([refused.status, JSON.parse(refused.text).error], [403, 'plan_required'])
  assert.equal((await rows('192.0.2.2', basic(free))).length, 2)
})

test('the token is the password with any user, or a bearer token', async () => {
  for (const authorization of [basic(token, ''), basic(token, 'a%20b'), `Bearer ${token}`])
    assert.equal((await query('192.0.2.2', authorization)).status, 200)
  for (const [authorization, error] of [
    [basic(''), 'token_missing'],
    ['Basic !!', 'token_missing'],
    [`Basic ${Buffer.from('no-colon').toString('base64')}`, 'token_missing'],
    [basic('wrong'), 'token_invalid'],
    ['Bearer wrong', 'token_invalid'],
  ] as const) {
    const { status, headers, text } = await query('one.example', authorization)
    assert.deepEqual([status, JSON.parse(text).error], [401, error])
    assert.equal(headers.get('www-authenticate'), 'Basic realm="domaindex", Bearer')
  }
})

test('each call costs one unit, and an error of the query none', async () => {
  const remaining = async (text: string) => Number(/r=(\d+)/.exec((await query(text)).headers.get('ratelimit')!)?.[1])
  const start = await remaining('one.example')
  assert.equal(await remaining('unknown.example'), start - 1)
  assert.equal(await remaining('192.0.2.99'), start - 2)
  assert.equal(await remaining('nodot'), start - 2)
  const bad = await query('nodot')
  assert.deepEqual([bad.status, JSON.parse(bad.text).error], [400, 'domain_format'])
  const network = await query('192.0.2.0,33')
  assert.deepEqual([network.status, JSON.parse(network.text).error], [400, 'domain_format'])
})

test('HEAD has the headers of GET', async () => {
  const head = await query('one.example', basic(token), 'HEAD')
  const get = await query('one.example')
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal(head.headers.get('content-length'), get.headers.get('content-length'))
})
