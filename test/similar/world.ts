/** A store whose start pages are indexed and queried, on SQLite or another engine. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { indexOnce } from '../../src/similar/index/run-indexer.ts'
import { unpackPostingRow } from '../../src/similar/postings/postings.ts'
import {
  openSimilarityService,
  type SimilarityService,
  type SimilarRow,
} from '../../src/similar/query/similarity-service.ts'
import { termsOf } from '../../src/similar/text/terms.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { LockClock } from '../../src/store/named-lock.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { Opened, Clock as StoreClock } from '../store/conformance/engine.ts'
import { openedAt } from '../store/conformance/opened-store.ts'
import { saying } from '../store/conformance/similar/filed-pages.ts'
import { minute, name } from '../store/conformance/world.ts'
import { nearest } from './query/exact-search.ts'

/** The texts of start pages by name. Null means no text. */
export type Pages = { readonly [name: string]: string | null }

/** A clock without real waits: a test continues when the work ends. */
export const STILL: LockClock = {
  monotonicMs: () => 0,
  wait: (_, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    }),
}

export async function openSqliteAt(clock: StoreClock): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-retrieval-'))
  return openedAt(`sqlite:${join(folder, 'store.db')}`, { now: () => clock.now }, () => rm(folder, { recursive: true }))
}

export class World {
  readonly opened: Opened
  readonly clock: StoreClock
  /** The current texts of known names. */
  readonly live = new Map<string, string>()
  /** The texts of all documents that were ever filed. */
  private readonly texts = new Map<number, string>()
  /** Names that are forgotten for good. */
  private readonly forgotten = new Set<string>()
  private retrieval: SimilarityService | null = null

  constructor(opened: Opened, clock: StoreClock) {
    this.opened = opened
    this.clock = clock
  }

  static async open(open = openSqliteAt): Promise<World> {
    const clock = { now: minute(0) }
    return new World(await open(clock), clock)
  }

  get store(): Store {
    return this.opened.store
  }

  async say(pages: Pages): Promise<void> {
    this.clock.now++
    const all = Object.entries(pages)
    await ingest(
      this.store,
      all.map(([domain, text]) => ({ ...saying(domain, 0, text), observed_at: this.clock.now })),
    )
    for (const [domain, text] of all) {
      if (this.forgotten.has(domain)) continue
      if (text === null) this.live.delete(domain)
      else this.live.set(domain, text)
    }
  }

  async forget(domain: string): Promise<void> {
    await this.store.observations.forget(name(domain))
    this.forgotten.add(domain)
    this.live.delete(domain)
  }

  /** Brings the index up to date, and later queries use it. */
  async index(store: Store = this.store): Promise<void> {
    const report = { progress: () => {}, failed: assert.ifError }
    this.retrieval = null
    try {
      assert.ok(
        await indexOnce({ store, holder: 'a test', clock: STILL, reporter: report }, new AbortController().signal),
      )
    } finally {
      await this.noteTexts()
    }
  }

  private async noteTexts(): Promise<void> {
    for (const [domain, text] of this.live) {
      const page = await this.store.similar.page(name(domain))
      if (page && 'document' in page && page.document !== null) this.texts.set(page.document, text)
    }
  }

  ask(domain: string, limit = 100): Promise<SimilarRow[] | null> {
    this.retrieval ??= openSimilarityService(this.store)
    return this.retrieval.similar(name(domain), limit)
  }

  async names(domain: string, limit = 100): Promise<string[] | undefined> {
    return (await this.ask(domain, limit))?.map(({ target }) => target)
  }

  /** Checks that each page has the answer of exact cosines, with each of these limits, for concurrent queries. */
  async assertExact(...limits: number[]): Promise<void> {
    const counted = await this.counted()
    const asked = [...this.live].map(async ([domain, text], at) => {
      const limit = limits[at % limits.length]!
      const expected = termsOf(text).counts.length === 0 ? [] : nearest(this.live, counted, domain, limit)
      assert.deepEqual(await this.ask(domain, limit), expected, `${domain} at most ${limit}`)
    })
    await Promise.all(asked)
  }

  /** The texts of the documents that the IDF table counts, including deleted ones that segments still contain. */
  private async counted(): Promise<string[]> {
    const { similarIndex: indexing, similar } = this.store
    const segments = await similar.segments()
    const held = new Set<number>()
    for (const { segment } of segments)
      for (const { postings } of await indexing.rows(segment, null, 100_000))
        for (const { documents: wordings } of unpackPostingRow(postings))
          for (const wording of wordings) held.add(wording)
    const output = segments.reduce((sum, { documents: wordings }) => sum + wordings, 0)
    assert.equal(output, held.size, 'segments say how many wordings they hold')
    return [...held].map((wording) => this.texts.get(wording)!)
  }

  close(): Promise<void> {
    return this.opened.close()
  }
}
