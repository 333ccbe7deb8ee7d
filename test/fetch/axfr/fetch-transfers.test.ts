/** Zone transfers over real sockets: whole ones, broken ones, and lying servers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeAuthority } from '../../../lab/authority.ts'
import { answerBytes, recordBytes, soaBytes, transferMessages, zoneRecords } from '../../../lab/transfers/messages.ts'
import { wire } from '../../../lab/transfers/signature.ts'
import type { TsigKey } from '../../../src/fetch/axfr/tsig.ts'
import { failureOf, holdTransfer, KEY, KEY_512, LAB_KEY, LAB_KEY_512, labels, namesIn, openTransfers } from './world.ts'

const APEX = Buffer.from([0xc0, 12])
const ZONE = { serial: 2_026_112_001, delegations: labels(1_000) }

test('a zone is written with its SOA and NS records, signed or not, and not again while its serial stays', async (t) => {
  for (const [key, labKey] of [
    [null, null],
    [KEY, LAB_KEY],
    [KEY_512, LAB_KEY_512],
  ] as const) {
    const world = await openTransfers(t, { 'lab.test': ZONE }, { key: labKey, signsOneIn: 3 })
    const file = 'lab.test-2026-11-20.zone.gz'
    const target = world.target('lab.test', key)
    assert.deepEqual(await world.fetch([target]), [
      { zone: 'lab.test', outcome: 'fetched', file, serial: ZONE.serial, names: 1_000 },
    ])
    const text = world.text(file)
    assert.ok(text.startsWith(`lab.test. SOA ns.lab.test. hostmaster.lab.test. ${ZONE.serial} 7200 3600 1209600 60\n`))
    assert.deepEqual([namesIn(text), text.split('\n').length], [ZONE.delegations, 2_003])
    assert.match(text, /\nname-7\.lab\.test\. NS ns1\.lab\.test\.\nname-7\.lab\.test\. NS ns2\.lab\.test\.\n/)
    assert.deepEqual(await world.fetch([target]), [{ zone: 'lab.test', outcome: 'there', file }])
    world.clock.now += 86_400
    assert.deepEqual(await world.fetch([target]), [{ zone: 'lab.test', outcome: 'unchanged', serial: ZONE.serial }])
    assert.deepEqual(world.server.queries, [6, 252, 6])
    world.server.zones['lab.test'] = { serial: 7, delegations: ['only'] }
    assert.deepEqual(
      (await world.fetch([target])).map(({ outcome }) => outcome),
      ['fetched'],
    )
    world.clock.now += 7 * 86_400
    assert.deepEqual(
      (await world.fetch([target])).map(({ outcome }) => outcome),
      ['fetched'],
      'a week later',
    )
    assert.deepEqual(world.files(), [file, 'lab.test-2026-11-21.zone.gz', 'lab.test-2026-11-28.zone.gz'])
  }
})

test('a failed zone does not stop the others, and the next server of a zone is tried', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE, 'a.test': { serial: 1, delegations: ['x'] } })
  const { server } = world
  const closed = { host: '127.0.0.1', port: 1, tls: null }
  const open = { host: '127.0.0.1', port: server.port, tls: null }
  const results = await world.fetch([
    { zone: 'none.test', servers: [open], key: null },
    { zone: 'nowhere.test', servers: [], key: null },
    { zone: 'a.test', servers: [closed, open], key: null },
  ])
  assert.deepEqual(
    results.map((result) => [result.outcome, result.outcome === 'failed' ? result.reason : '']),
    [
      ['failed', '127.0.0.1: the server does not serve this zone, or not to this key (NOTAUTH)'],
      ['failed', 'no name server of it is known: name one with ZONE@SERVER'],
      ['fetched', ''],
    ],
  )
})

test('a transfer that is cut off at any message leaves nothing', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE }, { key: LAB_KEY })
  const messages = Math.ceil(2_003 / 400)
  for (let end = 0; end < messages; end++) {
    world.server.behaviour = { key: LAB_KEY, changeSigned: (message, index) => (index === end ? null : message) }
    const reason = await failureOf(world, KEY)
    assert.match(
      reason,
      /^(the server ended the transfer before its end|the connection to 127\.0\.0\.1 port \d+ failed: )/,
    )
  }
  world.server.behaviour = { key: LAB_KEY }
  assert.equal((await world.fetch([world.target('lab.test', KEY)]))[0]!.outcome, 'fetched')
})

test('a wrong, missing, truncated or late signature is rejected with its reason', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  const other: TsigKey = { ...KEY, secret: Buffer.from('another secret') }
  const cases: [Parameters<typeof failureOf>[1], Parameters<typeof openTransfers>[2], RegExp][] = [
    [
      other,
      { key: LAB_KEY },
      /^the server rejects the signature: the signature is wrong \(BADSIG\): check the secret$/,
    ],
    [{ ...KEY, name: 'else' }, { key: LAB_KEY }, /^the server rejects the signature: /],
    [KEY, { key: null }, /it does not know the key \(BADKEY\)/],
    [null, { key: LAB_KEY }, /^the server refuses the transfer \(REFUSED\): it may need a TSIG key/],
    [KEY, { key: LAB_KEY, macBytes: 16 }, /^a signature is truncated, which is not accepted$/],
    [KEY, { key: LAB_KEY, clockAhead: 301 }, /^a signature is older or newer than it may be/],
    [KEY, { key: LAB_KEY, clockAhead: -301 }, /^a signature is older or newer than it may be/],
    [KEY, { key: LAB_KEY, signsOneIn: 9, signsLast: false }, /^the last message is not signed$/],
    [
      KEY,
      { key: LAB_KEY, changeSigned: (message, index) => (index === 3 ? flipped(message) : message) },
      /^a signature is wrong: the key is another one, or the messages were changed/,
    ],
    [
      KEY,
      { key: LAB_KEY, signsOneIn: 9, changeSigned: (message, index) => (index === 3 ? flipped(message) : message) },
      /^a signature is wrong/,
    ],
    [
      KEY,
      { key: LAB_KEY, changeSigned: (message, index) => (index === 0 ? withoutSignature(message) : message) },
      /^the server does not sign its answer, although the query was signed$/,
    ],
    [
      KEY,
      { key: LAB_KEY, changeSigned: withSignatureAsAuthority },
      /^a message is malformed: the signature is in the wrong section$/,
    ],
  ]
  for (const [key, behaviour, reason] of cases) {
    world.server.behaviour = behaviour!
    assert.match(await failureOf(world, key), reason)
  }
})

test('a hundred messages without a signature are rejected, and ninety-nine are not', async (t) => {
  const world = await openTransfers(t, { 'lab.test': { serial: 1, delegations: labels(40_000) } })
  world.server.behaviour = { key: LAB_KEY, signsOneIn: 101 }
  assert.equal(await failureOf(world, KEY), '100 messages in a row are not signed')
  world.server.behaviour = { key: LAB_KEY, signsOneIn: 100 }
  assert.equal((await world.fetch([world.target('lab.test', KEY)]))[0]!.outcome, 'fetched')
})

/** Changes one letter of the last name server in a message. */
function flipped(message: Buffer): Buffer {
  const copy = Buffer.from(message)
  copy[copy.lastIndexOf(Buffer.from('\x03lab\x04test')) + 1]! ^= 1
  return copy
}

