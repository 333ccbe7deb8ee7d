/** Gathers the postings of new documents by term, for a new segment. */

import type { SimilarIndexStore, StoredDocument } from '../../store/port/similar.ts'
import { type PostingGroup, postingKeyOf } from '../postings/postings.ts'
import type { IdfTable } from '../query/idf-table.ts'
import { QUERY_LIMITS } from '../query/query-terms.ts'
import { emptyTermVector, unpackTermVector } from '../text/term-vector.ts'
import { countWeight, idf, WEIGHT_LEVELS, weightLevelOf } from '../text/weights.ts'

/** Maximum number of documents in a new segment. */
export const MAX_SEGMENT_DOCUMENTS = 4096
/** Stop adding documents at this many bytes of vectors, some three million terms, because they are sorted in memory. */
const MAX_VECTOR_BYTES = 2 ** 23
/** Documents per read. */
const DOCUMENTS_PER_READ = 64

/** Every document has postings for at least this many of its heaviest terms. A query reads no more. */
const MIN_POSTED_TERMS = QUERY_LIMITS.terms
/**
 * Lighter terms have a posting from this share of the vector's length on. A quarter of all terms have less. In an index
 * above SMALL_INDEX_DOCUMENTS all have one: most terms are frequent there, and their segments drop the light postings.
 */
const MIN_POSTED_SHARE = 0.03
const SMALL_INDEX_DOCUMENTS = 50_000

/**
 * A term of a document packs into one sortable number: 26 bits of the term, 12 of the document's index, 8 of the count.
 */
const COUNT_RANGE = 2 ** 8
const DOCUMENT_RANGE = MAX_SEGMENT_DOCUMENTS * COUNT_RANGE

/**
 * A term with its postings, and its document frequency. Documents for which the term matters little have no posting.
 */
type TermPostings = { term: number; groups: PostingGroup[]; count: number }

/** Returns the documents above `after`, at most one segment's worth. `isFull`: more may follow. */
export async function readNewDocuments(
  indexing: Pick<SimilarIndexStore, 'documents'>,
  after: number,
): Promise<{ documents: StoredDocument[]; isFull: boolean }> {
  const documents: StoredDocument[] = []
  for (let bytes = 0; documents.length < MAX_SEGMENT_DOCUMENTS && bytes < MAX_VECTOR_BYTES; ) {
    const some = await indexing.documents(documents.at(-1)?.document ?? after, DOCUMENTS_PER_READ)
    for (const { vector } of some) bytes += vector.length
    documents.push(...some)
    if (some.length < DOCUMENTS_PER_READ) return { documents, isFull: false }
  }
  return { documents, isFull: true }
}

/** Yields the terms of at most 4,096 documents (ascending), each with its postings. */
export function* gatherPostings(documents: readonly StoredDocument[], idfTable: IdfTable): Generator<TermPostings> {
  const entries = packEntries(documents)
  const { lengths, minWeights } = weighDocuments(entries, documents.length, idfTable)
  const levels: number[][] = Array.from({ length: WEIGHT_LEVELS }, () => [])
  for (const [term, from, end] of termRanges(entries)) {
    const termIdf = idfWith(idfTable, documents.length, term, end - from)
    for (let at = from; at < end; at++) {
      const [index, weight] = [documentIndexOf(entries[at]!), countWeight(countOf(entries[at]!))]
      if (weight * termIdf < minWeights[index]!) continue
      levels[weightLevelOf(weight / lengths[index]!)]!.push(documents[index]!.document)
    }
    yield { term, groups: postingGroupsOf(term, levels), count: end - from }
  }
}

/** Packs every term of every document, sorted by term and document. */
function packEntries(documents: readonly StoredDocument[]): Float64Array {
  const vectors = documents.map(({ vector }) => {
    const unpacked = emptyTermVector(256)
    unpackTermVector(vector, unpacked)
    return unpacked
  })
  const entries = new Float64Array(vectors.reduce((sum, { size }) => sum + size, 0))
  let next = 0
  for (const [index, { size, terms, counts }] of vectors.entries())
    for (let at = 0; at < size; at++)
      entries[next++] = terms[at]! * DOCUMENT_RANGE + index * COUNT_RANGE + Math.min(COUNT_RANGE - 1, counts[at]!)
  return entries.sort()
}

function documentIndexOf(entry: number): number {
  return Math.floor((entry % DOCUMENT_RANGE) / COUNT_RANGE)
}

function countOf(entry: number): number {
  return entry % COUNT_RANGE
}

/** Yields each term with the range of its entries. */
function* termRanges(entries: Float64Array): Generator<[term: number, from: number, end: number]> {
  for (let from = 0; from < entries.length; ) {
    const term = Math.floor(entries[from]! / DOCUMENT_RANGE)
    let end = from + 1
    while (end < entries.length && entries[end]! < (term + 1) * DOCUMENT_RANGE) end++
    yield [term, from, end]
    from = end
  }
}

/** `lengths`: of each document's vector. `minWeights`: the lowest weight of a term of each that gets a posting. */
type DocumentWeights = { lengths: Float64Array; minWeights: Float64Array }

/** Weighs the documents with the current IDF, which depends little on the number of documents. */
function weighDocuments(entries: Float64Array, documentCount: number, idfTable: IdfTable): DocumentWeights {
  const weights: number[][] = Array.from({ length: documentCount }, () => [])
  for (const [term, from, end] of termRanges(entries)) {
    const termIdf = idfWith(idfTable, documentCount, term, end - from)
    for (let at = from; at < end; at++)
      weights[documentIndexOf(entries[at]!)]!.push(countWeight(countOf(entries[at]!)) * termIdf)
  }
  const lengths = Float64Array.from(weights, (all) => Math.sqrt(all.reduce((sum, weight) => sum + weight ** 2, 0)))
  const minWeights = Float64Array.from(weights, (all, index) => {
    if (all.length <= MIN_POSTED_TERMS || idfTable.documents > SMALL_INDEX_DOCUMENTS) return 0
    return Math.min(MIN_POSTED_SHARE * lengths[index]!, Float64Array.from(all).sort()[all.length - MIN_POSTED_TERMS]!)
  })
  return { lengths, minWeights }
}

/** The IDF of a term, if `documentCount` new documents are added and `documentFrequency` of them contain it. */
function idfWith(idfTable: IdfTable, documentCount: number, term: number, documentFrequency: number): number {
  const all = idfTable.documents + documentCount
  const indexedFrequency = idfTable.documents === 0 ? 0 : idfTable.documentFrequencyOf(term)
  return idf(all, Math.min(all, indexedFrequency + documentFrequency))
}

/** Builds the posting groups of a term from its documents by level, and empties the levels. */
function postingGroupsOf(term: number, levels: readonly number[][]): PostingGroup[] {
  const groups: PostingGroup[] = []
  for (let level = WEIGHT_LEVELS - 1; level >= 0; level--) {
    const documents = levels[level]!
    if (documents.length === 0) continue
    groups.push({ key: postingKeyOf(term, level), documents: new Float64Array(documents) })
    documents.length = 0
  }
  return groups
}
