/** What a topic space would gain on the labelled texts (docs/decisions/0063-topic-space.md). */

import { termVectorOf } from '../../src/similar/text/term-vector.ts'
import { termsOf } from '../../src/similar/text/terms.ts'
import { countWeight, idf } from '../../src/similar/text/weights.ts'
import { type Metric, metric } from '../measure/report.ts'
import { seededRandom } from '../world/random.ts'
import { type LabelledPage, type Neighbours, precisionAt } from './labelled.ts'
import { rightSingularVectors } from './topic-space.ts'

/** The terms of a page with their weights. Its length is 1. */
type WeightedPage = Map<number, number>

const DIMENSIONS = 50
const CANDIDATES = 160
const TOPIC_SHARE = 0.2
const FOLDS = 5
/** A term of the space is on at least so many pages of the sample. */
const MIN_PAGES = 2
const SEED = 1

/** Each text counts once. */
export function rerankingMetrics(labelled: readonly LabelledPage[]): Metric[] {
  const pages = [...new Map(labelled.map((page) => [page.text, page])).values()]
  const weighted = weighPages(pages)
  const candidates = weighted.map((page, index) =>
    weighted
      .map((other, at) => ({ at, cosine: at === index ? 0 : dotProduct(page, other) }))
      .filter(({ cosine }) => cosine > 0)
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, CANDIDATES),
  )
  const reranked = (index: number, topics: readonly Float64Array[]): number[] =>
    candidates[index]!.map(({ at, cosine }) => ({
      at,
      score: (1 - TOPIC_SHARE) * cosine + TOPIC_SHARE * dense(topics[index]!, topics[at]!),
    }))
      .sort((a, b) => b.score - a.score)
      .map(({ at }) => at)
  const whole = projectPages(weighted, () => true)
  const folds = Array.from({ length: FOLDS }, (_, fold) => projectPages(weighted, (at) => at % FOLDS !== fold))
  return [
    ...precisionMetrics('cosine', pages, (index) => candidates[index]!.map(({ at }) => at)),
    ...precisionMetrics('topic space of all', pages, (index) => reranked(index, whole)),
    ...precisionMetrics('topic space without the queried', pages, (index) => reranked(index, folds[index % FOLDS]!)),
  ]
}

function precisionMetrics(
  title: string,
  pages: readonly LabelledPage[],
  neighboursOf: (index: number) => number[],
): Metric[] {
  const neighbours: Neighbours = (index, k) => neighboursOf(index).slice(0, k)
  return [
    metric(`${title}: first of the same category`, precisionAt(1, pages, neighbours).all, ''),
    metric(`${title}: first ten`, precisionAt(10, pages, neighbours).all, ''),
  ]
}

function weighPages(pages: readonly LabelledPage[]): WeightedPage[] {
  const vectors = pages.map(({ text }) => termVectorOf(termsOf(text).counts))
  const frequencies = new Map<number, number>()
  for (const { terms, size } of vectors)
    for (const term of terms.subarray(0, size)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  return vectors.map(({ terms, counts, size }) => {
    const weights = Array.from(terms.subarray(0, size), (term, at) => {
      return countWeight(counts[at]!) * idf(pages.length, frequencies.get(term)!)
    })
    const length = Math.hypot(...weights) || 1
    return new Map(weights.map((weight, at) => [terms[at]!, weight / length]))
  })
}

/** Returns the coordinates of all pages, with length 1, in the topic space of some of them. */
function projectPages(pages: readonly WeightedPage[], isInSample: (at: number) => boolean): Float64Array[] {
  const sample = pages.filter((_, at) => isInSample(at))
  const columns = columnsOf(sample)
  const starts = new Uint32Array(sample.length + 1)
  const entries: [column: number, weight: number][] = []
  sample.forEach((page, row) => {
    for (const [term, weight] of page) if (columns.has(term)) entries.push([columns.get(term)!, weight])
    starts[row + 1] = entries.length
  })
  const matrix = {
    width: columns.size,
    starts,
    columns: Uint32Array.from(entries, ([column]) => column),
    values: Float32Array.from(entries, ([, weight]) => weight),
  }
  const basis = rightSingularVectors(matrix, DIMENSIONS, seededRandom(SEED, 1, 2))
  return pages.map((page) => {
    const projected = new Float64Array(DIMENSIONS)
    for (const [term, weight] of page) {
      const from = (columns.get(term) ?? Number.NaN) * DIMENSIONS
      if (from >= 0) for (let at = 0; at < DIMENSIONS; at++) projected[at]! += weight * basis[from + at]!
    }
    const length = Math.hypot(...projected) || 1
    return projected.map((value) => value / length)
  })
}

function columnsOf(sample: readonly WeightedPage[]): Map<number, number> {
  const frequencies = new Map<number, number>()
  for (const page of sample) for (const term of page.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  const kept = [...frequencies].filter(([, pages]) => pages >= MIN_PAGES)
  return new Map(kept.map(([term], column) => [term, column]))
}

function dotProduct(one: WeightedPage, other: WeightedPage): number {
  if (one.size > other.size) return dotProduct(other, one)
  let dot = 0
  for (const [term, weight] of one) dot += weight * (other.get(term) ?? 0)
  return dot
}

function dense(one: Float64Array, other: Float64Array): number {
  return one.reduce((dot, value, at) => dot + value * other[at]!, 0)
}
