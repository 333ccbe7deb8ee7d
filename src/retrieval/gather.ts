/** The postings of new wordings, gathered by word: what a new segment is made of. */

import { type Group, placeOf } from '../similar/postings.ts'
import type { Rarities } from '../similar/rarities.ts'
import { emptyVector, unpackVector } from '../similar/vector.ts'
import { countWeight, LEVELS, levelOf, rarity } from '../similar/weights.ts'
import type { Indexing, Wording } from '../store/similar.ts'

/** The most wordings of a new segment. */
export const FRESH = 4096
/** Bytes of vectors after which no more are taken, some three million words: all of them are sorted in memory. */
const BYTES = 2 ** 23
/** Wordings read at a time. */
const READ = 64

/** A word of a page in one number, so that they can be sorted: 26 bits of the word, 12 of the page's place, 8 of the count. */
const COUNTS = 2 ** 8
const PLACES = FRESH * COUNTS

/** A word with its postings in order of place, and how many wordings have it. */
export type Gathered = { word: number; groups: Group[]; count: number }

/** The wordings above `after`, as many as make one segment; `isFull`: more may follow. */
export async function fresh(
  indexing: Pick<Indexing, 'wordings'>,
  after: number,
): Promise<{ wordings: Wording[]; isFull: boolean }> {
  const wordings: Wording[] = []
  for (let bytes = 0; wordings.length < FRESH && bytes < BYTES; ) {
    const some = await indexing.wordings(wordings.at(-1)?.wording ?? after, READ)
    for (const { vector } of some) bytes += vector.length
    wordings.push(...some)
    if (some.length < READ) return { wordings, isFull: false }
  }
  return { wordings, isFull: true }
}

/** The words of at most 4,096 wordings (ascending), each with its postings. */
export function* gather(wordings: readonly Wording[], known: Rarities): Generator<Gathered> {
  const entries = entriesOf(wordings)
  const lengths = lengthsOf(entries, wordings.length, known)
  const levels: number[][] = Array.from({ length: LEVELS }, () => [])
  for (const [word, from, end] of wordsOf(entries)) {
    for (let at = from; at < end; at++) {
      const place = placeAt(entries[at]!)
      levels[levelOf(countWeight(countAt(entries[at]!)) / lengths[place]!)]!.push(wordings[place]!.wording)
    }
    yield { word, groups: groupsOf(word, levels), count: end - from }
  }
}

/** Every word of every wording, in order of word and wording. */
function entriesOf(wordings: readonly Wording[]): Float64Array {
  const vectors = wordings.map(({ vector }) => {
    const unpacked = emptyVector(256)
    unpackVector(vector, unpacked)
    return unpacked
  })
  const entries = new Float64Array(vectors.reduce((sum, { size }) => sum + size, 0))
  let next = 0
  for (const [place, { size, words, counts }] of vectors.entries())
    for (let at = 0; at < size; at++)
      entries[next++] = words[at]! * PLACES + place * COUNTS + Math.min(COUNTS - 1, counts[at]!)
  return entries.sort()
}

function placeAt(entry: number): number {
  return Math.floor((entry % PLACES) / COUNTS)
}

function countAt(entry: number): number {
  return entry % COUNTS
}

/** Each word with where its entries begin and end. */
function* wordsOf(entries: Float64Array): Generator<[word: number, from: number, end: number]> {
  for (let from = 0; from < entries.length; ) {
    const word = Math.floor(entries[from]! / PLACES)
    let end = from + 1
    while (end < entries.length && entries[end]! < (word + 1) * PLACES) end++
    yield [word, from, end]
    from = end
  }
}

/** The length of each wording's vector by what is known now: it depends little on how many wordings there are. */
function lengthsOf(entries: Float64Array, fresh: number, known: Rarities): Float64Array {
  const lengths = new Float64Array(fresh)
  const all = known.wordings + fresh
  for (const [word, from, end] of wordsOf(entries)) {
    const before = known.wordings === 0 ? 0 : known.pagesOf(word)
    const weight = rarity(all, Math.min(all, before + end - from))
    for (let at = from; at < end; at++)
      lengths[placeAt(entries[at]!)]! += (countWeight(countAt(entries[at]!)) * weight) ** 2
  }
  return lengths.map((squares) => Math.sqrt(squares))
}

/** The groups of a word from its wordings by level, which are empty afterwards. */
function groupsOf(word: number, levels: readonly number[][]): Group[] {
  const groups: Group[] = []
  for (let level = LEVELS - 1; level >= 0; level--) {
    const wordings = levels[level]!
    if (wordings.length === 0) continue
    groups.push({ place: placeOf(word, level), wordings: new Float64Array(wordings) })
    wordings.length = 0
  }
  return groups
}
