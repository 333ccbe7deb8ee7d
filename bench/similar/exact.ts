/**
 * The yardstick of /similar: exact cosines of every page with some of them, by words themselves and in one pass over
 * all.
 */

import { hash } from 'node:crypto'
import { Dictionary } from './dictionary.ts'
import { wordsOf } from './words.ts'

type Page = { name: string; text: string }
/** `cosine`: rounded to four decimals. */
export type Neighbour = { target: string; cosine: number }

/**
 * What is right of each query: `neighbours` of it, the most similar first, then by name, the query left out and who
 * shares no word that tells too. `cosineOf` answers for any page with any other, not rounded. `vectors`: how many
 * differ.
 */
export type Truth = {
  neighbours: Map<string, Neighbour[]>
  cosineOf(query: string, target: string): number
  vectors: number
}

/** Weight of a word in a vector, from how often it says it, how many vectors have it and how many vectors there are. */
export type Weighting = { tf(times: number): number; idf(df: number, vectors: number): number }

/** That of /similar. */
export const WEIGHTING: Weighting = {
  tf: (times) => 1 + Math.log(times),
  idf: (df, vectors) => Math.log((vectors + 1) / df),
}

const STEPS = 10_000
/** A vector's entry is the number of its word times this, plus how often the page says it. */
const TIMES = 65_536

/**
 * The `depth` nearest of each query among all pages, exactly. Pages that say the same words as often are one vector, by
 * which words are counted. 500,000 pages and 200 queries take some 130 s of a core and 1.7 GB, most of it for cutting
 * texts into words.
 */
export function exactTruth(
  pages: Iterable<Page>,
  queries: readonly string[],
  depth: number,
  weighting = WEIGHTING,
): Truth {
  const gathered = gather(pages)
  const weigh = weigher(gathered, weighting)
  const norms = Float64Array.from(gathered.vectors, (vector) => Math.sqrt(sumOfSquares(vector, weigh)))
  const asked = queries.map((query) => gathered.places.get(query)!)
  const scores = scoresOf(gathered, asked, weigh, norms)
  const neighbours = new Map(queries.map((query, at) => [query, nearest(gathered.names, query, scores[at]!, depth)]))
  const cosineOf = (query: string, target: string) => {
    const [a, b] = [gathered.places.get(query)!, gathered.places.get(target)!]
    const dot = dotOf(gathered.vectors[a]!, gathered.vectors[b]!, weigh)
    return dot === 0 ? 0 : Math.min(1, dot / (norms[a]! * norms[b]!))
  }
  return { neighbours, cosineOf, vectors: gathered.vectors.length }
}

/**
 * The share of the first `k` of a query that `returned` holds, on average. A page counts if it is as similar as the
 * exact page of rank k, so that it does not matter which of several equals came; where fewer than k are similar at all,
 * these are expected.
 */
export function recallAt(k: number, returned: ReadonlyMap<string, readonly string[]>, truth: Truth): number {
  let sum = 0
  let queries = 0
  for (const [query, neighbours] of truth.neighbours) {
    const expected = Math.min(k, neighbours.length)
    if (expected === 0) continue
    const least = neighbours[expected - 1]!.cosine
    const found = new Set(
      returned
        .get(query)
        ?.slice(0, k)
        .filter((target) => target !== query),
    )
    const hits = [...found].filter((target) => rounded(truth.cosineOf(query, target)) >= least).length
    sum += Math.min(expected, hits) / expected
    queries++
  }
  return queries === 0 ? 1 : sum / queries
}

function rounded(cosine: number): number {
  return Math.round(cosine * STEPS) / STEPS
}

/** `vectors`: entries by word. `dfs`: by word. `names`: of each vector's pages. `places`: the vector of each page. */
type Gathered = { vectors: Float64Array[]; dfs: Uint32Array; names: string[][]; places: Map<string, number> }
type Weigh = (entry: number) => number

function gather(pages: Iterable<Page>): Gathered {
  const words = new Dictionary()
  const vectors: Float64Array[] = []
  const names: string[][] = []
  const places = new Map<string, number>()
  const known = new Map<string, number>()
  for (const { name, text } of pages) {
    const vector = vectorOf(text, words)
    const key = hash('sha256', new Uint8Array(vector.buffer), 'base64')
    const place = known.get(key) ?? vectors.length
    if (place === vectors.length) {
      known.set(key, place)
      vectors.push(vector)
      names.push([])
    }
    names[place]!.push(name)
    places.set(name, place)
  }
  return { vectors, dfs: dfsOf(vectors, words.size), names, places }
}

