/** Writes a segment: packs postings and document frequencies into rows and passes them on in batches. */

import type { FrequencyRow, PostingRow } from '../../store/port/similar.ts'
import { emptyDocumentFrequencies, MAX_ROW_TERMS, packDocumentFrequencies } from '../postings/document-frequencies.ts'
import { MAX_ROW_POSTINGS, type PostingGroup, packPostingRow } from '../postings/postings.ts'
import { TERM_BITS } from '../text/term-vector.ts'

/** Postings of a term that a segment keeps, those with the highest weights. A query never reads more. */
export const MAX_POSTINGS_PER_TERM = 2048
/**
 * A full row starts at this many postings. It ends before a term that does not fit, so a shorter term is never split.
 */
const MIN_FULL_ROW_POSTINGS = MAX_ROW_POSTINGS / 2
/** All terms of a row share their first eight bits, by which an engine may partition the rows. */
const PART_SHIFT = TERM_BITS - 8
/** Rows per batch, about 20 milliseconds of writing. */
const ROWS_PER_BATCH = 500

/** Writes a batch of rows. */
type WriteRows = (postings: readonly PostingRow[], frequencies: readonly FrequencyRow[]) => Promise<void>

export class SegmentWriter {
  private readonly write: WriteRows
  private rows: PostingRow[] = []
  private frequencies: FrequencyRow[] = []
  private groups: PostingGroup[] = []
  private size = 0
  private part = 0
  private readonly frequencyRow = emptyDocumentFrequencies(MAX_ROW_TERMS)

  constructor(write: WriteRows) {
    this.write = write
  }

  /**
   * Adds a term with its groups in order of key. `count`: its document frequency, including documents beyond the
   * groups.
   */
  add(term: number, groups: readonly PostingGroup[], count: number): void {
    const total = Math.min(MAX_POSTINGS_PER_TERM, postingCount(groups))
    const part = term >>> PART_SHIFT
    if (part !== this.part || (this.size >= MIN_FULL_ROW_POSTINGS && this.size + total > MAX_ROW_POSTINGS))
      this.endPostingRow()
    this.part = part
    let postingsLeft = MAX_POSTINGS_PER_TERM
    for (const group of groups) {
      if (postingsLeft === 0) break
      postingsLeft -= this.addPostings(group, postingsLeft)
    }
    this.addFrequency(term, count)
  }

  /** Adds at most `maxPostings` documents of a group and returns how many. A full row ends. */
  private addPostings({ key, documents }: PostingGroup, maxPostings: number): number {
    const posted = Math.min(documents.length, maxPostings)
    for (let at = 0; at < posted; ) {
      const now = Math.min(posted - at, MAX_ROW_POSTINGS - this.size)
      const whole = at === 0 && now === documents.length
      this.groups.push({ key, documents: whole ? documents : documents.subarray(at, at + now) })
      this.size += now
      at += now
      if (this.size === MAX_ROW_POSTINGS) this.endPostingRow()
    }
    return posted
  }

  /** Returns true if `flush` should be awaited now. */
  get isFull(): boolean {
    return this.rows.length >= ROWS_PER_BATCH
  }

  async flush(): Promise<void> {
    const [rows, frequencies] = [this.rows, this.frequencies]
    this.rows = []
    this.frequencies = []
    await this.write(rows, frequencies)
  }

  async end(): Promise<void> {
    this.endPostingRow()
    this.endFrequencyRow()
    await this.flush()
  }

  private endPostingRow(): void {
    const last = this.groups.at(-1)
    if (last === undefined) return
    this.rows.push({ key: last.key, document: last.documents.at(-1)!, postings: packPostingRow(this.groups) })
    this.groups = []
    this.size = 0
  }

  private addFrequency(term: number, count: number): void {
    const { terms, counts, size } = this.frequencyRow
    terms[size] = term
    counts[size] = count
    this.frequencyRow.size++
    if (this.frequencyRow.size === MAX_ROW_TERMS) this.endFrequencyRow()
  }

  private endFrequencyRow(): void {
    const { terms, size } = this.frequencyRow
    if (size === 0) return
    this.frequencies.push({ last: terms[size - 1]!, counts: packDocumentFrequencies(this.frequencyRow, 0, size) })
    this.frequencyRow.size = 0
  }
}

function postingCount(groups: readonly PostingGroup[]): number {
  let size = 0
  for (const { documents } of groups) size += documents.length
  return size
}
