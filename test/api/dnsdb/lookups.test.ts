/** Lookups and summaries of the DNSDB API: what they find, and how the parameters limit it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { look, ok } from '../../spec/observations.ts'
import { NOON } from '../../spec/world.ts'
import { ask, at, dnsdbWorld, EIGHT, NINE, type Row, stream, TEN } from './world.ts'

const world = await dnsdbWorld()
const { token } = await world.account({ plan: 'premium' })

const lookup = async (path: string): Promise<Row[]> => {
  const { rows, end } = await stream(world, `lookup/${path}`, token)
  assert.deepEqual(end, { cond: 'succeeded' }, path)
  return rows
}
/** A row without its bailiwick, which only sets have. */
const row = (rrname: string, rrtype: string, rdata: string[], first: string, last: string, count: number): Row => ({
  count,
  time_first: at(first),
  time_last: at(last),
  rrname,
  rrtype,
  rdata,
})
const set = (...values: Parameters<typeof row>): Row => ({ ...row(...values), bailiwick: 'shop.example.' })
const names = (rows: readonly Row[]) => rows.map(({ rrname, rdata }) => `${rrname} ${(rdata as string[]).join()}`)
const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')

const SOA_1 = 'ns1.dns.example. host\\.master.dns.example. 1 7200 3600 1209600 300'
const SOA_2 = 'ns1.dns.example. host\\.master.dns.example. 2 7200 3600 1209600 300'

test('a name has one row for each set of records, from its first to its last observation', async () => {
  assert.deepEqual(await lookup('rrset/name/shop.example'), [
    set('shop.example.', 'A', ['192.0.2.1', '192.0.2.7'], EIGHT, NINE, 2),
    set('shop.example.', 'MX', ['10 mx.mail.example.'], NINE, NINE, 1),
    set('shop.example.', 'TXT', ['"a \\"b\\"" "c"', '"v=spf1 mx -all"'], NINE, NINE, 1),
    set('shop.example.', 'NS', ['ns1.dns.example.', 'ns2.dns.example.'], NINE, NINE, 1),
    set('shop.example.', 'SOA', [SOA_2], NINE, NINE, 1),
    set('shop.example.', 'SOA', [SOA_1], EIGHT, EIGHT, 1),
  ])
})

test('a set that came back is one row, or one for each time without aggr', async () => {
  const moved = set('www.shop.example.', 'A', ['192.0.2.2'], NINE, NINE, 1)
  const aggregated = [set('www.shop.example.', 'A', ['192.0.2.1'], EIGHT, TEN, 2), moved]
  for (const query of ['', '?aggr=t', '?aggr=true', '?aggr=1'])
    assert.deepEqual(await lookup(`rrset/name/WWW.Shop.Example.${query}`), aggregated)
  for (const query of ['?aggr=f', '?aggr=False', '?aggr=0'])
    assert.deepEqual(await lookup(`rrset/name/www.shop.example/A${query}`), [
      set('www.shop.example.', 'A', ['192.0.2.1'], TEN, TEN, 1),
      moved,
      set('www.shop.example.', 'A', ['192.0.2.1'], EIGHT, EIGHT, 1),
    ])
})

test('a name that vanished has the records that it had', async () => {
  assert.deepEqual(await lookup('rrset/name/gone.example'), [
    { ...row('gone.example.', 'A', ['192.0.2.7'], EIGHT, EIGHT, 1), bailiwick: 'gone.example.' },
  ])
})

test('the type selects; one that is not observed has no records', async () => {
  assert.deepEqual(names(await lookup('rrset/name/shop.example/mx')), ['shop.example. 10 mx.mail.example.'])
  assert.equal((await lookup('rrset/name/shop.example/ANY')).length, 6)
  for (const type of ['CAA', 'ANY-DNSSEC', 'TYPE257'])
    assert.deepEqual(await lookup(`rrset/name/shop.example/${type}`), [])
})

test('a bailiwick selects the names in it', async () => {
  for (const bailiwick of ['shop.example', 'example.'])
    assert.equal((await lookup(`rrset/name/www.shop.example/A/${bailiwick}`)).length, 2)
  assert.deepEqual(await lookup('rrset/name/www.shop.example/ANY/other.example'), [])
  assert.deepEqual(await lookup('rrset/name/*.example/ANY/hop.example'), [])
  assert.equal((await lookup('rrset/name/*.example/A/shop.example')).length, 3)
})