/** Removes the signature that the message ends with. */
function withoutSignature(message: Buffer): Buffer {
  const copy = Buffer.from(message.subarray(0, message.lastIndexOf(wire('lab-key'))))
  copy.writeUInt16BE(0, 10)
  return copy
}

/** Changes the last field of an SOA, and not its serial. */
function withOtherMinimum(record: Buffer): Buffer {
  const copy = Buffer.from(record)
  copy[copy.length - 1]! ^= 1
  return copy
}

/** Moves the signature from the additional section to the authority section. */
function withSignatureAsAuthority(message: Buffer): Buffer {
  const copy = Buffer.from(message)
  copy.writeUInt16BE(1, 8)
  copy.writeUInt16BE(0, 10)
  return copy
}

test('a server that lies or fails is rejected with its reason', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  const records = [...zoneRecords(ZONE)]
  const only = (...answers: Buffer[]) => ({
    changeMessages: (_: unknown, query: Buffer) => [answerBytes(query, answers)],
  })
  const ns = (owner: Buffer): Buffer => recordBytes(owner, 2, wire('ns.lab.test'))
  for (const [behaviour, reason] of [
    [{ code: 5 }, /^the server refuses the transfer \(REFUSED\)/],
    [{ code: 3 }, /NXDOMAIN/],
    [{ code: 13 }, /^the server responds with error 13$/],
    [only(soaBytes(wire('other.test'), 1)), /^the server sends the zone other\.test\. instead$/],
    [only(soaBytes(wire('deep.lab.test'), 1)), /^the server sends the zone deep\.lab\.test\. instead$/],
    [only(soaBytes(wire('xlab.test'), 1)), /^the server sends the zone xlab\.test\. instead$/],
    [only(ns(APEX)), /^the first record is not the SOA of the zone$/],
    [only(records[0]!, ns(wire('else.test'))), /^a record of else\.test\. does not belong to the zone$/],
    [only(records[0]!, soaBytes(wire('a.lab.test'), 1)), /^there is an SOA of a\.lab\.test\. in the zone$/],
    [only(records[0]!, soaBytes(APEX, 8)), /^the zone changed during the transfer: try again$/],
    [only(records[0]!, withOtherMinimum(records[0]!)), /^the zone changed during the transfer: try again$/],
    [only(records[0]!, records.at(-1)!, records[1]!), /^records follow the closing SOA$/],
    [
      {
        changeMessages: (_: unknown, query: Buffer) => [
          Buffer.concat([answerBytes(query, [records[0]!, records[1]!, records.at(-1)!]), Buffer.from([0])]),
        ],
      },
      /^a message is malformed: bytes follow the last record$/,
    ],
    [only(records[0]!), /^the server ended the transfer before its end$/],
    [only(), /^the server ended the transfer before its end$/],
    [only(records[0]!, records[2]!.subarray(0, 20)), /^a message is malformed: unexpected end of message$/],
    [only(records[0]!, recordBytes(APEX, 2, Buffer.from([0xc0, 200]))), /^a message is malformed: /],
    [
      only(records[0]!, recordBytes(Buffer.from([0xc0, 12]), 2, Buffer.concat([wire('a'), wire('b')]))),
      /record length/,
    ],
    [
      { changeSigned: (message: Buffer) => Buffer.concat([Buffer.from([1, 2]), message.subarray(2)]) },
      /^a message is not an answer to the query$/,
    ],
  ] as const) {
    world.server.behaviour = { key: null, ...behaviour }
    assert.match(await failureOf(world), reason)
  }
})

