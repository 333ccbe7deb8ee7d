/** The resolver against the lab's DNS server: the meaning of each kind of answer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDnsServer } from '../../../lab/dns.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import { openResolver } from '../../../src/probe/dns/resolver.ts'
import { parseDnsServer, systemDnsServers } from '../../../src/probe/dns/server.ts'
import type { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { answerTo, askLab, LOOPBACK, rawUdp, resolverOf, withoutEdns } from './dns-lab.ts'

const SOA = {
  primary_nameserver: 'ns.full.test',
  mailbox: 'john\\.doe.full.test',
  serial: 4_294_967_295,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1_209_600,
  minimum_ttl_seconds: 0,
}
const FULL: DnsTable = {
  'full.test': {
    A: ['192.0.2.1', '192.0.2.200'],
    AAAA: ['2001:db8::1', '::ffff:192.0.2.1'],
    MX: [
      { priority: 10, mail_server: 'mx.full.test' },
      { priority: 65_535, mail_server: '.' },
    ],
    TXT: [['v=spf1 -all'], ['one', 'two'], [Uint8Array.of(0, 255, 92, 65)], ['x'.repeat(255), 'grün', '']],
    NS: ['ns1.full.test', 'a\\.b.full.test', '\\000\\255.full.test'],
    SOA: [SOA],
  },
}

function recordsOf(records: unknown, aliases: readonly string[] = []) {
  return { outcome: 'records', records, aliases }
}

test('each of the seven types is returned in the format of an observation file', async (t) => {
  const { resolver } = await askLab(t, { ...FULL, 'alias.test': { CNAME: ['full.test'] } })
  const ask = (type: (typeof RECORD_TYPES)[number]) => resolver.resolve('full.test', type)
  assert.deepEqual(await ask('A'), recordsOf(['192.0.2.1', '192.0.2.200']))
  assert.deepEqual(await ask('AAAA'), recordsOf(['2001:db8::1', '::ffff:192.0.2.1']))
  assert.deepEqual(
    await ask('MX'),
    recordsOf([
      { priority: 10, mail_server: 'mx.full.test' },
      { priority: 65_535, mail_server: '.' },
    ]),
  )
  assert.deepEqual(
    await ask('TXT'),
    recordsOf([['v=spf1 -all'], ['one', 'two'], ['\\000\\255\\\\A'], ['x'.repeat(255), 'grün', '']]),
  )
  assert.deepEqual(await ask('NS'), recordsOf(['ns1.full.test', 'a\\.b.full.test', '\\000\\255.full.test']))
  const { mailbox, ...soa } = SOA
  assert.deepEqual(await ask('SOA'), recordsOf([{ ...soa, admin_email: 'john.doe@full.test' }]))
  assert.deepEqual(await resolver.resolve('alias.test', 'CNAME'), recordsOf(['full.test']))
})

test('a missing name is distinguished from one without a record of the type', async (t) => {
  const { resolver } = await askLab(t, FULL)
  assert.deepEqual(await resolver.resolve('nobody.test', 'A'), { outcome: 'nxdomain' })
  assert.deepEqual(await resolver.resolve('full.test', 'CNAME'), recordsOf([]))
})

test('SERVFAIL, REFUSED, a referral, silence and a malformed answer are distinguished', async (t) => {
  const table = { a: 'servfail', b: 'refused', c: 'lame', d: 'malformed' } as const
  const { resolver } = await askLab(t, { ...table, mixed: { A: 'servfail', AAAA: ['::1'] } })
  for (const [host, why] of Object.entries(table)) {
    assert.deepEqual(await resolver.resolve(host, 'A'), { outcome: 'failed', why })
  }
  assert.deepEqual(await resolver.resolve('mixed', 'A'), { outcome: 'failed', why: 'servfail' })
  assert.deepEqual(await resolver.resolve('mixed', 'AAAA'), recordsOf(['::1']))
  const silent = await askLab(t, { e: 'silent' }, { timeoutMs: 200, attempts: 3 })
  assert.deepEqual(await silent.resolver.resolve('e', 'A'), { outcome: 'failed', why: 'timeout' })
  assert.deepEqual(
    silent.received.map(({ host }) => host),
    ['e', 'e', 'e', '.'],
    'it is asked for the root, to learn whether it answers at all',
  )
})

test('the silence of a resolver that answers nothing at all says nothing about a name', async (t) => {
  const { resolver, received } = await askLab(
    t,
    { a: 'silent', b: 'silent', '.': 'silent' },
    { timeoutMs: 20, attempts: 2 },
  )
  assert.deepEqual(await Promise.all([resolver.resolve('a', 'A'), resolver.resolve('b', 'A')]), [null, null])
  assert.ok(received.some(({ host }) => host === '.'))
})

test('aliases are followed to the records at their end, and returned in order', async (t) => {
  const { resolver } = await askLab(t, {
    'a.test': { CNAME: ['b.test'] },
    'b.test': { CNAME: ['c.test'] },
    'c.test': { A: ['192.0.2.3'], MX: [{ priority: 1, mail_server: 'mx.test' }] },
    'dangling.test': { CNAME: ['nobody.test'] },
  })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(['192.0.2.3'], ['b.test', 'c.test']))
  assert.deepEqual(await resolver.resolve('a.test', 'TXT'), recordsOf([], ['b.test', 'c.test']))
  assert.deepEqual(await resolver.resolve('a.test', 'CNAME'), recordsOf(['b.test']))
  assert.deepEqual(await resolver.resolve('dangling.test', 'A'), recordsOf([], ['nobody.test']))
})

test('if the server stops at an alias, addresses are queried at its target', async (t) => {
  const { resolver, received } = await askLab(t, {
    'a.test': { CNAME: ['b.test'], omitsTarget: true },
    'b.test': { CNAME: ['c.test'], omitsTarget: true },
    'c.test': { A: ['192.0.2.3'] },
    'dangling.test': { CNAME: ['nobody.test'], omitsTarget: true },
    'broken.test': { CNAME: ['fails.test'], omitsTarget: true },
    'fails.test': 'servfail',
  })
  assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(['192.0.2.3'], ['b.test', 'c.test']))
  assert.equal(received.length, 3)
  assert.deepEqual(await resolver.resolve('dangling.test', 'A'), recordsOf([], ['nobody.test']))
  assert.deepEqual(await resolver.resolve('broken.test', 'A'), { outcome: 'failed', why: 'servfail' })
  received.length = 0
  assert.deepEqual(await resolver.resolve('broken.test', 'MX'), recordsOf([], ['fails.test']))
  assert.equal(received.length, 1)
})

test('a chain of sixteen aliases is followed, a longer one gives no result, and a loop fails', async (t) => {
  for (const stops of [true, false]) {
    const table: Record<string, object> = { 'n16.test': { A: ['192.0.2.8'] }, 'loop.test': { CNAME: ['pool.test'] } }
    for (let link = -2; link < 16; link++) table[`n${link}.test`] = { CNAME: [`n${link + 1}.test`] }
    table['pool.test'] = { CNAME: ['loop.test'] }
    table['self.test'] = { CNAME: ['self.test'] }
    const rows = Object.entries(table).map(([host, row]) => [host, stops ? { ...row, omitsTarget: true } : row])
    const { resolver, received } = await askLab(t, Object.fromEntries(rows))
    const answer = await resolver.resolve('n0.test', 'A')
    const chain = Array.from({ length: 16 }, (_, link) => `n${link + 1}.test`)
    assert.deepEqual(answer, recordsOf(['192.0.2.8'], chain))
    for (const host of ['n-1.test', 'n-2.test']) {
      for (const type of ['A', 'AAAA'] as const) assert.equal(await resolver.resolve(host, type), null)
    }
    assert.deepEqual(await resolver.resolve('n-1.test', 'CNAME'), recordsOf(['n0.test']))
    received.length = 0
    const why = stops ? 'malformed' : 'servfail'
    assert.deepEqual(await resolver.resolve('loop.test', 'A'), { outcome: 'failed', why })
    assert.deepEqual(await resolver.resolve('self.test', 'A'), { outcome: 'failed', why })
    assert.ok(received.length <= 7)
  }
})

test('a truncated answer is queried again over TCP', async (t) => {
  const { resolver, received } = await askLab(t, {
    'cut.test': { A: ['192.0.2.1'], truncated: true },
    'many.test': { A: Array.from({ length: 900 }, (_, index) => `192.0.${index >> 8}.${index & 255}`) },
  })
  assert.deepEqual(await resolver.resolve('cut.test', 'A'), recordsOf(['192.0.2.1']))
  assert.deepEqual(
    received.map(({ over }) => over),
    ['udp', 'tcp'],
  )
  const many = await resolver.resolve('many.test', 'A')
  assert.equal(many?.outcome === 'records' && many.records.length, 900)
})

test('if one server fails, the next one is queried, and the most informative result counts', async (t) => {
  const bad = await askLab(t, { 'a.test': 'refused', 'b.test': 'silent' })
  const good = await askLab(t, { 'a.test': { A: ['192.0.2.1'] }, 'b.test': 'servfail' })
  const servers = [bad.server, good.server]
  const resolver = await resolverOf(t, servers, { timeoutMs: 500, attempts: 2 })
  for (const _ of servers) assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(['192.0.2.1']))
  for (const _ of servers)
    assert.deepEqual(await resolver.resolve('b.test', 'A'), { outcome: 'failed', why: 'servfail' })
})

test('a server that does not know EDNS is queried without it', async (t) => {
  const server = await rawUdp(t, (question, from, socket) => {
    const message = withoutEdns(question)
    message[2] = 0x80
    message[3] = question[11] === 1 ? 1 : 3
    socket.send(message, from.port, from.address)
  })
  const resolver = await resolverOf(t, [server])
  assert.deepEqual(await resolver.resolve('a.test', 'A'), { outcome: 'nxdomain' })
})

test('if the path drops queries with EDNS, later queries go without it at once', async (t) => {
  const received: boolean[] = []
  const server = await rawUdp(t, (question, from, socket) => {
    received.push(question[11] === 1)
    if (question[11] === 0) socket.send(answerTo(question, '192.0.2.1'), from.port, from.address)
  })
  const resolver = await resolverOf(t, [server], { timeoutMs: 100 })
  assert.deepEqual(resolver.withoutEdns(), [])
  assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(['192.0.2.1']))
  assert.deepEqual(await resolver.resolve('b.test', 'A'), recordsOf(['192.0.2.1']))
  assert.deepEqual(received, [true, false, false])
  assert.deepEqual(
    resolver.withoutEdns().map(({ port }) => port),
    [server.port],
  )
})

test('if EDNS passes, the last attempt still goes without it, which alone changes nothing', async (t) => {
  const received: boolean[] = []
  const server = await rawUdp(t, (question, from, socket) => {
    received.push(question[11] === 1)
    const isDropped = question[13] === 98 && question[11] === 1 // b.test
    if (!isDropped) socket.send(answerTo(question, '192.0.2.1'), from.port, from.address)
  })
  const resolver = await resolverOf(t, [server], { timeoutMs: 100, attempts: 3 })
  for (const host of ['a.test', 'b.test', 'c.test']) {
    assert.deepEqual(await resolver.resolve(host, 'A'), recordsOf(['192.0.2.1']))
  }
  assert.deepEqual(received, [true, true, true, false, true])
  assert.deepEqual(resolver.withoutEdns(), [])
})

test('without a listener, with an invalid host or after close, the result is null', async (t) => {
  const removed = await startDnsServer({})
  await removed.close()
  const alone = await resolverOf(t, [removed])
  assert.equal(await alone.resolve('a.test', 'A'), null)
  const answers = await Promise.all(Array.from({ length: 50 }, () => alone.resolve('a.test', 'AAAA')))
  assert.deepEqual(new Set(answers), new Set([null]))
  const none = await resolverOf(t, [])
  assert.equal(await none.resolve('a.test', 'A'), null)
  const silent = await askLab(t, { 'a.test': 'silent' })
  for (const host of ['', 'a..test', '.a', `${'x'.repeat(64)}.test`, `${'x.'.repeat(127)}xx`]) {
    assert.equal(await silent.resolver.resolve(host, 'A'), null, host)
  }
  const waiting = silent.resolver.resolve('a.test', 'A')
  await silent.resolver.close()
  assert.equal(await waiting, null)
  assert.equal(await silent.resolver.resolve('a.test', 'A'), null)
})

test('a resolver that is closed while its sockets open leaves nothing behind', async () => {
  const resolver = await openResolver({ servers: [{ address: LOOPBACK, port: 9 }] })
  const asked = resolver.resolve('a.test', 'A')
  await resolver.close()
  assert.equal(await asked, null)
})

test('a resolver that is closed while a socket is replaced leaves nothing behind', async (t) => {
  const { resolver } = await askLab(t, { 'a.test': 'silent' }, { sockets: 1 })
  await resolver.resolve('nobody.test', 'A')
  const asked = Array.from({ length: 4200 }, () => resolver.resolve('a.test', 'A'))
  await resolver.close()
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([null]))
})

test('rotating answers restart with another table', async (t) => {
  const table: DnsTable = { 'a.test': { A: { rotation: [['192.0.2.1'], []] } } }
  const { resolver, server } = await askLab(t, table)
  for (const records of [['192.0.2.1'], [], ['192.0.2.1']]) {
    assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(records))
  }
  server.change(table)
  assert.deepEqual(await resolver.resolve('a.test', 'A'), recordsOf(['192.0.2.1']))
})

test('a resolver is an address with or without a port', () => {
  assert.deepEqual(parseDnsServer('192.0.2.1'), { address: '192.0.2.1', port: 53 })
  assert.deepEqual(parseDnsServer('192.0.2.1:5353'), { address: '192.0.2.1', port: 5353 })
  assert.deepEqual(parseDnsServer('2001:DB8::1'), { address: '2001:db8::1', port: 53 })
  assert.deepEqual(parseDnsServer('[::1]:53'), { address: '::1', port: 53 })
  for (const text of ['', 'localhost', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:x', '[::1', '1.2.3.4:', '::1%lo']) {
    assert.equal(parseDnsServer(text), null, text)
  }
  assert.ok(Array.isArray(systemDnsServers()))
})