test('a name, a wildcard or a bailiwick that is too long for DNS has no records', async () => {
  const label = 'a'.repeat(64)
  const long = `${'a.'.repeat(130)}example`
  const paths = ['NAME', '*.NAME', 'NAME.*', '*.example/ANY/NAME'].map((path) => `rrset/name/${path}`)
  for (const name of [`${label}.example`, long])
    for (const path of [...paths, 'rdata/name/NAME', 'rdata/name/*.NAME'])
      assert.deepEqual(await lookup(path.replace('NAME', name)), [], path)
})

test('wildcards find the names below a name, and those that start with labels', async () => {
  assert.deepEqual(names(await lookup('rrset/name/%2A.shop.example')).sort(), [
    'www.shop.example. 192.0.2.1',
    'www.shop.example. 192.0.2.2',
  ])
  const found = new Set((await lookup('rrset/name/*.example')).map(({ rrname }) => rrname))
  const six = ['alias', 'gone', 'other', 'shop', 'six', 'www.shop'].map((name) => `${name}.example.`)
  assert.deepEqual([...found].sort(), six)
  assert.equal((await lookup('rrset/name/shop.*')).length, 6)
  assert.equal((await lookup('rrset/name/www.shop.*/A')).length, 2)
  assert.deepEqual(await lookup('rrset/name/hop.*'), [])
  assert.deepEqual(
    await lookup('rrset/name/shop.example.*'),
    [],
    'the name itself does not begin with its name and a dot',
  )
})

test('a raw name is in wire form', async () => {
  const path = `rrset/raw/${hex('\x03www\x04shop\x07example\x00')}`
  assert.deepEqual(await lookup(path), await lookup('rrset/name/www.shop.example'))
  assert.equal((await lookup(`${path}/AAAA`)).length, 0)
})

test('an address, a network and a range find the owners over all times', async () => {
  const all = [
    row('shop.example.', 'A', ['192.0.2.1'], EIGHT, NINE, 2),
    row('www.shop.example.', 'A', ['192.0.2.1'], EIGHT, TEN, 2),
    row('www.shop.example.', 'A', ['192.0.2.2'], NINE, NINE, 1),
    row('gone.example.', 'A', ['192.0.2.7'], EIGHT, EIGHT, 1),
    row('shop.example.', 'A', ['192.0.2.7'], EIGHT, NINE, 2),
  ]
  assert.deepEqual(await lookup('rdata/ip/192.0.2.1'), all.slice(0, 2))
  assert.deepEqual(await lookup('rdata/ip/192.0.2.0,24'), all)
  assert.deepEqual(await lookup('rdata/ip/192.0.2.99,0/A'), all)
  assert.deepEqual(await lookup('rdata/ip/192.0.2.0,30'), all.slice(0, 3))
  assert.deepEqual(await lookup('rdata/ip/192.0.2.2-192.0.2.7/AAAA'), all.slice(2))
  const six = [row('six.example.', 'AAAA', ['2001:db8::5'], TEN, TEN, 1)]
  for (const address of ['2001%3Adb8::5', '2001:db8::,32', '2001:db8::1-2001:db8::ffff'])
    assert.deepEqual(await lookup(`rdata/ip/${address}`), six)
  assert.deepEqual(await lookup('rdata/ip/198.51.100.1'), [])
})

test('without aggr, an owner has a row for each time on the address', async () => {
  assert.deepEqual(await lookup('rdata/ip/192.0.2.1?aggr=f'), [
    row('shop.example.', 'A', ['192.0.2.1'], EIGHT, NINE, 2),
    row('www.shop.example.', 'A', ['192.0.2.1'], EIGHT, EIGHT, 1),
    row('www.shop.example.', 'A', ['192.0.2.1'], TEN, TEN, 1),
  ])
})

