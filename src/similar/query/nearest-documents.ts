/** Finds the documents nearest to a page: candidates by their postings, then the best of them by exact cosine. */

import type { SimilarReader } from '../../store/port/similar.ts'
import { MAX_ROW_POSTINGS, type PostingBuffer, postingKeyOf, readPostingsOfTerm } from '../postings/postings.ts'
import { emptyTermVector, unpackTermVector } from '../text/term-vector.ts'
import { WEIGHT_LEVELS } from '../text/weights.ts'
import { dotProduct, type WeightedDocument } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'
import { LengthCache } from './length-cache.ts'
import { chooseQueryTerms, maxRowsFor, QUERY_LIMITS } from './query-terms.ts'
import { ScoreAccumulator } from './score-accumulator.ts'
import { VectorCache, type VectorRange } from './vector-cache.ts'

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

/**
 * Holds the caches of vectors and their lengths (docs/similar.md says how much memory they take), and buffers of some
 * 5 MB for all queries of a process. No query leaves data in the buffers across an await.
 */
export class NearestDocuments {
  private readonly similar: SimilarReader
  private readonly scores = new ScoreAccumulator()
  private readonly vectors = new VectorCache()
  private readonly lengths = new LengthCache()
  private readonly unpacked = emptyTermVector(1024)
  private readonly postings: PostingBuffer

  constructor(similar: SimilarReader) {
    this.similar = similar
    const capacity = 2 * QUERY_LIMITS.rows * MAX_ROW_POSTINGS // each segment adds rows
    this.postings = { size: 0, documents: new Float64Array(capacity), levels: new Uint8Array(capacity) }
  }

  /**
   * Returns the nearest documents, best first, 100 or somewhat more. Stops when further candidates hardly ever rank
   * among them. With `useCache`, documents whose vectors are cached may have been deleted.
   */
  async search(query: SimilarityQuery, useCache: boolean): Promise<ScoredDocument[]> {
    const documents = await this.findCandidates(query)
    let closest: ScoredDocument[] = []
    for (
      let from = 0, end: number = QUERY_LIMITS.first;
      from < documents.length;
      from = end, end += QUERY_LIMITS.next
    ) {
      const threshold = closest[MIN_RESULTS - 1]?.score ?? Number.NEGATIVE_INFINITY
      const scored = await this.scoreDocuments(documents.slice(from, end), query, useCache)
      closest = [...closest, ...scored].sort((a, b) => b.score - a.score)
      if (closest.length >= MIN_RESULTS && scored.every(({ score }) => score <= threshold)) break
    }
    return closest
  }

  /** Removes the vectors of deleted documents from the cache. */
  uncache(documents: readonly number[]): void {
    for (const document of documents) this.vectors.delete(document)
  }

  /** Returns the documents that share the heaviest terms, best first, scored by the postings alone. */
  private async findCandidates(query: SimilarityQuery): Promise<number[]> {
    const { source, idfTable, ownDocument, isCurrent } = query
    const chosen = chooseQueryTerms(source, idfTable, {
      isIndexed: ownDocument !== null && isCurrent,
      maxRows: maxRowsFor(idfTable.documents),
    })
    const reads = chosen.map(({ term, rows }) => ({ key: postingKeyOf(term, WEIGHT_LEVELS - 1), rows }))
    const rows = await this.similar.postings(reads)
    const { postings } = this
    postings.size = 0
    const scored = chosen.map(({ term, weight }, at) => {
      const from = postings.size
      readPostingsOfTerm(rows[at]!, term, postings)
      return { from, end: postings.size, weight }
    })
    return this.scores
      .topDocuments(postings, scored, QUERY_LIMITS.cosines)
      .filter((document) => document !== ownDocument)
  }

  /**
   * Computes the exact similarities of some documents. Leaves out documents whose similarity is 0, and those found to be
   * deleted.
   */
  private async scoreDocuments(
    documents: readonly number[],
    query: SimilarityQuery,
    useCache: boolean,
  ): Promise<ScoredDocument[]> {
    const scored: ScoredDocument[] = []
    const add = (document: number, vector: VectorRange): void => {
      const score = this.scoreOf(document, vector, query)
      if (score > 0) scored.push({ document, score })
    }
    const missing = documents.filter((document) => {
      const vector = useCache ? this.vectors.find(document) : null
      if (vector !== null) add(document, vector)
      return vector === null
    })
    if (missing.length === 0) return scored
    for (const [at, packed] of (await this.similar.vectors(missing)).entries()) {
      if (packed === null) continue
      unpackTermVector(packed, this.unpacked)
      add(missing[at]!, this.vectors.add(missing[at]!, this.unpacked))
    }
    return scored
  }

  private scoreOf(document: number, vector: VectorRange, { source, idfTable }: SimilarityQuery): number {
    const length = this.lengths.lengthOf(document, vector, idfTable)
    return Math.min(SCORE_SCALE - 1, Math.round((SCORE_SCALE * dotProduct(source, vector)) / (source.length * length)))
  }
}
