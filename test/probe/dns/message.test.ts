/** DNS messages: encoded messages are decoded unchanged, and no bytes crash, delay or overload the reader. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, RECURSION_AVAILABLE } from 'dns-packet'
import fc from 'fast-check'
import { replyTo } from '../../../lab/dns-reply.ts'
import type { DnsRow } from '../../../lab/dns-table.ts'
import { type DnsQuery, encodeQuery, isAnswerTo, setQueryId } from '../../../src/probe/dns/message/query.ts'
import { parseReply } from '../../../src/probe/dns/message/reply.ts'
import { DnsMessageReader, encodeHost } from '../../../src/probe/dns/message/wire-name.ts'
import { unpackAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../../src/values/records/dns-record.ts'
import { adminEmail, parseHostName } from '../../../src/values/records/host-name.ts'
import { encodeTxtPart } from '../../../src/values/records/txt-part.ts'

const label = fc.uint8Array({ minLength: 1, maxLength: 63 })
/** Hosts of arbitrary bytes, in the form of parseHostName. */
const host = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.stringMatching(/^[a-z0-9_-]{1,12}$/).map((text) => Buffer.from(text)) }, label),
    {
      maxLength: 6,
    },
  )
  .map((labels) => Buffer.concat([...labels.flatMap((each) => [Buffer.of(each.length), each]), Buffer.of(0)]))
  .filter((bytes) => bytes.length <= 255)
  .map((bytes) => new DnsMessageReader(bytes, 0).host())
const plainHost = fc.domain().map((text) => text.toLowerCase())
const short = fc.integer({ min: 0, max: 65_535 })
const long = fc.integer({ min: 0, max: 4_294_967_295 })
const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => unpackAddress(Uint8Array.of(4, ...bytes)))
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => unpackAddress(Uint8Array.of(6, ...bytes)))
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 6 })
const object = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true })
const row: fc.Arbitrary<DnsRow> = fc.record({
  A: few(ipv4),
  AAAA: few(ipv6),
  MX: few(object({ priority: short, mail_server: host })),
  TXT: few(few(fc.uint8Array({ maxLength: 255 }))),
  NS: few(host),
  SOA: few(
    object({
      primary_nameserver: host,
      mailbox: host,
      serial: long,
      refresh_seconds: long,
      retry_seconds: long,
      expire_seconds: long,
      minimum_ttl_seconds: long,
    }),
  ),
  CNAME: few(host),
})

function queryOf(name: string, type: RecordType): DnsQuery {
  const query = encodeQuery(name, type, true)!
  setQueryId(query, 4711)
  return query
}

/** The lab's record in the format of an observation. */
function given(type: RecordType, record: unknown): unknown {
  if (type === 'TXT') return (record as Uint8Array[]).map(encodeTxtPart)
  if (type !== 'SOA') return record
  const { mailbox, ...rest } = record as { mailbox: string }
  return { ...rest, admin_email: adminEmail(mailbox) }
}

test('a host that is encoded and decoded is unchanged, in the form of parseHostName', () => {
  fc.assert(
    fc.property(host, (name) => {
      const bytes = Buffer.alloc(300, 7)
      const length = encodeHost(name, bytes, 5)
      assert.equal(new DnsMessageReader(bytes.subarray(0, 5 + length), 5).host(), name)
      assert.equal(parseHostName(name), name)
    }),
  )
})

test('encodeHost accepts what parseHostName accepts, and rejects everything else', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a\\.0-9]{0,300}$/)), (text) => {
      const name = parseHostName(text)
      const length = encodeHost(name ?? text, Buffer.alloc(512), 0)
      if (name !== null) assert.ok(length > 0 && length <= 255)
      else assert.ok(length <= 255)
    }),
  )
})

test('a query equals the one that dns-packet encodes', () => {
  fc.assert(
    fc.property(plainHost, fc.constantFrom(...RECORD_TYPES), short, (name, type, id) => {
      const query = encodeQuery(name, type, true)!
      const packet = decode(setQueryId(query, id))
      assert.deepEqual([packet.id, packet.type, packet.flag_rd], [id, 'query', true])
      assert.deepEqual(packet.questions, [{ name, type, class: 'IN' }])
      assert.deepEqual(
        packet.additionals?.map((each) => each.type === 'OPT' && each.udpPayloadSize),
        [1232],
      )
    }),
  )
})

test('answers of the lab are read as the table has them, whatever their bytes', () => {
  fc.assert(
    fc.property(row, (has) => {
      for (const type of RECORD_TYPES) {
        const query = queryOf('lab.test', type)
        const { message } = replyTo(
          query.bytes,
          () => has,
          'tcp',
          () => 0,
          () => {},
        )
        assert.ok(isAnswerTo(message!, query))
        const records = (has[type] as unknown[]).map((record) => given(type, record))
        assert.deepEqual(parseReply(message!, query), { outcome: 'records', records, aliases: [], isWhole: true })
      }
    }),
  )
})

