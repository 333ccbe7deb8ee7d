/** The Common Output Format: one line per record and uninterrupted time of being observed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Interruption } from '../../src/apply/change.ts'
import { cofLines, type RecordState } from '../../src/export/cof.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { AnyRecord } from '../../src/values/records/dns-record.ts'

const NAME = 'one.example' as DomainName

/** States of type A, each from its first to its last observation. */
const addresses = (...lists: [first: number, last: number, hosts: number[]][]): RecordState[] =>
  lists.map(([first_seen, last_seen, hosts]) => ({
    first_seen,
    last_seen,
    records: hosts.map((host) => ({ ipv4_address: `192.0.2.${host}` })) as AnyRecord[],
  }))
const spans = (states: RecordState[], ...interruptions: Interruption[]) =>
  cofLines(NAME, 'A', { states, interruptions }).map((line) => {
    const { rrname, rrtype, rdata, time_first, time_last } = JSON.parse(line)
    assert.deepEqual([rrname, rrtype], [NAME, 'A'])
    return [rdata.slice('192.0.2.'.length), time_first, time_last]
  })

test('a record has one line per uninterrupted time, the latest first, which ends when it was last observed', () => {
  const states = addresses([400, 450, [1, 3]], [300, 320, [1, 2]], [200, 250, []], [100, 110, [1]])
  assert.deepEqual(spans(states), [
    ['3', 400, 450],
    ['1', 300, 450],
    ['2', 300, 320],
    ['1', 100, 110],
  ])
})

test('an interruption within a state ends every line of its records', () => {
  assert.deepEqual(spans(addresses([100, 400, [1, 2]]), { last_seen: 150, seen_again: 300 }), [
    ['1', 300, 400],
    ['2', 300, 400],
    ['1', 100, 150],
    ['2', 100, 150],
  ])
})

test('an interruption between two states ends the line of a record that both have', () => {
  const states = addresses([300, 300, [1, 2]], [100, 150, [1]])
  assert.deepEqual(spans(states), [
    ['2', 300, 300],
    ['1', 100, 300],
  ])
  assert.deepEqual(spans(states, { last_seen: 150, seen_again: 300 }), [
    ['1', 300, 300],
    ['2', 300, 300],
    ['1', 100, 150],
  ])
})

test('interruptions older than the states that were read change nothing', () => {
  const states = addresses([300, 400, [1]])
  assert.deepEqual(spans(states, { last_seen: 50, seen_again: 100 }, { last_seen: 320, seen_again: 350 }), [
    ['1', 350, 400],
    ['1', 300, 320],
  ])
})

test('a type without states or records has no lines', () => {
  assert.deepEqual(spans([]), [])
  assert.deepEqual(spans(addresses([400, 500, []], [100, 100, [1]])), [['1', 100, 100]])
})