test('a host finds who names it: exactly, below a name, and by its first labels', async () => {
  assert.deepEqual(names(await lookup('rdata/name/mx.mail.example')), [
    'shop.example. 10 mx.mail.example.',
    'other.example. 20 mx.mail.example.',
  ])
  assert.deepEqual(names(await lookup('rdata/name/*.mail.example/MX')).length, 2)
  assert.deepEqual(names(await lookup('rdata/name/www.shop.*')), ['alias.example. www.shop.example.'])
  assert.deepEqual(await lookup('rdata/name/mx.mail.example/NS'), [])
  assert.deepEqual(await lookup('rdata/name/mx.mail.example/A'), [])
  assert.deepEqual(await lookup('rdata/name/mail.example'), [])
})

test('an SOA is shown as the name showed it at the end', async () => {
  const soa = row('shop.example.', 'SOA', [SOA_2], EIGHT, NINE, 2)
  assert.deepEqual(await lookup('rdata/name/ns1.dns.example/SOA'), [soa])
  assert.deepEqual(await lookup('rdata/name/host%5C.master.dns.example'), [soa])
})

test('raw data finds records with exactly these bytes', async () => {
  const primary = hex('\x03ns1\x03dns\x07example\x00')
  const mailbox = hex('\x0bhost.master\x03dns\x07example\x00')
  const numbers = (serial: number) =>
    [serial, 7200, 3600, 1_209_600, 300].map((value) => value.toString(16).padStart(8, '0')).join('')
  for (const [data, found] of [
    ['c0000202', ['www.shop.example. 192.0.2.2']],
    ['20010db8000000000000000000000005', ['six.example. 2001:db8::5']],
    [hex('\x00\x14\x02mx\x04mail\x07example\x00'), ['other.example. 20 mx.mail.example.']],
    [hex('\x0ev=spf1 mx -all'), ['shop.example. "v=spf1 mx -all"']],
    [hex('\x05a "b"\x01c'), ['shop.example. "a \\"b\\"" "c"']],
    [primary, ['shop.example. ns1.dns.example.']],
    [hex('\x03www\x04shop\x07example\x00'), ['alias.example. www.shop.example.']],
    [primary + mailbox + numbers(1), [`shop.example. ${SOA_1}`]],
    [primary + mailbox + numbers(2), [`shop.example. ${SOA_2}`]],
    [primary + mailbox + numbers(3), []],
    ['00', []],
  ] as const)
    assert.deepEqual(names(await lookup(`rdata/raw/${data}`)), found, data)
  assert.deepEqual(await lookup(`rdata/raw/${primary + mailbox + numbers(1)}/SOA`), [
    row('shop.example.', 'SOA', [SOA_1], EIGHT, EIGHT, 1),
  ])
  assert.deepEqual(await lookup(`rdata/raw/${primary}/CNAME`), [])
})

test('times fence the rows, absolutely and relative to now, without the bounds themselves', async () => {
  const count = async (query: string) => (await lookup(`rdata/ip/192.0.2.0,24?${query}`)).length
  assert.equal(await count(`time_first_after=${at(EIGHT)}`), 1)
  assert.equal(await count(`time_first_before=${at(NINE)}`), 4)
  assert.equal(await count(`time_last_before=${at(NINE)}`), 1)
  assert.equal(await count(`time_last_after=${at(NINE) - NOON}`), 1)
  assert.equal(await count(`time_last_after=${at(EIGHT)}&time_first_before=${at(NINE)}`), 3)
  assert.equal(await count(`aggr=f&time_last_before=${at(NINE)}`), 2)
  assert.equal((await lookup(`rrset/name/shop.example?time_last_before=${at(NINE)}`)).length, 1)
})

test('limit and offset select rows, and the end says that there are more', async () => {
  const path = 'lookup/rdata/ip/192.0.2.0,24'
  const all = await stream(world, path, token)
  assert.equal((await stream(world, `${path}?limit=0`, token)).rows.length, 5)
  assert.deepEqual((await stream(world, `${path}?limit=5`, token)).end, { cond: 'succeeded' })
  assert.deepEqual(await stream(world, `${path}?limit=2`, token), {
    rows: all.rows.slice(0, 2),
    end: { cond: 'limited', msg: 'The limit of 2 results is reached.' },
  })
  const last = await stream(world, `${path}?limit=2&offset=3`, token)
  assert.deepEqual(last, { rows: all.rows.slice(3), end: { cond: 'succeeded' } })
  assert.deepEqual((await stream(world, `${path}?offset=5`, token)).rows, [])
})

