/** The yardstick of /similar: exact cosines of some pages with every page, by words and in one pass over all pages. */

import { hash } from 'node:crypto'
import { VectorList } from './vector-list.ts'
import { WordNumbers } from './word-numbers.ts'
import { wordsOf } from './words.ts'

type Page = { name: string; text: string }
/** `cosine`: rounded to four decimals. */
export type ExactNeighbour = { target: string; cosine: number }

/**
 * The exact result. `neighbours`: those of each query, the most similar first, then by name. They exclude the query
 * itself and pages without a common word that has weight. `cosineOf` returns the exact cosine of any two pages.
 * `vectors`: the number of distinct vectors.
 */
export type ExactResult = {
  neighbours: Map<string, ExactNeighbour[]>
  cosineOf(query: string, target: string): number
  vectors: number
}

/**
 * The weight of a word in a vector: `tf` of its count there, times `idf` of its document frequency and the number of
 * vectors.
 */
export type Weighting = { tf(times: number): number; idf(df: number, vectors: number): number }

/** The weighting of /similar. */
export const WEIGHTING: Weighting = {
  tf: (times) => 1 + Math.log(times),
  idf: (df, vectors) => Math.log((vectors + 1) / df),
}

const COSINE_STEPS = 10_000
/** An entry of a vector is the number of its word times this factor, plus the count of the word on the page. */
const ENTRY_FACTOR = 65_536

/**
 * Finds the `depth` nearest pages of each query among all pages, exactly. Pages with the same word counts share one
 * vector, and document frequencies count vectors. 500,000 pages and 200 queries take about 130 s of one core and 1.7
 * GB, most of it to split texts into words.
 */
export function findExactNeighbours(
  pages: Iterable<Page>,
  queries: readonly string[],
  depth: number,
  weighting = WEIGHTING,
): ExactResult {
  const vectorSet = buildVectors(pages)
  const weigh = weigher(vectorSet, weighting)
  const norms = Float64Array.from(vectorSet.vectors, (vector) => Math.sqrt(sumOfSquares(vector, weigh)))
  const queryVectors = queries.map((query) => vectorSet.vectorOfPage.get(query)!)
  const scores = scoresOf(vectorSet, queryVectors, weigh, norms)
  const neighbours = new Map(queries.map((query, at) => [query, nearest(vectorSet.names, query, scores[at]!, depth)]))
  const cosineOf = (query: string, target: string) => {
    const [a, b] = [vectorSet.vectorOfPage.get(query)!, vectorSet.vectorOfPage.get(target)!]
    const dot = dotOf(vectorSet.vectors.at(a), vectorSet.vectors.at(b), weigh)
    return dot === 0 ? 0 : Math.min(1, dot / (norms[a]! * norms[b]!))
  }
  return { neighbours, cosineOf, vectors: vectorSet.vectors.length }
}

/**
 * Returns the average share of the first `k` neighbours that `returned` contains. A page counts if it is as similar as
 * the exact page of rank k, so the choice among equals does not matter. If fewer than k pages are similar at all, only
 * those are expected.
 */
export function recallAt(k: number, returned: ReadonlyMap<string, readonly string[]>, exact: ExactResult): number {
  let sum = 0
  let queries = 0
  for (const [query, neighbours] of exact.neighbours) {
    const expected = Math.min(k, neighbours.length)
    if (expected === 0) continue
    const minScore = neighbours[expected - 1]!.cosine
    const found = new Set(
      returned
        .get(query)
        ?.slice(0, k)
        .filter((target) => target !== query),
    )
    const hits = [...found].filter((target) => rounded(exact.cosineOf(query, target)) >= minScore).length
    sum += Math.min(expected, hits) / expected
    queries++
  }
  return queries === 0 ? 1 : sum / queries
}

function rounded(cosine: number): number {
  return Math.round(cosine * COSINE_STEPS) / COSINE_STEPS
}

/**
 * `vectors`: entries by word. `documentFrequencies`: by word. `names`: the pages of each vector. `vectorOfPage`: the
 * vector of each page.
 */
type VectorSet = {
  vectors: VectorList
  documentFrequencies: Uint32Array
  names: string[][]
  vectorOfPage: Map<string, number>
}
type Weigh = (entry: number) => number

function buildVectors(pages: Iterable<Page>): VectorSet {
  const words = new WordNumbers()
  const vectors = new VectorList()
  const names: string[][] = []
  const vectorOfPage = new Map<string, number>()
  const known = new Map<string, number>()
  for (const { name, text } of pages) {
    const vector = vectorOf(text, words)
    const key = hash('sha256', new Uint8Array(vector.buffer), 'base64')
    const vectorIndex = known.get(key) ?? vectors.length
    if (vectorIndex === vectors.length) {
      known.set(key, vectorIndex)
      vectors.push(vector)
      names.push([])
    }
    names[vectorIndex]!.push(name)
    vectorOfPage.set(name, vectorIndex)
  }
  return { vectors, documentFrequencies: countDocumentFrequencies(vectors, words.size), names, vectorOfPage }
}

