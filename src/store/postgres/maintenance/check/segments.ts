/** Checks the index of /similar: the checksums of its rows, and its segments with their terms and documents. */

import { termEnd } from '../../../../similar/postings/postings.ts'
import type { FrequencyRow, Segment } from '../../../port/similar.ts'
import { CHECKSUM_COLUMNS } from '../../../shared/check/checksum.ts'
import {
  type ChecksumCheck,
  type ChecksummedRow,
  checkChecksumRows,
  checksumKeyAfter,
  FREQUENCIES_CHECK,
  POSTINGS_CHECK,
} from '../../../shared/check/checksummed-rows.ts'
import {
  type CheckedSegment,
  checkPostedTerms,
  checkSegmentDocuments,
  checkSegments,
  type DocumentPosition,
  frequencyRowsFor,
  NO_SEGMENT,
  positionIn,
  READ_SEGMENTS,
  READ_USED_SEGMENTS,
  type TermPosition,
  type UsedSegment,
} from '../../../shared/check/segments.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import type { Session } from '../../database/transaction.ts'
import { countDocuments } from '../../similar/indexer.ts'

/** The published segment with a number, or the next one. */
const CHECK_SEGMENT = {
  name: 'check.published-segment',
  text: `select number as segment, first_document as first, last_document as last, documents from segment
    where state = 'published' and number >= $1 order by number limit 1`,
}
const CHECK_FREQUENCIES = {
  name: 'check.frequencies',
  text: `select last_term as last, counts from document_frequency where segment = $1 and last_term > $2
    order by last_term limit $3`,
}
const CHECK_KEYS = {
  name: 'check.posting-keys',
  text: 'select distinct key from posting where segment = $1 and key >= $2 and key < $3 order by key',
}
const COUNT_TOMBSTONES = {
  name: 'check.tombstones',
  text: 'select count(*) as count from document_tombstone where document > $1 and document <= $2',
}

/** The rows of a table of the index: their checksums. */
function checkChecksums(check: ChecksumCheck) {
  const { table, keys } = check
  const parameters = keys.map((_, index) => `$${index + 1}::bigint`) // a key beyond damage may exceed an integer
  const statement = {
    name: `check.${table}`,
    text: `select ${CHECKSUM_COLUMNS[table].at(-1)!.join(', ')}, checksum from ${table}
      where (${keys.join(', ')}) > (${parameters.join(', ')}) order by ${keys.join(', ')} limit $${keys.length + 1}`,
  }
  return async ({ rows }: Session, after: string | null, limit: number): Promise<CheckSlice> =>
    checkChecksumRows(check, await rows<ChecksummedRow>(statement, [...checksumKeyAfter(check, after), limit]))
}
export const checkPostingsPostgres = checkChecksums(POSTINGS_CHECK)
export const checkFrequenciesPostgres = checkChecksums(FREQUENCIES_CHECK)

/** All segments. */
export async function checkSegmentsPostgres({ rows }: Session): Promise<CheckSlice> {
  const segments = await rows<CheckedSegment>({ name: 'check.segments', text: READ_SEGMENTS })
  return checkSegments(segments, await rows<UsedSegment>({ name: 'check.used-segments', text: READ_USED_SEGMENTS }))
}

/** The terms of a segment: those of its postings have a document frequency. */
export async function checkPostedTermsPostgres(
  { rows }: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const position = after === null ? null : (JSON.parse(after) as TermPosition)
  const [segment] = await rows<Segment>(CHECK_SEGMENT, [position?.[0] ?? 0])
  if (segment === undefined) return NO_SEGMENT
  const [number, term] = positionIn<TermPosition>(position, segment, [segment.segment, -1])
  const max = frequencyRowsFor(limit)
  const frequencies = await rows<FrequencyRow>(CHECK_FREQUENCIES, [number, term, max])
  const end = termEnd(frequencies.length < max ? null : frequencies.at(-1)!.last)
  const keys = await rows<{ key: number }>(CHECK_KEYS, [number, termEnd(term), end])
  return checkPostedTerms(
    segment,
    frequencies,
    keys.map(({ key }) => key),
    max,
  )
}

/** The documents of a segment: as many as it counts. */
export async function checkSegmentDocumentsPostgres(
  { rows }: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const position = after === null ? null : (JSON.parse(after) as DocumentPosition)
  const [segment] = await rows<Segment>(CHECK_SEGMENT, [position?.[0] ?? 0])
  if (segment === undefined) return NO_SEGMENT
  const from = positionIn<DocumentPosition>(position, segment, [segment.segment, segment.first - 1, 0, 0])
  const { count, next } = await countDocuments(rows, from[1], segment.last, limit)
  const [deleted] = await rows<{ count: number }>(COUNT_TOMBSTONES, [from[1], next ?? segment.last])
  return checkSegmentDocuments(segment, from, { living: count, all: count + deleted!.count, last: next })
}