test('messages that dns-packet encodes are read with the same result, if it can encode them', () => {
  fc.assert(
    fc.property(plainHost, few(fc.tuple(short, plainHost)), (name, mails) => {
      const query = queryOf(name, 'MX')
      const answers: Answer[] = mails.map(([preference, exchange]) => ({
        type: 'MX',
        name,
        data: { preference, exchange },
      }))
      const message = encode({ type: 'response', id: 4711, questions: [{ type: 'MX', name }], answers })
      const records = mails.map(([priority, mail_server]) => ({ priority, mail_server }))
      assert.deepEqual(parseReply(message, query), { outcome: 'records', records, aliases: [], isWhole: true })
    }),
  )
})

test('no bytes make the reader throw, and its result is bounded by the message', () => {
  const message = fc.oneof(
    fc.uint8Array({ minLength: 12, maxLength: 600 }),
    fc
      .tuple(
        row,
        fc.constantFrom(...RECORD_TYPES),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
        fc.nat(40),
      )
      .map(([has, type, changes, cut]) => {
        const { bytes } = queryOf('lab.test', type)
        const whole = Buffer.from(
          replyTo(
            bytes,
            () => has,
            'tcp',
            () => 0,
            () => {},
          ).message!,
        )
        for (const [at, byte] of changes) whole[12 + (at % (whole.length - 12))] = byte
        return whole.subarray(0, Math.max(12, whole.length - cut))
      }),
  )
  fc.assert(
    fc.property(message, fc.constantFrom(...RECORD_TYPES), (bytes, type) => {
      const query = queryOf('lab.test', type)
      isAnswerTo(bytes, query)
      const output = parseReply(bytes, query)
      if (output.outcome === 'records')
        assert.ok(output.records.length <= bytes.length / 11 && output.aliases.length <= 8)
    }),
    { numRuns: 1500 },
  )
})

test('no bytes make the lab throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      replyTo(
        Buffer.from(bytes),
        () => ({}),
        'udp',
        () => 0,
        () => {},
      )
    }),
  )
})

test('an empty answer with an SOA means no record, and one with only name servers is a referral', () => {
  const query = queryOf('a.test', 'A')
  const ns: Answer = { type: 'NS', name: 'test', data: 'ns.test' }
  const soa: Answer = { type: 'SOA', name: 'test', data: { mname: 'ns.test', rname: 'root.test', serial: 1 } }
  const absent = { outcome: 'records', records: [], aliases: [], isWhole: true }
  const lame = { outcome: 'failed', why: 'lame' }
  for (const [flags, authorities, output] of [
    [RECURSION_AVAILABLE, [], absent],
    [AUTHORITATIVE_ANSWER, [], absent],
    [AUTHORITATIVE_ANSWER, [ns], absent],
    [0, [soa], absent],
    [0, [ns, soa], absent],
    [0, [], lame],
    [0, [ns], lame],
    [RECURSION_AVAILABLE, [ns], lame],
  ] as const) {
    const message = encode({
      type: 'response',
      flags,
      questions: [{ type: 'A', name: 'a.test' }],
      authorities: [...authorities],
    })
    assert.deepEqual(parseReply(message, query), output, `${flags} ${authorities.map(({ type }) => type)}`)
  }
})

test('each response code keeps its meaning', () => {
  const query = queryOf('a.test', 'A')
  const codes = { 1: 'unknown', 2: 'servfail', 4: 'unknown', 5: 'refused', 6: 'servfail', 9: 'lame', 11: 'servfail' }
  for (const [code, meaning] of Object.entries(codes)) {
    const message = encode({ type: 'response', flags: Number(code), questions: [{ type: 'A', name: 'a.test' }] })
    const output = meaning === 'unknown' ? { outcome: meaning } : { outcome: 'failed', why: meaning }
    assert.deepEqual(parseReply(message, query), output, code)
  }
  const option = { type: 'OPT', name: '.', extendedRcode: 1, options: [] } as unknown as Answer
  const questions = [{ type: 'A', name: 'a.test' } as const]
  const badVersion = encode({ type: 'response', flags: RECURSION_AVAILABLE, questions, additionals: [option] })
  assert.deepEqual(parseReply(badVersion, query), { outcome: 'unknown' })
})

test('names that are pointers to pointers cost no more than their labels', () => {
  const query = queryOf('a.test', 'A')
  const chain = Buffer.alloc(16_000)
  for (let at = 2; at < chain.length; at += 2) chain.writeUInt16BE(0xc000 | (query.end + 10 + at), at)
  const records = Array.from({ length: 4000 }, () => Buffer.from([0xff, 0x00, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]))
  const head = Buffer.from(query.bytes.subarray(0, query.end))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(4001, 6)
  head[11] = 0
  const filling = Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 0, chain.length >> 8, chain.length & 255])
  const message = Buffer.concat([head, filling, chain, ...records])
  assert.deepEqual(parseReply(message, query), { outcome: 'failed', why: 'malformed' })
})
