/** The work on the index, step by step: files pages that wait, makes a segment of what is new, merges segments, sweeps old ones. */

import type { Hand } from '../store/duty.ts'
import type { Segment } from '../store/similar.ts'
import type { Store } from '../store/store.ts'
import { turn } from '../store/turn.ts'
import type { Instant } from '../words/time.ts'
import { filingOf } from './filing.ts'
import { FRESH, fresh, gather } from './gather.ts'
import { Gone } from './gone.ts'
import { merge } from './merge.ts'
import { MOST_SEGMENTS, mergeOf } from './plan.ts'
import { keepRarities, type RarityKeeper } from './rarity-keeper.ts'
import { SegmentWriter } from './segment-writer.ts'

/** Pages filed since it began, whether more are known to wait, and the wordings that answer. */
export type Progress = { filed: number; waiting: boolean; wordings: number }

/** Pages filed in one transaction. */
const PAGES = 256
/** Rows of old segments removed in one step and transaction: more than merges replace meanwhile. */
const SWEPT = 5000
/** Wordings that are gone, read or struck off at once. */
const GONE = 5000
/** Portions of merges in one step: merging keeps up with filing. */
const PORTIONS = 4
/** Seconds between two notes of how far the index has followed, where nothing else happens. */
const BEAT = 2

export class Indexer {
  readonly progress: Progress = { filed: 0, waiting: false, wordings: 0 }
  private readonly store: Pick<Store, 'similar' | 'indexing' | 'now'>
  private readonly hand: Hand
  private readonly rarities: RarityKeeper
  /** Merges that go on, each of segments behind those of the one before it. */
  private readonly merges: { last: number; portions: AsyncGenerator<void, void> }[] = []
  /** Pages filed since a segment was made of what was new. */
  private unread = Number.POSITIVE_INFINITY
  /** The pages that were filed last, and when they were asked for. */
  private last: { ids: ReadonlySet<number>; asked: Instant } = { ids: new Set(), asked: Number.NEGATIVE_INFINITY }
  private followed = Number.NEGATIVE_INFINITY
  /** Whether rows of old segments may be left. */
  private isUnswept = true

  constructor(store: Pick<Store, 'similar' | 'indexing' | 'now'>, hand: Hand) {
    this.store = store
    this.hand = hand
    this.rarities = keepRarities(store.similar, Date.now)
  }

  /** Does what comes next, a part of a second; false where there was nothing to do. Throws where the duty is lost. */
  async step(): Promise<boolean> {
    await turn() // an engine may answer without ever leaving the event loop a turn
    const before = await this.store.similar.segments()
    const hasRoom = before.length < MOST_SEGMENTS
    const filed = hasRoom && (await this.file())
    const isDue = this.unread >= FRESH || (this.unread > 0 && !this.progress.waiting)
    const flushed = hasRoom && isDue && (await this.flush(before.at(-1)?.last ?? 0))
    const segments = flushed ? await this.store.similar.segments() : before
    this.progress.wordings = segments.reduce((sum, { wordings }) => sum + wordings, 0)
    const merged = await this.mergeSome(segments)
    const swept = await this.sweep()
    return filed || flushed || merged || swept
  }

  /** Files some pages; true where there were any. */
  private async file(): Promise<boolean> {
    const asked = await this.store.now()
    const pages = await this.store.indexing.pending(PAGES)
    this.progress.waiting = pages.length === PAGES
    const isDone = !this.progress.waiting && this.unread === 0 && pages.every(({ id }) => !this.last.ids.has(id))
    if (isDone) await this.note(this.last.asked)
    this.last = { ids: new Set(pages.map(({ id }) => id)), asked }
    if (pages.length === 0) return false
    this.sure(await this.store.indexing.file(this.hand.hold, pages.map(filingOf)))
    this.progress.filed += pages.length
    this.unread += pages.length
    return true
  }

  /** Notes, now and then, that all of before then is in the index, and drops what forgotten names said alone. */
  private async note(until: Instant): Promise<void> {
    if (until < this.followed + BEAT && until >= this.followed) return
    this.sure(await this.store.indexing.file(this.hand.hold, []))
    this.sure(await this.store.indexing.follow(this.hand.hold, until))
    this.followed = until
  }

