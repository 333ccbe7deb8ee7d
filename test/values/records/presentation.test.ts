/** Records in presentation form: reading them gives the same records. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePresentation } from '../../../src/import/formats/presentation.ts'
import {
  type AnyRecord,
  canonicalRecordSet,
  RECORD_TYPES,
  type RecordType,
} from '../../../src/values/records/dns-record.ts'
import { formatPresentation } from '../../../src/values/records/presentation.ts'
import { encodeTxtPart } from '../../../src/values/records/txt-part.ts'

const label = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', '-', '_', '\\.', '\\\\', '\\000', '\\200', '*'),
  minLength: 1,
  maxLength: 8,
})
const host = fc.oneof(
  fc.constant('.'),
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
)
const uint32 = fc.nat(4_294_967_295)
const part = fc.oneof(
  fc.uint8Array({ maxLength: 255 }).map(encodeTxtPart),
  fc.string({ unit: fc.constantFrom('"', '\\\\', ' ', 'a', ';', '\\009', 'é'), maxLength: 40 }),
)
const mailbox = fc.string({ unit: fc.constantFrom('a', '.', '+', '-'), minLength: 1, maxLength: 10 })
const domain = fc
  .array(fc.constantFrom('example', 'com', 'x-1'), { minLength: 1, maxLength: 3 })
  .map((labels) => labels.join('.'))
const INPUTS: Record<RecordType, fc.Arbitrary<unknown>> = {
  A: fc.ipV4(),
  AAAA: fc.ipV6(),
  MX: fc.record({ priority: fc.nat(65_535), mail_server: host }),
  TXT: fc.array(part, { minLength: 1, maxLength: 4 }),
  NS: host,
  SOA: fc.record({
    primary_nameserver: host,
    admin_email: fc.tuple(mailbox, domain).map(([box, at]) => `${box.replace(/^\.|\.$|\.(?=\.)/g, 'x')}@${at}`),
    serial: uint32,
    refresh_seconds: uint32,
    retry_seconds: uint32,
    expire_seconds: uint32,
    minimum_ttl_seconds: fc.option(uint32, { nil: undefined }),
  }),
  CNAME: host,
}

for (const type of RECORD_TYPES) {
  test(`${type}: the written record reads as the same record`, () => {
    fc.assert(
      fc.property(INPUTS[type], (input) => {
        const [record] = canonicalRecordSet(type, [input]) as AnyRecord[]
        const read = canonicalRecordSet(type, [parsePresentation(type, formatPresentation(type, record!))])
        assert.deepEqual(read, [record])
      }),
    )
  })
}

test('the forms of the standards', () => {
  const written = (type: RecordType, input: unknown) =>
    formatPresentation(type, (canonicalRecordSet(type, [input]) as AnyRecord[])[0]!)
  assert.equal(written('MX', { priority: 10, mail_server: 'MX.example.com.' }), '10 mx.example.com')
  assert.equal(written('TXT', ['v=spf1 "a"', 'b']), '"v=spf1 \\"a\\"" "b"')
  const numbers = { serial: 1, refresh_seconds: 2, retry_seconds: 3, expire_seconds: 4, minimum_ttl_seconds: 5 }
  const soa = { primary_nameserver: 'ns.example.com', admin_email: 'host.master@example.com', ...numbers }
  assert.equal(written('SOA', soa), 'ns.example.com host\\.master.example.com 1 2 3 4 5')
})
