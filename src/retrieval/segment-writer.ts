/** Writes a segment: cuts the postings of words that come in order into rows, and their frequencies, and hands both on in portions. */

import { emptyFrequencies, packFrequencies, ROW_WORDS } from '../similar/frequencies.ts'
import { type Group, packRow, ROW_POSTINGS } from '../similar/postings.ts'
import { WORD_BITS } from '../similar/vector.ts'
import type { FrequencyRow, PostingRow } from '../store/similar.ts'

/** Postings of a word that a segment keeps, those that matter most: more than a query ever reads. */
export const KEPT = 4096
/** A row ends before a word that it has no room for once it has so many postings: a word of fewer is never in two rows. */
const ENOUGH = ROW_POSTINGS / 2
/** No row has words of two parts, by which an engine may spread rows: the first eight bits of a word. */
const PART_BITS = WORD_BITS - 8
/** Rows handed on at a time: some 20 milliseconds of writing. */
const PORTION = 1000

/** Where rows go. */
type Write = (postings: readonly PostingRow[], frequencies: readonly FrequencyRow[]) => Promise<void>

export class SegmentWriter {
  private readonly write: Write
  private rows: PostingRow[] = []
  private frequencies: FrequencyRow[] = []
  private groups: Group[] = []
  private size = 0
  private part = 0
  private readonly words = emptyFrequencies(ROW_WORDS)

  constructor(write: Write) {
    this.write = write
  }

  /** Adds a word with its groups in order of place; `count`: how many wordings have it, also beyond those groups. */
  add(word: number, groups: readonly Group[], count: number): void {
    const total = Math.min(KEPT, sizeOf(groups))
    const part = word >>> PART_BITS
    if (part !== this.part || (this.size >= ENOUGH && this.size + total > ROW_POSTINGS)) this.endRow()
    this.part = part
    let left = KEPT
    for (const group of groups) {
      if (left === 0) break
      left -= this.post(group, left)
    }
    this.count(word, count)
  }

  /** Adds the first wordings of a group, `most` at most; how many. A row that is full ends. */
  private post({ place, wordings }: Group, most: number): number {
    const posted = Math.min(wordings.length, most)
    for (let at = 0; at < posted; ) {
      const now = Math.min(posted - at, ROW_POSTINGS - this.size)
      const whole = at === 0 && now === wordings.length
      this.groups.push({ place, wordings: whole ? wordings : wordings.subarray(at, at + now) })
      this.size += now
      at += now
      if (this.size === ROW_POSTINGS) this.endRow()
    }
    return posted
  }

  /** True where so much has come together that `flush` should be waited for. */
  get isFull(): boolean {
    return this.rows.length >= PORTION
  }

  async flush(): Promise<void> {
    const [rows, frequencies] = [this.rows, this.frequencies]
    this.rows = []
    this.frequencies = []
    await this.write(rows, frequencies)
  }

  async end(): Promise<void> {
    this.endRow()
    this.endWords()
    await this.flush()
  }

  private endRow(): void {
    const last = this.groups.at(-1)
    if (last === undefined) return
    this.rows.push({ place: last.place, wording: last.wordings.at(-1)!, postings: packRow(this.groups) })
    this.groups = []
    this.size = 0
  }

  private count(word: number, count: number): void {
    const { words, counts, size } = this.words
    words[size] = word
    counts[size] = count
    this.words.size++
    if (this.words.size === ROW_WORDS) this.endWords()
  }

  private endWords(): void {
    const { words, size } = this.words
    if (size === 0) return
    this.frequencies.push({ last: words[size - 1]!, counts: packFrequencies(this.words, 0, size) })
    this.words.size = 0
  }
}

function sizeOf(groups: readonly Group[]): number {
  let size = 0
  for (const { wordings } of groups) size += wordings.length
  return size
}