test('over TLS, the certificate of the server must be valid, and TLS 1.3 with ALPN is spoken', async (t) => {
  const { root, identity } = await makeAuthority(Date.now())
  const { cert, key } = await identity('valid', ['localhost'])
  const world = await openTransfers(t, { 'lab.test': ZONE }, { key: LAB_KEY }, { cert, key })
  const overTls = (host: string, tls: { ca?: string } | null) =>
    world.fetch([{ zone: 'lab.test', key: KEY, servers: [{ host, port: world.server.port, tls }] }])
  for (const [host, tls, reason] of [
    ['localhost', {}, /self-signed certificate in certificate chain|unable to (get|verify)/],
    ['127.0.0.1', { ca: root }, /Hostname\/IP does not match certificate|not in the cert/],
    ['localhost', null, /the server ended|does not answer|failed/],
  ] as const) {
    const [result] = await overTls(host, tls)
    assert.match(result!.outcome === 'failed' ? result!.reason : 'no failure', reason)
  }
  assert.deepEqual(world.files(), [])
  assert.equal((await overTls('localhost', { ca: root }))[0]!.outcome, 'fetched')
  assert.deepEqual(world.server.protocols.slice(-2), ['TLSv1.3 dot', 'TLSv1.3 dot'])
})

test('a transfer without an end, a silent server and a stop are bounded', async (t) => {
  const world = await openTransfers(t, { 'lab.test': ZONE })
  function* endless(): Generator<Buffer> {
    const [soa, , ...delegations] = zoneRecords(ZONE)
    yield soa!
    for (;;) yield* delegations.slice(0, -1)
  }
  const changeMessages = (_: unknown, query: Buffer) => transferMessages(query, endless())
  world.server.behaviour = { key: null, changeMessages }
  assert.match(await failureOf(world, null, { maxBytes: 2_000_000 }), /^the answer has more than 2000000 bytes/)
  assert.match(await failureOf(world, null, { maxSeconds: 0.05 }), /^the transfer took more than 0\.05 seconds$/)
  const stop = new AbortController()
  const stopped = world.fetch([world.target('lab.test')], { signal: stop.signal, onNames: () => stop.abort() })
  await assert.rejects(stopped, { name: 'AbortError' })
  assert.deepEqual(world.files(), [])
  world.server.behaviour = holdTransfer().behaviour
  assert.match(await failureOf(world, null, { idleMs: 50 }), /failed: no answer for 0\.05 seconds$/)
})

