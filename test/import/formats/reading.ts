/** Reads the lines of a format in tests, and generates hostile lines for every format. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { observationsOf } from '../../../src/import/formats/observations-from-sightings.ts'
import type { ImportFormat, ParsedLine, Sighting } from '../../../src/import/formats/sighting.ts'
import { writeObservation } from '../../../src/observe/observation-writer.ts'
import { parseInstant } from '../../../src/values/time.ts'

/** `observations`: as lines of an observation file, parsed again. `refused`: by line number. */
export type Read = { observations: unknown[]; sightings: Sighting[]; refused: [number, string][]; passedOver: number }

export const NOON = parseInstant('2026-11-20T12:00:00Z')!

export function read(format: ImportFormat, lines: readonly string[], observedAt: number | null = null): Read {
  const reader = format(observedAt)
  const made: Read = { observations: [], sightings: [], refused: [], passedOver: 0 }
  const keep = (taken: ParsedLine, line: number): void => {
    if (typeof taken === 'string') made.refused.push([line, taken])
    else if (taken?.length === 0) made.passedOver++
    else made.sightings.push(...(taken ?? []))
  }
  for (const [index, line] of lines.entries()) keep(reader.parseLine(line), index + 1)
  keep(reader.end(), lines.length)
  const sorted = made.sightings.toSorted((a, b) => (a.name === b.name ? a.at - b.at : a.name < b.name ? -1 : 1))
  for (const each of observationsOf(sorted)) if (each) made.observations.push(JSON.parse(writeObservation(each)))
  return made
}

/** Returns the parts of the only observation that the lines give. */
export function dnsOf(format: ImportFormat, ...lines: string[]): unknown {
  const { observations, refused } = read(format, lines)
  assert.deepEqual(refused, [])
  assert.equal(observations.length, 1)
  return (observations[0] as { dns: unknown }).dns
}

/** Returns why the line is rejected. */
export function whyRefused(format: ImportFormat, line: string, observedAt: number | null = null): string {
  const { refused } = read(format, [line], observedAt)
  assert.equal(refused.length, 1, 'it is not refused')
  return refused[0]![1]
}

/** Returns a file of the sample data as text, or null if it is absent. */
export function sample(name: string): string | null {
  const path = fileURLToPath(new URL(`../../../../shared/data/${name}`, import.meta.url))
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

export const NOT_HERE = 'the sample data is not here'

const DEEP = '['.repeat(100_000)
const VALUES = [
  'null',
  'true',
  '-0',
  '1e400',
  '-1e400',
  '123456789012345678901234567890',
  '""',
  '"\\ud800"',
  '"\\u0000"',
  '[]',
  '[[]]',
  '[null]',
  '{}',
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"type":"A"},"constructor":{"prototype":1}}',
  `"${'x'.repeat(1_000_000)}"`,
  `"${'\\\\'.repeat(400_000)}"`,
  `"${'\\" '.repeat(300_000)}"`,
]

/** Generates lines with every value at every position of a valid line, and some that are no lines of the format. */
export function hostileLines(good: string): string[] {
  const lines = ['', '\0', '{', '}', '{}', '[]', 'null', '"x"', DEEP, `{"name":${DEEP}`, 'x'.repeat(1_048_576)]
  const places = [...good.matchAll(/"[^"]*"(?!:)|\b\d+\b|\[[^[\]]*\]|\{[^{}]*\}/g)]
  for (const { index, 0: old } of places)
    for (const value of VALUES) lines.push(good.slice(0, index) + value + good.slice(index + old.length))
  for (const key of new Set([...good.matchAll(/"([^"]*)":/g)].map(([, key]) => key!)))
    for (const other of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])
      lines.push(good.replace(`"${key}":`, `"${other}":`))
  return lines
}

/** Checks that no line makes the reader throw. */
export function standsHostileLines(format: ImportFormat, good: readonly string[]): void {
  test('a hostile line is rejected or reports nothing, and never throws', () => {
    for (const line of good) {
      for (const hostile of hostileLines(line)) read(format, [hostile, line, hostile], NOON)
      for (let end = 0; end < line.length; end += 7) read(format, [line.slice(0, end), line], NOON)
    }
  })
}