test('humantime shows times as texts', async () => {
  const [found] = await lookup('rdata/raw/c0000202?humantime=t')
  assert.deepEqual([found!.time_first, found!.time_last], [NINE, NINE])
})

test('a summary has one object about all rows, and none without rows', async () => {
  const summary = (path: string) => stream(world, `summarize/${path}`, token)
  const object = { count: 8, num_results: 5, time_first: at(EIGHT), time_last: at(TEN) }
  assert.deepEqual(await summary('rdata/ip/192.0.2.0,24'), { rows: [object], end: { cond: 'succeeded' } })
  assert.equal((await summary('rrset/name/shop.example/SOA')).rows[0]!.num_results, 2)
  assert.deepEqual(await summary('rrset/name/none.example'), { rows: [], end: { cond: 'succeeded' } })
  const limited = await summary('rdata/ip/192.0.2.0,24?limit=2')
  assert.deepEqual([limited.rows[0]!.num_results, limited.end.cond], [2, 'limited'])
  const counted = await summary('rdata/ip/192.0.2.0,24?max_count=3')
  assert.deepEqual([counted.rows[0]!.count, counted.end.cond], [4, 'limited'])
})

test('a name has its 1,000 newest states of a type, and one that a wildcard found 100', async () => {
  const time = (n: number) => new Date((at(EIGHT) - n * 60) * 1000).toISOString()
  const states = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => look(name, { dns: ok({ A: [`198.51.100.${n % 2}`] }) }, time(count - n)))
  await world.ingest(...states('many.test', 1_001), ...states('sub.many.test', 101))
  const many = await stream(world, 'lookup/rrset/name/many.test/A?aggr=f', token)
  assert.deepEqual([many.rows.length, many.end.cond], [1_000, 'limited'])
  const [newest, last] = [many.rows[0]!, many.rows.at(-1)!]
  assert.deepEqual([newest.time_first, last.time_first], [at(EIGHT) - 60, at(EIGHT) - 60_000])
  const found = await stream(world, 'lookup/rrset/name/*.many.test/A?aggr=f', token)
  assert.deepEqual([found.rows.length, found.end.cond], [100, 'limited'])
})

test('a name that the store cannot have has no rows', async () => {
  for (const path of ['rrset/name/none.example', 'rrset/name/example', 'rrset/raw/00', 'rdata/name/none.example'])
    assert.deepEqual(await lookup(path), [])
})

test('a request that cannot be read is refused with a line of text', async () => {
  for (const path of [
    'lookup/rrset/name/a..example',
    'lookup/rrset/name/*.shop.*',
    'lookup/rrset/name/*.',
    'lookup/rrset/name/shop.example/FOO',
    'lookup/rrset/name/shop.example/A/a..b',
    'lookup/rrset/ip/192.0.2.1',
    'lookup/rrset/raw/0',
    'lookup/rrset/raw/0473686f',
    'lookup/rrset/raw/00/A/example',
    'lookup/rdata/host/a.example',
    'lookup/rdata/name/a..example',
    'lookup/rdata/raw/xyz',
    'lookup/rdata/ip/192.0.2.1/MX',
    'lookup/rdata/ip/192.0.2.0,33',
    'lookup/rdata/ip/192.0.2.0,x',
    'lookup/rdata/ip/192.0.2.9-192.0.2.1',
    'lookup/rdata/ip/192.0.2.9-2001:db8::1',
    'lookup/rdata/ip/192.0.2.0,24-192.0.2.9',
    'lookup/rdata/ip/192.0.2',
    'lookup/rrset/name/shop.example?limit=-1',
    'lookup/rrset/name/shop.example?limit=x',
    'lookup/rrset/name/shop.example?offset=-1',
    'lookup/rrset/name/shop.example?aggr=maybe',
    'lookup/rrset/name/shop.example?time_first_after=yesterday',
    'summarize/rrset/name/shop.example?max_count=x',
  ]) {
    const { status, headers, text } = await ask(world, path, token)
    assert.deepEqual([status, headers.get('content-type')], [400, 'text/plain; charset=utf-8'], path)
    assert.match(text, /^Error: [^\n]+\n$/)
  }
})