test('every name of a transfer is written so that a master file reads the same name', async (t) => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 63 })
  let escaped = 0
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(label, { minLength: 1, maxLength: 20, selector: String }), async (found) => {
      const world = await openTransfers(t, {
        'lab.test': { serial: 5, delegations: found.map((bytes) => Buffer.from(bytes).toString('latin1')) },
      })
      const [result] = await world.fetch([world.target('lab.test')])
      assert.equal(result!.outcome, 'fetched')
      const owners = world
        .text('lab.test-2026-11-20.zone.gz')
        .split('\n')
        .flatMap((line) => /^(\S+)\.lab\.test\. NS /.exec(line)?.[1] ?? [])
      const read = owners.map((owner) => owner.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code))))
      escaped += owners.filter((owner) => owner.includes('\\')).length
      const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
      const expected = found
        .map((bytes) => lower(Buffer.from(bytes).toString('latin1')))
        .flatMap((each) => [each, each])
      assert.deepEqual(read, expected)
    }),
    { numRuns: 20 },
  )
  assert.ok(escaped > 10)
})

test('whatever bytes a server sends, the transfer ends with a result and leaves no part', async (t) => {
  const world = await openTransfers(t, {})
  const { server } = world
  let serial = 0
  /** Transfers a zone that the server changes on its way, and returns the outcome. */
  async function outcomeOf(edits: [at: number, byte: number][], isSigned: boolean): Promise<string> {
    server.zones['lab.test'] = { serial: ++serial, delegations: labels(3) }
    server.behaviour = {
      key: isSigned ? LAB_KEY : null,
      changeSigned(message) {
        const copy = Buffer.from(message)
        for (const [at, byte] of edits) copy[at % copy.length] = byte
        return copy
      },
    }
    const target = world.target('lab.test', isSigned ? KEY : null)
    const [result] = await world.fetch([target], { has: async () => false })
    assert.ok(world.files().every((file) => file === 'lab.test-2026-11-20.zone.gz'))
    return result!.outcome
  }
  for (const isSigned of [false, true]) {
    assert.equal(await outcomeOf([], isSigned), 'fetched')
    assert.equal(await outcomeOf([[2, 0]], isSigned), 'failed')
  }
  const edit = fc.tuple(fc.nat(700), fc.nat(255))
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.boolean(), async (edits, isSigned) => {
      assert.notEqual(await outcomeOf(edits, isSigned), 'unchanged')
    }),
    { numRuns: 200 },
  )
})
