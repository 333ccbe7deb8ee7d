/** Tests records in the form that tools print: every record type has its presentation form. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePresentation } from '../../../src/import/formats/presentation.ts'
import { canonicalRecordSet, RECORD_TYPES, type RecordType } from '../../../src/values/records/dns-record.ts'

const PRINTED: Record<RecordType, string> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  MX: '10 mx.example.',
  TXT: '"v=spf1 -all"',
  NS: 'ns.example.',
  SOA: 'ns.example. host\\.master.example. 1 2 3 4 5',
  CNAME: 'www.example.',
}

for (const type of RECORD_TYPES) {
  test(`given a printed ${type} record, then it is read as one record`, () => {
    const records = canonicalRecordSet(type, [parsePresentation(type, PRINTED[type])])
    assert.ok(typeof records !== 'string', String(records))
    assert.equal(records.length, 1)
  })
}
