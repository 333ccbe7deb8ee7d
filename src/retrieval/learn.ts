/** Learns how rare each word is, from the frequencies of all segments. */

import { randomInt } from 'node:crypto'
import { emptyFrequencies, type Frequencies, ROW_WORDS, unpackFrequencies } from '../similar/frequencies.ts'
import { Histogram, Rarities } from '../similar/rarities.ts'
import { WORDS } from '../similar/vector.ts'
import type { Segment, Similar } from '../store/similar.ts'
import { turn } from '../store/turn.ts'

/** Rows of frequencies read at a time: some 50 KB. */
const ROWS = 64

/** A walk along the words of a segment. */
export type WordWalk = {
  /** The word it is at; above all words at the end. */
  word: number
  count: number
  /** Goes to the next word. A promise only where more has to be read. */
  next(): Promise<void> | void
}

/**
 * A table of rarities as of the segments given, in two walks over their words, none of which is held beside it; the event loop has
 * its turns meanwhile. What a segment that goes had to say is left out from there on.
 */
export async function learn(similar: Pick<Similar, 'frequencies'>, segments: readonly Segment[]): Promise<Rarities> {
  const histogram = new Histogram()
  await walkAll(similar, segments, (_, pages) => histogram.add(pages))
  const wordings = segments.reduce((sum, segment) => sum + segment.wordings, 0)
  const rarities = new Rarities(wordings, histogram, 2 * randomInt(WORDS / 2) + 1)
  await walkAll(similar, segments, (word, pages) => rarities.put(word, pages))
  return rarities
}

/** Takes every word once, with how many wordings of all the segments have it. */
async function walkAll(
  similar: Pick<Similar, 'frequencies'>,
  segments: readonly Segment[],
  take: (word: number, pages: number) => void,
): Promise<void> {
  const numbers = segments.map(({ segment }) => segment)
  for (const walk = await wordsOfAll(similar, numbers); walk.word !== Number.POSITIVE_INFINITY; ) {
    take(walk.word, walk.count)
    const more = walk.next()
    if (more) await more
  }
}

/** The words of several segments side by side, each once. */
export async function wordsOfAll(
  similar: Pick<Similar, 'frequencies'>,
  segments: readonly number[],
): Promise<WordWalk> {
  const walks = await Promise.all(segments.map((segment) => wordsOf(similar, segment)))
  const all: WordWalk = { word: -1, count: 0, next }
  function next(): Promise<void> | void {
    const reading: Promise<void>[] = []
    for (const walk of walks) {
      const more = walk.word === all.word ? walk.next() : undefined
      if (more) reading.push(more)
    }
    if (reading.length > 0) return Promise.all(reading).then(settle)
    settle()
  }
  function settle(): void {
    all.word = Number.POSITIVE_INFINITY
    all.count = 0
    for (const walk of walks) if (walk.word < all.word) all.word = walk.word
    for (const walk of walks) if (walk.word === all.word) all.count += walk.count
  }
  settle()
  return all
}

/** The words of a segment, ascending, each with how many wordings have it. */
export async function wordsOf(similar: Pick<Similar, 'frequencies'>, segment: number): Promise<WordWalk> {
  const row: Frequencies = emptyFrequencies(ROW_WORDS)
  let [rows, at, place, last] = [await similar.frequencies(segment, -1, ROWS), 0, -1, -1]
  const walk: WordWalk = { word: -1, count: 0, next }
  function next(): Promise<void> | void {
    place++
    if (place < row.size) {
      walk.word = row.words[place]!
      walk.count = row.counts[place]!
      return
    }
    if (at < rows.length) return openRow()
    return rows.length === 0 ? end() : readOn()
  }
  function openRow(): void {
    last = rows[at]!.last
    unpackFrequencies(rows[at++]!.counts, row)
    place = -1
    next()
  }
  function end(): void {
    walk.word = Number.POSITIVE_INFINITY
  }
  async function readOn(): Promise<void> {
    await turn()
    rows = await similar.frequencies(segment, last, ROWS)
    at = 0
    if (rows.length === 0) end()
    else openRow()
  }
  await next()
  return walk
}
