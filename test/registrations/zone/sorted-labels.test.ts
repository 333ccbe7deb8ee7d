/** The order of a zone's names, their parts, and the days of files. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { dayInName, dayInSerial, dayOfFile } from '../../../src/registrations/dates.ts'
import { labelHash, ZONE_PARTS, zoneSuffix } from '../../../src/registrations/zone/label-hash.ts'
import { LabelParts } from '../../../src/registrations/zone/parse-zone.ts'
import { comparePart, eachLabel, type OnLabel, sortPart } from '../../../src/registrations/zone/sorted-labels.ts'
import { parseName, slotOf } from '../../../src/values/domain-name.ts'
import type { Day } from '../../../src/values/time.ts'
import { without } from '../world.ts'

const SUFFIX = zoneSuffix('test')
const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/)
const labels = fc.array(fc.oneof(label, fc.constantFrom('a', 'b', 'ab', 'ba')))

const packed = (names: readonly string[]): Uint8Array =>
  Buffer.concat(names.flatMap((name) => [Buffer.from([name.length]), Buffer.from(name)]))

function unpacked(bytes: Uint8Array): string[] {
  const names: string[] = []
  eachLabel(bytes, (part, from, length) => names.push(Buffer.from(part.slice(from, from + length)).toString()))
  return names
}

test("the upper half of a name's hash is its slot", () => {
  fc.assert(
    fc.property(label, (name) => {
      const bytes = Buffer.from(`..${name}`)
      assert.equal(labelHash(bytes, 2, name.length, SUFFIX) >>> 16, slotOf(parseName(`${name}.test`)!))
    }),
  )
})

test('the same names give the same bytes in any order, with any duplicates', () => {
  fc.assert(
    fc.property(labels, fc.infiniteStream(fc.nat(9)), (names, dice) => {
      const sorted = sortPart(packed(names), SUFFIX)
      const shuffled = [...names, ...names].map((name) => ({ name, at: dice.next().value })).sort((a, b) => a.at - b.at)
      const again = sortPart(packed(shuffled.map(({ name }) => name)), SUFFIX)
      assert.deepEqual(Buffer.from(again.bytes), Buffer.from(sorted.bytes))
      assert.deepEqual(new Set(unpacked(sorted.bytes)), new Set(names))
      assert.equal(sorted.count, new Set(names).size)
    }),
  )
})

test('names with equal hashes are distinguished by their bytes', () => {
  const [one, other] = twins()
  const sorted = sortPart(packed([other, one, other, one]), SUFFIX)
  assert.deepEqual(unpacked(sorted.bytes), [one, other].sort())
  assert.deepEqual(compared([one], [other]), [[one], [other]])
  assert.deepEqual(compared([one, other], [other]), [[one], []])
})

/** Two labels with equal hashes within a part, in up to 24 bits. */
function twins(): [string, string] {
  const seen = new Map<number, string>()
  for (let number = 0; ; number++) {
    const name = number.toString(36)
    const hash = labelHash(Buffer.from(name), 0, name.length, SUFFIX)
    const twin = seen.get(hash)
    if (twin !== undefined) return [twin, name]
    seen.set(hash, name)
  }
}

function compared(first: readonly string[], second: readonly string[]): [string[], string[]] {
  const only: [string[], string[]] = [[], []]
  const into =
    (names: string[]): OnLabel =>
    (bytes, from, length) =>
      names.push(Buffer.from(bytes.slice(from, from + length)).toString())
  const [a, b] = [sortPart(packed(first), SUFFIX).bytes, sortPart(packed(second), SUFFIX).bytes]
  comparePart(a, b, SUFFIX, { onFirst: into(only[0]), onSecond: into(only[1]) })
  return [only[0].sort(), only[1].sort()]
}

test('the difference of two days is what only one of them contains', () => {
  fc.assert(
    fc.property(labels, labels, (first, second) => {
      const [a, b] = [new Set(first), new Set(second)]
      assert.deepEqual(compared(first, second), [without(a, b).sort(), without(b, a).sort()])
    }),
  )
})

test('names are in the part of their hash, also if they exceed the memory buffer, and the temporary file is unlinked', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-parts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const parts = new LabelParts(folder, SUFFIX)
  const names = Array.from({ length: 300_000 }, (_, number) => String(number).padEnd(40 + (number % 24), 'x'))
  for (const name of names) parts.add(Buffer.from(name), name.length)
  assert.deepEqual(readdirSync(folder), [])
  const read = Array.from({ length: ZONE_PARTS }, (_, number) => unpacked(parts.read(number)))
  for (const [number, part] of read.entries())
    for (const name of part.slice(0, 20))
      assert.equal(labelHash(Buffer.from(name), 0, name.length, SUFFIX) >>> 24, number)
  assert.equal(read.flat().length, names.length)
  assert.equal(new Set([...names, ...read.flat()]).size, names.length)
  parts.close()
})

test('the day of a file is the only one in its name or that of its serial, and is not in the future', () => {
  for (const [name, day] of [
    ['gov-2023-12-08.zone.gz', '2023-12-08'],
    ['/a/2020-01-01/com.20231208.txt', '2023-12-08'],
    ['2023-12-08-to-2023-12-08.gz', '2023-12-08'],
    ['2023-12-08-to-2023-12-09.gz', null],
    ['2023-02-30.gz', null],
    ['120231208.gz', null],
    ['com.txt.gz', null],
  ] as const)
    assert.equal(dayInName(name), day, name)
  for (const [serial, day] of [
    [2026111901, '2026-11-19'],
    [1702002300, '2023-12-08'],
    [2026134501, null],
    [4294967295, null],
    [2023, null],
    [0, null],
  ] as const)
    assert.equal(dayInSerial(serial), day, String(serial))
  const now = Date.UTC(2026, 10, 20) / 1000
  assert.equal(dayOfFile([null, '2026-11-21' as Day, '2026-11-19' as Day], now), '2026-11-21')
  assert.throws(() => dayOfFile(['2026-11-22' as Day], now), /is in the future/)
  assert.throws(() => dayOfFile([null, null], now), /its day is unknown: set it with --date YYYY-MM-DD/)
})
