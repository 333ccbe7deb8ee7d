// Tests instants and days: the texts that are parsed and written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as time from '../../src/values/time.ts'

const {
  parseInstant,
  formatInstant,
  parseFormattedInstant: parseSeen,
  parseDay,
  dayOf,
  addDays,
  startOfDay: startOf,
  secondsToMidnight,
} = time
const END = 253_402_300_799 // 9999-12-31T23:59:59
const instant = fc.oneof(fc.integer({ min: 0, max: END }), fc.integer({ min: 0, max: 4_000_000_000 }))
const day = (text: string) => parseDay(text)!

test('an RFC 3339 date-time with any offset is parsed to whole seconds in UTC', () => {
  const pairs: [string, number][] = [
    ['1970-01-01T00:00:00Z', 0],
    ['2026-11-20T03:04:05Z', 1795143845],
    ['2026-11-20t03:04:05z', 1795143845],
    ['2026-11-20T03:04:05.999999999Z', 1795143845],
    ['2026-11-20T05:34:05.1+02:30', 1795143845],
    ['2026-11-19T22:04:05-05:00', 1795143845],
    ['2026-11-20T03:04:05-00:00', 1795143845],
    ['1969-12-31T23:00:00-01:00', 0],
    ['2000-02-29T00:00:00Z', 951782400],
    ['2016-12-31T23:59:60Z', 1483228800],
    ['2017-01-01T08:59:60.5+09:00', 1483228800],
    ['9999-12-31T23:59:59Z', END],
  ]
  for (const [text, seconds] of pairs) assert.equal(parseInstant(text), seconds, text)
})

test('a text that is not an RFC 3339 date-time, and a day or time that does not exist, are rejected', () => {
  const texts = [
    '',
    '2026-11-20',
    '2026-11-20T03:04:05',
    '2026-11-20 03:04:05Z',
    '2026-11-20T03:04Z',
    '2026-11-20T03:04:05.Z',
    '2026-11-20T03:04:05,5Z',
    '2026-11-20T03:04:05Z ',
    ' 2026-11-20T03:04:05Z',
    '2026-11-20T03:04:05+0200',
    '2026-11-20T03:04:05+02',
    '2026-11-20T03:04:05+24:00',
    '2026-11-20T03:04:05+02:60',
    '2026-11-20T24:00:00Z',
    '2026-11-20T03:60:00Z',
    '2026-11-20T03:04:61Z',
    '2026-11-20T03:04:60Z',
    '2026-11-31T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '9999-12-31T23:59:60Z',
    '+002026-11-20T03:04:05Z',
    '２026-11-20T03:04:05Z',
  ]
  for (const text of texts) assert.equal(parseInstant(text), null, text)
})

test('an instant is written in UTC, without zone and fraction, and can be parsed again', () => {
  assert.equal(formatInstant(1795143845), '2026-11-20T03:04:05')
  fc.assert(
    fc.property(instant, (seconds) => {
      const text = formatInstant(seconds)
      assert.equal(text, new Date(seconds * 1000).toISOString().slice(0, 19))
      assert.equal(parseSeen(text), seconds)
      assert.equal(parseInstant(`${text}Z`), seconds)
      assert.equal(dayOf(seconds), text.slice(0, 10))
    }),
    { numRuns: 3000 },
  )
})

test('the offset is the difference between the local text and UTC', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 86_400, max: 4_000_000_000 }),
      fc.integer({ min: -1439, max: 1439 }),
      (seconds, minutes) => {
        const clock = formatInstant(Math.abs(minutes) * 60).slice(11, 16)
        const text = `${formatInstant(seconds + minutes * 60)}${minutes < 0 ? '-' : '+'}${clock}`
        assert.equal(parseInstant(text), seconds)
      },
    ),
  )
})

test('a first_seen value is parsed in its exact form only', () => {
  assert.equal(parseSeen('2026-11-20T03:04:05'), 1795143845)
  for (const text of [
    '2026-11-20T03:04:05Z',
    '2026-11-20t03:04:05',
    '2026-11-20T03:04',
    '2016-12-31T23:59:60',
    '2026-11-31T00:00:00',
    '1969-12-31T23:59:59',
    '',
  ])
    assert.equal(parseSeen(text), null, text)
})

test('a day must exist in the calendar', () => {
  for (const text of ['2026-11-20', '2024-02-29', '2000-02-29', '1969-12-31', '9999-12-31'])
    assert.equal(parseDay(text), text)
  for (const text of [
    '2026-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-1-1',
    '2026-11-20 ',
    '20261120',
    '2026/11/20',
    '2026-00-01',
    '',
  ])
    assert.equal(parseDay(text), null, text)
})

test('a string of ten characters is a day exactly if the calendar of JavaScript has it', () => {
  const number = (most: number, width: number) => fc.nat(most).map((value) => String(value).padStart(width, '0'))
  fc.assert(
    fc.property(number(9999, 4), number(13, 2), number(32, 2), (year, month, date) => {
      const text = `${year}-${month}-${date}`
      const parsed = new Date(`${text}T00:00:00Z`)
      const exists = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text)
      assert.equal(parseDay(text), exists ? text : null)
      if (exists) assert.equal(startOf(day(text)), parsed.getTime() / 1000)
    }),
    { numRuns: 3000 },
  )
})

test('days are counted across months and leap years', () => {
  assert.equal(addDays(day('2026-11-20'), 0), '2026-11-20')
  assert.equal(addDays(day('2024-02-28'), 1), '2024-02-29')
  assert.equal(addDays(day('2026-01-01'), -1), '2025-12-31')
  assert.equal(addDays(day('2026-11-20'), 30), '2026-12-20')
  assert.equal(addDays(day('9999-12-30'), 8), '9999-12-31')
  assert.equal(addDays(day('0000-01-02'), -8), '0000-01-01')
  fc.assert(
    fc.property(instant, fc.integer({ min: -10_000, max: 10_000 }), (seconds, days) => {
      const moved = seconds + days * 86_400
      if (moved >= 0 && moved <= END) assert.equal(addDays(dayOf(seconds), days), dayOf(moved))
    }),
  )
})

test('midnight is 1 to 86,400 seconds away', () => {
  assert.equal(secondsToMidnight(startOf(day('2026-11-20'))), 86_400)
  assert.equal(secondsToMidnight(startOf(day('2026-11-20')) - 1), 1)
  assert.equal(secondsToMidnight(1795143845), 75_355)
})
