/** Finds known names by a part of them, in the sets of names of the inverse index. */

import { positionOf } from '../../inverse/entries/block.ts'
import { rotationRange, unpackRotation } from '../../inverse/entries/rotation.ts'
import {
  forwardNamePrefix,
  KEY_KIND,
  keysOfLastLabel,
  latin1Bytes,
  nameOfSetKey,
  nameSetKey,
} from '../../inverse/entries/value-key.ts'
import type { NameFilter, NameQuery } from '../../search/name-query.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { NamePage } from '../port/inverse.ts'
import {
  forwardNameRange,
  furtherLabels,
  type InverseRead,
  joinPosition,
  type KeyRange,
  readKeys,
  scan,
  splitPosition,
} from './scan.ts'

/** Names of one page that are read at most, about 20 milliseconds: the filter may reject all of them. */
const MAX_SCANNED_NAMES = 20_000
/** Last labels of one page that are read at most. */
const MAX_LAST_LABELS = 100

/**
 * Where names are found: in a range of keys, or below the last labels in a range. Those count that `isFound` accepts,
 * which gets the place of the rotation in a name. So that each name is found once, the sources of a query have no name
 * in common.
 */
type Source = { range: KeyRange; isLastLabel?: true; isFound?: (name: string, at: number) => boolean }

/** What one page may still take and read. */
type Budget = { names: DomainName[]; limit: number; scanned: number; filter: NameFilter | null }

/** Reads one page of names (`InverseReader.names`). A position is the number of a source and the place in it. */
export function* readNames(
  query: NameQuery,
  filter: NameFilter | null,
  position: Uint8Array | null,
  limit: number,
): InverseRead<NamePage> {
  const sources = sourcesOf(query)
  const budget: Budget = { names: [], limit, scanned: 0, filter }
  let after = position === null ? null : Buffer.from(position.subarray(1)).toString('latin1')
  for (let index = position?.[0] ?? 0; index < sources.length; index++) {
    const next = yield* readSource(sources[index]!, after || null, budget)
    if (next !== null) return pageOf(budget, index, next)
    if (isSpent(budget) && index + 1 < sources.length) return pageOf(budget, index + 1, '')
    after = null
  }
  return { names: budget.names, position: null }
}

function pageOf({ names }: Budget, source: number, place: string): NamePage {
  return { names, position: latin1Bytes(String.fromCharCode(source) + place) }
}

function isSpent({ names, limit, scanned }: Budget): boolean {
  return names.length >= limit || scanned >= MAX_SCANNED_NAMES
}

/** Returns the place of the first name that was not read; null at the end. */
function* readSource(source: Source, after: string | null, budget: Budget): InverseRead<string | null> {
  const { range, isFound, isLastLabel } = source
  if (!isLastLabel) return yield* readRange(range, isFound, after, budget)
  const start = after === null ? null : splitPosition(after)
  let inner = start?.inner ?? null
  const { keys, end } = yield* readKeys(range, start && positionOf(start.host, 0), MAX_LAST_LABELS)
  for (const [index, key] of keys.entries()) {
    const label = unpackRotation(key.slice(1)).name
    // a label has one key for each place in it, and counts at the first one in the range
    const isFirst = keysOfLastLabel(label).every((other) => other >= key || other < range.from)
    const below = furtherLabels(nameSetKey('reversedName', label.slice(1)))
    const next = isFirst ? yield* readRange(below, isFound, inner, budget) : null
    if (next !== null) return joinPosition(key, next)
    inner = null
    budget.scanned++
    const following = keys[index + 1]
    if (isSpent(budget) && following !== undefined) return joinPosition(following, '')
  }
  return end
}

function* readRange(
  range: KeyRange,
  isFound: Source['isFound'],
  after: string | null,
  budget: Budget,
): InverseRead<string | null> {
  const { names, limit, filter } = budget
  const { next } = yield* scan([range], after, filter === null ? limit : MAX_SCANNED_NAMES, (entry) => {
    if (isSpent(budget)) return false
    budget.scanned++
    const { name, at } = placeOfKey(entry.keyText())
    if ((!isFound || isFound(name, at)) && (filter === null || filter(name))) names.push(name as DomainName)
    return true
  })
  return next
}

/** The name of a key of a set of names, and the place of its rotation, 0 if it is not rotated. */
function placeOfKey(key: string): { name: string; at: number } {
  return key[0] === KEY_KIND.rotatedName ? unpackRotation(key.slice(1)) : { name: nameOfSetKey(key), at: 0 }
}

/** The sources of a query, in the order of the answer. */
function sourcesOf({ by, text }: NameQuery): Source[] {
  if (by === 'below') return [{ range: furtherLabels(nameSetKey('reversedName', text)) }]
  const starting: Source = { range: forwardNameRange(forwardNamePrefix(text)) }
  if (by === 'start') return [starting]
  const isEnd = by === 'end'
  const lastLabel: Source = { range: rotations(KEY_KIND.lastLabel, text, isEnd), isLastLabel: true }
  const rotated: Source = { range: rotations(KEY_KIND.rotatedName, text, isEnd) }
  if (isEnd) {
    if (!text.includes('.')) return [lastLabel]
    const whole = nameSetKey('forwardName', text)
    return [{ range: { from: whole, to: `${whole}\x00` } }, rotated]
  }
  return [
    starting,
    { ...rotated, isFound: (name, at) => name.indexOf(text) === at },
    { ...lastLabel, isFound: (name) => name.indexOf(text) >= name.lastIndexOf('.') },
  ]
}

function rotations(kind: string, text: string, isEnd: boolean): KeyRange {
  const { from, to } = rotationRange(text, isEnd)
  return { from: kind + from, to: kind + to }
}
