/** The Common Output Format: lines for single records, from which an import restores the states. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cofLines, type RecordState } from '../../src/export/cof.ts'
import { cofFormat } from '../../src/import/formats/cof.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type AnyRecord, canonicalRecordSet, type RecordType } from '../../src/values/records/dns-record.ts'
import { read } from '../import/formats/reading.ts'

const NAME = 'one.example' as DomainName

const addresses = (...lists: [at: number, hosts: number[]][]): RecordState[] =>
  lists.map(([first_seen, hosts]) => ({
    first_seen,
    records: hosts.map((host) => ({ ipv4_address: `192.0.2.${host}` })) as AnyRecord[],
  }))
const spans = (states: RecordState[], observed: number) =>
  cofLines(NAME, 'A', states, observed).map((line) => {
    const { rrname, rrtype, rdata, time_first, time_last } = JSON.parse(line)
    assert.deepEqual([rrname, rrtype], [NAME, 'A'])
    return [rdata.slice('192.0.2.'.length), time_first, time_last]
  })

test('a record has one line per uninterrupted time, the latest first', () => {
  const states = addresses([400, [1, 3]], [300, [1, 2]], [200, []], [100, [1]])
  assert.deepEqual(spans(states, 450), [
    ['3', 400, 450],
    ['1', 300, 450],
    ['2', 300, 399],
    ['1', 100, 199],
  ])
})

test('the newest state was seen at least when it was first seen', () => {
  assert.deepEqual(spans(addresses([400, [1]]), 0), [['1', 400, 400]])
  assert.deepEqual(spans([], 500), [])
  assert.deepEqual(spans(addresses([400, []], [100, [1]]), 500), [['1', 100, 399]])
})

const POOLS: Partial<Record<RecordType, readonly unknown[]>> = {
  A: ['192.0.2.1', '192.0.2.2', '203.0.113.1'],
  MX: [10, 20].flatMap((priority) => ['mx.example', '.'].map((mail_server) => ({ priority, mail_server }))),
  TXT: [['v=spf1 "-all"'], ['a', 'b'], ['back\\\\slash \\255'], ['']],
  CNAME: ['target.example'],
}

/** States with records, whose sets differ from one to the next; times at least 2 seconds apart. */
function history(type: RecordType): fc.Arbitrary<RecordState[]> {
  const set = fc
    .subarray([...POOLS[type]!], { minLength: 1 })
    .map((list) => canonicalRecordSet(type, list) as readonly AnyRecord[])
  return fc.array(fc.tuple(set, fc.integer({ min: 2, max: 1_000 })), { minLength: 1, maxLength: 6 }).map((steps) => {
    let at = 1_700_000_000
    const states: RecordState[] = []
    for (const [records, gap] of steps) {
      at += gap
      if (JSON.stringify(states[0]?.records) !== JSON.stringify(records)) states.unshift({ first_seen: at, records })
    }
    return states
  })
}

type Imported = { domain: string; observed_at: string; dns: Record<string, unknown> }

for (const type of Object.keys(POOLS) as RecordType[]) {
  test(`${type}: an import restores the states`, () => {
    fc.assert(
      fc.property(history(type), (states) => {
        const { observations, refused } = read(cofFormat, cofLines(NAME, type, states, 2_000_000_000))
        assert.deepEqual(refused, [])
        const restored: RecordState[] = []
        for (const { observed_at, dns } of observations as Imported[]) {
          const records = canonicalRecordSet(type, dns[type]) as readonly AnyRecord[]
          if (JSON.stringify(restored[0]?.records) === JSON.stringify(records)) continue
          restored.unshift({ first_seen: Date.parse(observed_at) / 1000, records })
        }
        assert.deepEqual(restored, states)
      }),
    )
  })
}
