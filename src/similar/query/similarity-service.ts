/** Answers /similar: the documents nearest to that of a page, and the names whose start pages contain them. */

import type { PageOfName } from '../../store/port/similar.ts'
import type { Store } from '../../store/port/store.ts'
import { compareBytewise } from '../../values/bytewise-order.ts'
import type { DomainName } from '../../values/domain-name.ts'
import {
  emptyTermVector,
  packTermVector,
  type TermVector,
  termVectorOf,
  unpackTermVector,
  vectorDigest,
} from '../text/term-vector.ts'
import { weightDocument } from './cosine.ts'
import { createIdfCache, type IdfCache } from './idf-cache.ts'
import { NearestDocuments, SCORE_SCALE, type ScoredDocument } from './nearest-documents.ts'

/** Answers /similar in one process. */
export interface SimilarityService {
  /**
   * Returns the domains whose start pages are most similar to that of `name`, at most `limit` (1 to 100). The most
   * similar come first, ties are in order of name, and `name` itself is left out. Returns null if no start-page text is
   * on record, and no rows if the text has no term.
   * similarity: 0 to 1 with four decimals, and 1 only if both pages contain the same terms equally often.
   */
  similar(name: DomainName, limit: number): Promise<SimilarRow[] | null>
}

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
  }
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