  /** Makes a segment of wordings that no segment has; true where there were any. */
  private async flush(end: number): Promise<boolean> {
    const { wordings, isFull } = await fresh(this.store.indexing, end)
    this.unread = isFull ? FRESH : 0
    if (wordings.length === 0) return false
    await this.strikeBehind(end)
    const { segment, writer } = await this.begin(wordings[0]!.wording, wordings.at(-1)!.wording)
    for (const { word, groups, count } of gather(wordings, (await this.rarities.now()).rarities)) {
      writer.add(word, groups, count)
      if (writer.isFull) await writer.flush()
    }
    await writer.end()
    this.sure(await this.store.indexing.publish(this.hand.hold, segment, wordings.length))
    return true
  }

  /** Strikes off what was noted as gone on account of segments that were begun behind the last one, and never published. */
  private async strikeBehind(end: number): Promise<void> {
    for (let after = end; ; ) {
      const gone = await this.store.indexing.gone(after, Number.MAX_SAFE_INTEGER, GONE)
      if (gone.length === 0) return
      this.sure(await this.store.indexing.strike(this.hand.hold, gone))
      after = gone.at(-1)!
    }
  }

  /**
   * Begins a merge where one is due behind those that go on, and goes on with the last, smallest one: a large one takes hours, and
   * what comes in meanwhile must not pile up. True where there was any.
   */
  private async mergeSome(segments: readonly Segment[]): Promise<boolean> {
    const last = this.merges.at(-1)?.last ?? Number.NEGATIVE_INFINITY
    const isBusy = this.progress.waiting || this.unread >= FRESH
    const parts = mergeOf(
      segments.filter(({ first }) => first > last),
      isBusy ? 'busy' : 'idle',
    )
    if (parts.length > 0) this.merges.push({ last: parts.at(-1)!.last, portions: this.merge(parts) })
    if (this.merges.length === 0) return false
    for (let portion = 0; portion < PORTIONS && this.merges.length > 0; portion++)
      if ((await this.merges.at(-1)!.portions.next()).done) this.merges.pop()
    return true
  }

  /**
   * Makes one segment of several; yields whenever something else may have its turn. Where it ends before all that is gone was
   * struck off, the rest is noted in vain, until the next merge.
   */
  private async *merge(parts: readonly Segment[]): AsyncGenerator<void, void> {
    const { similar, indexing } = this.store
    const [first, last] = [parts[0]!.first, parts.at(-1)!.last]
    const gone = yield* this.gone(first, last)
    const { segment, writer } = await this.begin(first, last)
    const numbers = parts.map((part) => part.segment)
    const source = {
      frequencies: similar.frequencies.bind(similar),
      rows: indexing.rows.bind(indexing),
    }
    yield* merge(source, numbers, gone, writer)
    const wordings = parts.reduce((sum, part) => sum + part.wordings, -gone.met)
    this.sure(await indexing.publish(this.hand.hold, segment, Math.max(0, wordings)))
    this.isUnswept = true
    for (const struck of gone.portions(GONE)) {
      yield
      this.sure(await indexing.strike(this.hand.hold, struck))
    }
  }

  private async *gone(first: number, last: number): AsyncGenerator<void, Gone> {
    const gone = new Gone()
    for (let after = first - 1; ; yield) {
      const some = await this.store.indexing.gone(after, last, GONE)
      gone.add(some)
      if (some.length < GONE) return gone
      after = some.at(-1)!
    }
  }

  private async begin(first: number, last: number): Promise<{ segment: number; writer: SegmentWriter }> {
    const { hold, lose } = this.hand
    const segment = await this.store.indexing.begin(hold, first, last)
    if (segment === null) throw lose()
    const writer = new SegmentWriter(async (postings, frequencies) => {
      this.sure(await this.store.indexing.write(hold, segment, postings, frequencies))
      await turn()
    })
    return { segment, writer }
  }

  private async sweep(): Promise<boolean> {
    if (this.isUnswept) this.isUnswept = await this.store.indexing.sweep(this.hand.hold, SWEPT)
    return this.isUnswept
  }

  private sure(written: boolean): void {
    if (!written) throw this.hand.lose()
  }
}
