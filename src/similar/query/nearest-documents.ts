/** Finds the documents nearest to a page: candidates by their postings, then the best of them by exact cosine. */

import type { SimilarReader } from '../../store/port/similar.ts'
import { MAX_ROW_POSTINGS, type PostingBuffer, postingKeyOf, readPostingsOfTerm } from '../postings/postings.ts'
import { emptyTermVector, unpackTermVector } from '../text/term-vector.ts'
import { WEIGHT_LEVELS, weightOfLevel } from '../text/weights.ts'
import { dotProduct, type WeightedDocument } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'
import { LengthCache } from './length-cache.ts'
import { chooseQueryTerms, QUERY_LIMITS } from './query-terms.ts'
import { ScoreAccumulator } from './score-accumulator.ts'

/** A document and its similarity in ten-thousandths: at most 9,999, because another document is never equal. */
export type ScoredDocument = { document: number; score: number }

/** The page of a query: its weighted terms, its own document (null if it has none), and whether the IDF is current. */
export type SimilarityQuery = {
  source: WeightedDocument
  idfTable: IdfTable
  ownDocument: number | null
  isCurrent: boolean
}

/** The score of similarity 1. */
export const SCORE_SCALE = 10_000
/** The minimum number of results to find. A smaller limit returns the first of them. */
const MIN_RESULTS = 100

const LEVEL_WEIGHTS = Float64Array.from({ length: WEIGHT_LEVELS }, (_, level) => weightOfLevel(level))

/** Holds some 10 MB of buffers for all queries of a process. No query leaves data in them across an await. */
export class NearestDocuments {
  private readonly similar: SimilarReader
  private readonly scores = new ScoreAccumulator()
  private readonly lengths = new LengthCache()
  private readonly candidate = emptyTermVector(1024)
  private readonly postings: PostingBuffer

  constructor(similar: SimilarReader) {
    this.similar = similar
    const capacity = QUERY_LIMITS.rows * MAX_ROW_POSTINGS
    this.postings = { size: 0, documents: new Float64Array(capacity), levels: new Uint8Array(capacity) }
  }

  /**
   * Returns the nearest documents, best first, 100 or somewhat more. Stops when further candidates hardly ever rank
   * among them.
   */
  async search(query: SimilarityQuery): Promise<ScoredDocument[]> {
    const documents = await this.findCandidates(query)
    let closest: ScoredDocument[] = []
    for (
      let from = 0, end: number = QUERY_LIMITS.first;
      from < documents.length;
      from = end, end += QUERY_LIMITS.next
    ) {
      const threshold = closest[MIN_RESULTS - 1]?.score ?? Number.NEGATIVE_INFINITY
      const some = documents.slice(from, end)
      const scored = this.scoreDocuments(some, await this.similar.vectors(some), query)
      closest = [...closest, ...scored].sort((a, b) => b.score - a.score)
      if (
        closest.length >= MIN_RESULTS &&
        scored.filter(({ score }) => score > threshold).length < QUERY_LIMITS.minNewResults
      )
        break
    }
    return closest
  }

  /** Returns the documents that share the heaviest terms, best first, scored by the postings alone. */
  private async findCandidates({ source, idfTable, ownDocument, isCurrent }: SimilarityQuery): Promise<number[]> {
    const { postings, scores } = this
    const chosen = chooseQueryTerms(source, idfTable, ownDocument !== null && isCurrent)
    const reads = chosen.map(({ term: word, rows }) => ({ key: postingKeyOf(word, WEIGHT_LEVELS - 1), rows }))
    const rows = await this.similar.postings(reads)
    try {
      for (const [at, { term, weight }] of chosen.entries()) {
        postings.size = 0
        readPostingsOfTerm(rows[at]!, term, postings)
        for (let index = 0; index < postings.size; index++)
          scores.add(postings.documents[index]!, weight * LEVEL_WEIGHTS[postings.levels[index]!]!)
      }
      return scores.topDocuments(QUERY_LIMITS.cosines).filter((document) => document !== ownDocument)
    } finally {
      scores.clear()
    }
  }

  /** Computes the exact similarities of some documents. Leaves out those that are 0 or deleted. */
  private scoreDocuments(
    documents: readonly number[],
    vectors: readonly (Uint8Array | null)[],
    { source, idfTable }: SimilarityQuery,
  ): ScoredDocument[] {
    const scored: ScoredDocument[] = []
    for (const [at, vector] of vectors.entries()) {
      if (vector === null) continue
      unpackTermVector(vector, this.candidate)
      const document = documents[at]!
      const length = this.lengths.lengthOf(document, this.candidate, idfTable)
      const cosine = dotProduct(source, this.candidate) / (source.length * length)
      const score = Math.min(SCORE_SCALE - 1, Math.round(SCORE_SCALE * cosine))
      if (score > 0) scored.push({ document, score })
    }
    return scored
  }
}
