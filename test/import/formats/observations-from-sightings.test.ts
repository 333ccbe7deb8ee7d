/** Tests how sightings of a name become observations: which answers belong together, and what they report. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observationsOf } from '../../../src/import/formats/observations-from-sightings.ts'
import type { Sighting } from '../../../src/import/formats/sighting.ts'
import { writeObservation } from '../../../src/observe/observation-writer.ts'
import type { DnsAnswer } from '../../../src/probe/probe-result.ts'
import type { RecordType } from '../../../src/values/records/dns-record.ts'
import { answered, name } from '../../observe/probe-results.ts'
import { NOON } from './reading.ts'

const FAILED: DnsAnswer = { outcome: 'failed', why: 'timeout' }
const A1 = answered('192.0.2.1')
const A2 = answered('192.0.2.2')

const asked = (seconds: number, type: RecordType, answer: DnsAnswer, domain = 'example.com'): Sighting => ({
  name: name(domain),
  at: NOON + seconds,
  kind: 'queried',
  type,
  answer,
})

/** Seconds after noon and the DNS part, or null for an observation without one. */
function visits(...sightings: Sighting[]): unknown[] {
  return [...observationsOf(sightings)].map((each) => {
    if (each === null) return null
    return [each.observed_at - NOON, JSON.parse(writeObservation(each)).dns]
  })
}

test('queries for a name within 60 seconds are one observation with the time of the first answer', () => {
  assert.deepEqual(
    visits(asked(0, 'A', A1), asked(30, 'MX', answered()), asked(59, 'AAAA', answered()), asked(60, 'NS', answered())),
    [
      [0, { status: 'ok', A: ['192.0.2.1'], AAAA: [], MX: [] }],
      [60, { status: 'ok', NS: [] }],
    ],
  )
})

test('a type that was queried again starts another observation', () => {
  assert.deepEqual(
    visits(asked(0, 'A', A1), asked(1, 'MX', answered()), asked(5, 'A', A2), asked(61, 'MX', answered())),
    [
      [0, { status: 'ok', A: ['192.0.2.1'], MX: [] }],
      [5, { status: 'ok', A: ['192.0.2.2'], MX: [] }],
    ],
  )
})

test('within an observation an answer counts more than a failure, before and after it', () => {
  assert.deepEqual(visits(asked(0, 'A', FAILED), asked(3, 'A', A1), asked(5, 'A', FAILED)), [
    [0, { status: 'ok', A: ['192.0.2.1'] }],
  ])
})

test('of two answers in the same second the first counts', () => {
  assert.deepEqual(visits(asked(0, 'A', A1), asked(0, 'A', A2), asked(0, 'A', A1)), [
    [0, { status: 'ok', A: ['192.0.2.1'] }],
  ])
})

test('servfail requires A and AAAA to fail in one observation, and an observation without knowledge is null', () => {
  assert.deepEqual(visits(asked(0, 'A', FAILED), asked(59, 'AAAA', FAILED)), [[0, { status: 'servfail' }]])
  assert.deepEqual(visits(asked(0, 'A', FAILED), asked(60, 'AAAA', FAILED)), [null, null])
})

test('a name with NXDOMAIN only for A exists', () => {
  assert.deepEqual(visits(asked(0, 'A', { outcome: 'nxdomain' }), asked(0, 'AAAA', answered('2001:db8::1'))), [
    [0, { status: 'ok', A: [], AAAA: ['2001:db8::1'] }],
  ])
})

test('names are kept apart', () => {
  const both = [asked(0, 'A', FAILED, 'a.example'), asked(0, 'AAAA', FAILED, 'b.example')]
  assert.deepEqual(visits(...both), [null, null])
})

test('of a name with any number of rows, only a part is held in memory', () => {
  const row = (at: number): Sighting => ({
    name: name('example.com'),
    at,
    kind: 'observed',
    type: 'A',
    records: [`192.0.2.${at % 2}`],
    until: at,
  })
  let taken = 0
  const rows = (function* () {
    for (; taken < 50_000; taken++) yield row(taken * 2)
  })()
  const observations = observationsOf(rows)
  observations.next()
  assert.ok(taken < 5000, `${taken} rows were taken before the first observation`)
  const rest = [...observations]
  assert.equal(rest.length, 49_999)
})