/** Ascending by word. */
function vectorOf(text: string, words: Dictionary): Float64Array {
  const numbers = new Float64Array(wordsOf(text).map((word) => words.numberOf(word))).sort()
  let length = 0
  for (let at = 0; at < numbers.length; ) {
    const word = numbers[at]!
    const start = at
    while (numbers[at] === word) at++
    numbers[length++] = word * TIMES + Math.min(at - start, TIMES - 1)
  }
  return numbers.slice(0, length)
}

function dfsOf(vectors: readonly Float64Array[], words: number): Uint32Array {
  const dfs = new Uint32Array(words)
  for (const vector of vectors) for (const entry of vector) dfs[Math.floor(entry / TIMES)]!++
  return dfs
}

function weigher({ vectors, dfs }: Gathered, { tf, idf }: Weighting): Weigh {
  const idfs = Float64Array.from(dfs, (df) => idf(df, vectors.length))
  const tfs = Float64Array.from({ length: TIMES }, (_, times) => tf(times))
  return (entry) => idfs[Math.floor(entry / TIMES)]! * tfs[entry % TIMES]!
}

function sumOfSquares(vector: Float64Array, weigh: Weigh): number {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += weigh(vector[at]!) ** 2
  return sum
}

function dotOf(one: Float64Array, other: Float64Array, weigh: Weigh): number {
  let sum = 0
  for (let a = 0, b = 0; a < one.length && b < other.length; ) {
    const difference = Math.floor(one[a]! / TIMES) - Math.floor(other[b]! / TIMES)
    if (difference === 0) sum += weigh(one[a]!) * weigh(other[b]!)
    if (difference <= 0) a++
    if (difference >= 0) b++
  }
  return sum
}

/** For each query the cosine of each vector in steps of 0.0001. */
function scoresOf({ vectors, dfs }: Gathered, asked: number[], weigh: Weigh, norms: Float64Array): Uint16Array[] {
  const askers = askersOf(
    asked.map((place) => vectors[place]!),
    dfs.length,
    weigh,
  )
  const scores = asked.map(() => new Uint16Array(vectors.length))
  const dots = new Float64Array(asked.length)
  vectors.forEach((vector, place) => {
    dots.fill(0)
    for (let at = 0; at < vector.length; at++) {
      const asker = askers[Math.floor(vector[at]! / TIMES)]
      if (asker === undefined) continue
      const weight = weigh(vector[at]!)
      for (let each = 0; each < asker.length; each += 2) dots[asker[each]!]! += weight * asker[each + 1]!
    }
    dots.forEach((dot, at) => {
      if (dot > 0) scores[at]![place] = Math.round(Math.min(1, dot / (norms[place]! * norms[asked[at]!]!)) * STEPS)
    })
  })
  return scores
}

/** By word: pairs of a query that says it and its weight there. */
function askersOf(queries: Float64Array[], words: number, weigh: Weigh): (number[] | undefined)[] {
  const askers = new Array<number[] | undefined>(words)
  queries.forEach((vector, at) => {
    for (const entry of vector) {
      const word = Math.floor(entry / TIMES)
      askers[word] ??= []
      askers[word].push(at, weigh(entry))
    }
  })
  return askers
}

function nearest(names: readonly string[][], query: string, scores: Uint16Array, depth: number): Neighbour[] {
  const least = leastOf(names, scores, depth + 1)
  const found: Neighbour[] = []
  scores.forEach((score, place) => {
    if (score < least) return
    for (const target of names[place]!) if (target !== query) found.push({ target, cosine: score / STEPS })
  })
  return found.sort((a, b) => b.cosine - a.cosine || (a.target < b.target ? -1 : 1)).slice(0, depth)
}

/** The highest score, but not 0, that at least so many pages reach. */
function leastOf(names: readonly string[][], scores: Uint16Array, count: number): number {
  const having = new Float64Array(STEPS + 1)
  scores.forEach((score, place) => {
    having[score]! += names[place]!.length
  })
  let least = STEPS + 1
  for (let rest = count; rest > 0 && least > 1; ) rest -= having[--least]!
  return least
}
