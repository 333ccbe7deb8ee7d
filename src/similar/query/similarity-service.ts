/** Answers /similar: the documents nearest to that of a page, and the names whose start pages contain them. */

import type { PageOfName, SimilarReader } from '../../store/port/similar.ts'
import type { Store } from '../../store/port/store.ts'
import { compareBytewise } from '../../values/bytewise-order.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { MAX_ROW_POSTINGS, type PostingBuffer, postingKeyOf, readPostingsOfTerm } from '../postings/postings.ts'
import {
  emptyTermVector,
  packTermVector,
  type TermVector,
  termVectorOf,
  unpackTermVector,
  vectorDigest,
} from '../text/term-vector.ts'
import { WEIGHT_LEVELS } from '../text/weights.ts'
import { dotProduct, vectorLength, type WeightedDocument, weightDocument } from './cosine.ts'
import { createIdfCache, type IdfCache } from './idf-cache.ts'
import type { IdfTable } from './idf-table.ts'
import { chooseQueryTerms, maxRowsFor, QUERY_LIMITS } from './query-terms.ts'
import { ScoreAccumulator } from './score-accumulator.ts'
import { VectorCache, type VectorRange, vectorRangeOf } from './vector-cache.ts'

/** Documents in the cache: at most 8 MB. A document replaces the one in its slot. */
const DEFAULT_CAPACITY = 2 ** 19

/** A document's number is never given twice, and its vector never changes. */
export class LengthCache {
  private idfTable: IdfTable | null = null
  /** Of each slot, the number of the document plus 1, so that 0 is an empty slot, and the length. */
  private readonly slots: Float64Array

  constructor(capacity = DEFAULT_CAPACITY) {
    this.slots = new Float64Array(2 * capacity)
  }

  /** Returns the length of a document's vector, weighted by the table. */
  lengthOf(document: number, vector: VectorRange, idfTable: IdfTable): number {
    if (this.idfTable !== idfTable) {
      this.idfTable = idfTable
      this.slots.fill(0)
    }
    const slot = (2 * document) % this.slots.length
    if (this.slots[slot] !== document + 1) {
      this.slots[slot] = document + 1
      this.slots[slot + 1] = vectorLength(vector, idfTable)
    }
    return this.slots[slot + 1]!
  }
}

/** A document and its similarity in ten-thousandths: at most 9,999, because another document is never equal. */
type ScoredDocument = { document: number; score: number }

/** The page of a query: its weighted terms, its own document (null if it has none), and whether the IDF is current. */
type SimilarityQuery = {
  source: WeightedDocument
  idfTable: IdfTable
  ownDocument: number | null
  isCurrent: boolean
}

/** The score of similarity 1. */
const SCORE_SCALE = 10_000

/** The minimum number of results to find. A smaller limit returns the first of them. */
const MIN_RESULTS = 100

/**
 * Holds the caches of vectors and their lengths (docs/similar.md says how much memory they take), and buffers of some
 * 6 MB for all queries of a process. No query leaves data in the buffers across an await.
 */
class NearestDocuments {
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
    return scoreOf(source, vector, this.lengths.lengthOf(document, vector, idfTable))
  }
}

/** The similarity of two different pages in ten-thousandths. `length`: of the vector. */
function scoreOf(source: WeightedDocument, vector: VectorRange, length: number): number {
  return Math.min(SCORE_SCALE - 1, Math.round((SCORE_SCALE * dotProduct(source, vector)) / (source.length * length)))
}

/** Answers /similar in one process. */
export interface SimilarityService {
  /**
   * Returns the domains whose start pages are most similar to that of `name`, at most `limit` (1 to 100). The most
   * similar come first, ties are in order of name, and `name` itself is left out. Returns null if no start-page text is
   * on record, and no rows if the text has no term.
   * similarity: 0 to 1 with four decimals, and 1 only if both pages contain the same terms equally often.
   */
  similar(name: DomainName, limit: number): Promise<SimilarRow[] | null>
  /**
   * The similarity of the start page of `name` to those of others, in their order, as in `similar`. Null if one of both
   * has no term on record.
   */
  similarities(name: DomainName, others: readonly DomainName[]): Promise<(number | null)[]>
}

/** Pages that are read at the same time to be compared. */
const PAGES_AT_ONCE = 8

export type SimilarRow = { target: DomainName; similarity: number }

