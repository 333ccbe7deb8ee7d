/** Finds known names by a part of them, in the sets of names of the inverse index. */

import { keyOfPosition, positionOf } from '../../inverse/entries/block.ts'
import {
  KEY_KIND,
  knownNameOfKey,
  latin1Bytes,
  nameSetKey,
  ROTATION_MARK,
  rotatedText,
} from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { NameFilter, NamePage, NameQuery } from '../port/inverse.ts'
import {
  furtherLabels,
  type InverseRead,
  joinPosition,
  type KeyRange,
  prefixRange,
  scan,
  splitPosition,
} from './scan.ts'

/** Names of one page that are read at most, about 20 milliseconds: the filter may reject all of them. */
const MAX_SCANNED_NAMES = 20_000
/** Last labels of one page that are read at most. */
const MAX_LAST_LABELS = 100

/**
 * Where names are found: in a range of keys, of which those count that `isFound` accepts, or below the last labels in a
 * range. So that each name is found once, the sources of a query have no name in common.
 */
type Source =
  | { range: KeyRange; isFound?: (key: string, name: string) => boolean }
  | { lastLabels: KeyRange; isFound: (name: string) => boolean }

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
  if ('range' in source) return yield* readRange(source.range, source.isFound ?? null, after, budget)
  const start = after === null ? null : splitPosition(after)
  let inner = start?.inner ?? null
  const labels: string[] = []
  const found = yield* scan([source.lastLabels], start && positionOf(start.host, 0), MAX_LAST_LABELS, (entry) => {
    if (labels.length === MAX_LAST_LABELS) return false
    labels.push(entry.keyText())
    return true
  })
  for (const [index, key] of labels.entries()) {
    const label = rotatedText(key).slice(1)
    // a label has one key for each place in it, and counts at the first one in the range
    const isFirst = !keysInRange(label, source.lastLabels).some((other) => other < key)
    const below = furtherLabels(nameSetKey('reversedName', label))
    const next = isFirst ? yield* readRange(below, (_, name) => source.isFound(name), inner, budget) : null
    if (next !== null) return joinPosition(key, next)
    inner = null
    budget.scanned++
    const following = labels[index + 1]
    if (isSpent(budget) && following !== undefined) return joinPosition(following, '')
  }
  return found.next === null ? null : joinPosition(keyOfPosition(found.next), '')
}

/** The keys of a last label that are in a range. */
function keysInRange(label: string, { from, to }: KeyRange): string[] {
  const text = `.${label}`
  return Array.from(text, (_, at) => KEY_KIND.lastLabel + text.slice(at) + ROTATION_MARK + text.slice(0, at)).filter(
    (key) => key >= from && key < to,
  )
}

function* readRange(
  range: KeyRange,
  isFound: ((key: string, name: string) => boolean) | null,
  after: string | null,
  budget: Budget,
): InverseRead<string | null> {
  const { names, limit, filter } = budget
  const { next } = yield* scan([range], after, filter === null ? limit : MAX_SCANNED_NAMES, (entry) => {
    if (isSpent(budget)) return false
    budget.scanned++
    const key = entry.keyText()
    const name = knownNameOfKey(key)!
    if ((isFound === null || isFound(key, name)) && (filter === null || filter(name))) names.push(name as DomainName)
    return true
  })
  return next
}

/** The sources of a query, in the order of the answer. */
function sourcesOf(query: NameQuery): Source[] {
  const { text } = query
  if (query.by === 'below') return [{ range: furtherLabels(nameSetKey('reversedName', text)) }]
  const starting = { range: prefixRange(forwardPrefix(text)) }
  if (query.by === 'start') return [starting]
  if (query.by === 'end') {
    if (!text.includes('.')) {
      const lastLabels = prefixRange(KEY_KIND.lastLabel + text + ROTATION_MARK)
      return [{ lastLabels, isFound: () => true }]
    }
    const whole = nameSetKey('forwardName', text)
    return [
      { range: { from: whole, to: `${whole}\x00` } },
      { range: prefixRange(KEY_KIND.rotatedName + text + ROTATION_MARK) },
    ]
  }
  return [
    starting,
    {
      range: prefixRange(KEY_KIND.rotatedName + text),
      isFound: (key: string, name: string) => name.indexOf(text) === name.length - key.indexOf(ROTATION_MARK) + 1,
    },
    {
      lastLabels: prefixRange(KEY_KIND.lastLabel + text),
      isFound: (name: string) => name.indexOf(text) >= name.lastIndexOf('.'),
    },
  ]
}

/** What the keys of names begin with that begin with a text. */
function forwardPrefix(text: string): string {
  return KEY_KIND.forwardName + text.replaceAll('.', ROTATION_MARK)
}