/** Entries ascend by word. */
function vectorOf(text: string, words: WordNumbers): Float64Array {
  const numbers = new Float64Array(wordsOf(text).map((word) => words.numberOf(word))).sort()
  let length = 0
  for (let at = 0; at < numbers.length; ) {
    const word = numbers[at]!
    const start = at
    while (numbers[at] === word) at++
    numbers[length++] = word * ENTRY_FACTOR + Math.min(at - start, ENTRY_FACTOR - 1)
  }
  return numbers.slice(0, length)
}

function countDocumentFrequencies(vectors: VectorList, words: number): Uint32Array {
  const documentFrequencies = new Uint32Array(words)
  for (const vector of vectors) for (const entry of vector) documentFrequencies[Math.floor(entry / ENTRY_FACTOR)]!++
  return documentFrequencies
}

function weigher({ vectors, documentFrequencies }: VectorSet, { tf, idf }: Weighting): Weigh {
  const idfs = Float64Array.from(documentFrequencies, (df) => idf(df, vectors.length))
  const tfs = Float64Array.from({ length: ENTRY_FACTOR }, (_, times) => tf(times))
  return (entry) => idfs[Math.floor(entry / ENTRY_FACTOR)]! * tfs[entry % ENTRY_FACTOR]!
}

function sumOfSquares(vector: Float64Array, weigh: Weigh): number {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += weigh(vector[at]!) ** 2
  return sum
}

function dotOf(one: Float64Array, other: Float64Array, weigh: Weigh): number {
  let sum = 0
  for (let a = 0, b = 0; a < one.length && b < other.length; ) {
    const difference = Math.floor(one[a]! / ENTRY_FACTOR) - Math.floor(other[b]! / ENTRY_FACTOR)
    if (difference === 0) sum += weigh(one[a]!) * weigh(other[b]!)
    if (difference <= 0) a++
    if (difference >= 0) b++
  }
  return sum
}

/** Returns for each query the cosine of each vector, in steps of 0.0001. */
function scoresOf(
  { vectors, documentFrequencies }: VectorSet,
  queryVectors: number[],
  weigh: Weigh,
  norms: Float64Array,
): Uint16Array[] {
  const queriesByWord = groupQueriesByWord(
    queryVectors.map((vectorIndex) => vectors.at(vectorIndex)),
    documentFrequencies.length,
    weigh,
  )
  const scores = queryVectors.map(() => new Uint16Array(vectors.length))
  const dots = new Float64Array(queryVectors.length)
  for (let vectorIndex = 0; vectorIndex < vectors.length; vectorIndex++) {
    const vector = vectors.at(vectorIndex)
    dots.fill(0)
    for (let at = 0; at < vector.length; at++) {
      const queriesOfWord = queriesByWord[Math.floor(vector[at]! / ENTRY_FACTOR)]
      if (queriesOfWord === undefined) continue
      const weight = weigh(vector[at]!)
      for (let each = 0; each < queriesOfWord.length; each += 2)
        dots[queriesOfWord[each]!]! += weight * queriesOfWord[each + 1]!
    }
    dots.forEach((dot, at) => {
      if (dot > 0)
        scores[at]![vectorIndex] = Math.round(
          Math.min(1, dot / (norms[vectorIndex]! * norms[queryVectors[at]!]!)) * COSINE_STEPS,
        )
    })
  }
  return scores
}

/** Returns for each word the pairs of a query that contains it and its weight there. */
function groupQueriesByWord(queries: Float64Array[], words: number, weigh: Weigh): (number[] | undefined)[] {
  const queriesByWord = new Array<number[] | undefined>(words)
  queries.forEach((vector, at) => {
    for (const entry of vector) {
      const word = Math.floor(entry / ENTRY_FACTOR)
      queriesByWord[word] ??= []
      queriesByWord[word].push(at, weigh(entry))
    }
  })
  return queriesByWord
}

function nearest(names: readonly string[][], query: string, scores: Uint16Array, depth: number): ExactNeighbour[] {
  const minScore = minScoreOf(names, scores, depth + 1)
  const found: ExactNeighbour[] = []
  scores.forEach((score, vectorIndex) => {
    if (score < minScore) return
    for (const target of names[vectorIndex]!) if (target !== query) found.push({ target, cosine: score / COSINE_STEPS })
  })
  return found.sort((a, b) => b.cosine - a.cosine || (a.target < b.target ? -1 : 1)).slice(0, depth)
}

/** Returns the highest score above 0 that at least `count` pages reach. */
function minScoreOf(names: readonly string[][], scores: Uint16Array, count: number): number {
  const pagesByScore = new Float64Array(COSINE_STEPS + 1)
  scores.forEach((score, vectorIndex) => {
    pagesByScore[score]! += names[vectorIndex]!.length
  })
  let minScore = COSINE_STEPS + 1
  for (let rest = count; rest > 0 && minScore > 1; ) rest -= pagesByScore[--minScore]!
  return minScore
}