export function openSimilarityService(
  { similar }: Pick<Store, 'similar'>,
  now: () => number = Date.now,
  maxSynchronous?: number,
): SimilarityService & Pick<IdfCache, 'refresh'> {
  const idfCache = createIdfCache(similar, now, maxSynchronous)
  const nearest = new NearestDocuments(similar)

  return {
    refresh: idfCache.refresh,
    async similar(name, limit) {
      const page = await similar.page(name)
      if (page === null) return null
      const { document: ownDocument, vector } = await readPageVector(similar, page)
      if (vector.size === 0) return []
      const [sameDocument = []] = ownDocument === null ? [] : await similar.names([ownDocument], limit + 1)
      const same = sameDocument.filter((target) => target !== name).slice(0, limit)
      const rows = same.map((target) => ({ target, similarity: 1 }))
      const missing = limit - rows.length
      if (missing === 0) return rows
      const { idfTable, isCurrent } = await idfCache.current()
      const query = { source: weightDocument(vector, idfTable), idfTable, ownDocument, isCurrent }
      const found = await similarRows(similar, await nearest.search(query, true), name, missing)
      nearest.uncache(found.nameless)
      if (found.rows.length === missing || found.nameless.length === 0) return [...rows, ...found.rows]
      // Deleted documents have taken the positions of others.
      return [...rows, ...(await similarRows(similar, await nearest.search(query, false), name, missing)).rows]
    },
    async similarities(name, others) {
      const own = await readVectorOf(similar, name)
      if (own === null || others.length === 0) return others.map(() => null)
      const { idfTable } = await idfCache.current()
      const source = weightDocument(own, idfTable)
      const similarities: (number | null)[] = []
      for (let from = 0; from < others.length; from += PAGES_AT_ONCE) {
        const group = others.slice(from, from + PAGES_AT_ONCE)
        const vectors = await Promise.all(group.map((each) => readVectorOf(similar, each)))
        similarities.push(...vectors.map((vector) => vector && similarityOf(source, vector, idfTable)))
      }
      return similarities
    },
  }
}

/** The terms of the start page of a name; null if none is on record. */
async function readVectorOf(similar: SimilarReader, name: DomainName): Promise<TermVector | null> {
  const page = await similar.page(name)
  if (page === null) return null
  if ('terms' in page) return vectorWithTerms(termVectorOf(page.terms))
  const vector = emptyTermVector(256)
  if (page.vector !== null) unpackTermVector(page.vector, vector)
  return vectorWithTerms(vector)
}

function vectorWithTerms(vector: TermVector): TermVector | null {
  return vector.size === 0 ? null : vector
}

function similarityOf(source: WeightedDocument, vector: TermVector, idfTable: IdfTable): number {
  if (vectorDigest(packTermVector(vector)) === vectorDigest(packTermVector(source.vector))) return 1
  const range = vectorRangeOf(vector)
  return scoreOf(source, range, vectorLength(range, idfTable)) / SCORE_SCALE
}

/**
 * `rows`: in the order of their documents' scores, and by name (bytewise) within one score. `nameless`: documents
 * without a name, which have been deleted or soon will be.
 */
async function similarRows(
  similar: Pick<Store['similar'], 'names'>,
  scored: readonly ScoredDocument[],
  own: DomainName,
  limit: number,
): Promise<{ rows: SimilarRow[]; nameless: number[] }> {
  const nameless: number[] = []
  const rows: { target: DomainName; score: number }[] = []
  // A document may have no name any more, or only the name of the query with its previous text. Then the next documents
  // take its place.
  for (let from = 0; rows.length < limit && from < scored.length; ) {
    const threshold = scored[from + limit - rows.length - 1]?.score ?? 0
    const missing = scored.slice(from).filter(({ score }) => score >= threshold)
    const names = await similar.names(
      missing.map(({ document }) => document),
      limit + 1,
    )
    for (const [at, { document, score }] of missing.entries()) {
      if (names[at]!.length === 0) nameless.push(document)
      rows.push(...names[at]!.filter((target) => target !== own).map((target) => ({ target, score })))
    }
    from += missing.length
  }
  rows.sort((a, b) => b.score - a.score || compareBytewise(a.target, b.target))
  const nearest = rows.slice(0, limit).map(({ target, score }) => ({ target, similarity: score / SCORE_SCALE }))
  return { rows: nearest, nameless }
}

/** Reads the vector of a page and its own or shared document. Returns null also for a page without terms. */
async function readPageVector(
  similar: Pick<Store['similar'], 'findDocument'>,
  page: PageOfName,
): Promise<{ document: number | null; vector: TermVector }> {
  if ('terms' in page) {
    const vector = termVectorOf(page.terms)
    const packed = packTermVector(vector)
    return { document: await similar.findDocument(vectorDigest(packed), packed), vector }
  }
  const vector = emptyTermVector(256)
  if (page.vector !== null) unpackTermVector(page.vector, vector)
  return { document: page.document, vector }
}
