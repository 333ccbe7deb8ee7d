/** A property of filing: for all pages and any order of filing, documents and names agree with a plain model. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { termsOf } from '../../../../src/similar/text/terms.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { LockHold } from '../../../../src/store/port/jobs.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import { inForm } from '../../../long.ts'
import { NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { minute, NOW, seen, testWithStore, web } from '../world.ts'
import { fileAll, filingOf, holdOf, vectorOf } from './filed-pages.ts'

const RUNS = Number(process.env.DOMAINDEX_TEST_RUNS ?? inForm(5, 12))
const HIGHEST = Number.MAX_SAFE_INTEGER
/** Two texts have the same terms, one has none, and null is no text. */
const TEXTS = ['one two', 'two one', 'three', '...', null]

type Saying = { name: DomainName; text: string | null }
/** `late`: the text of a name between the reading of pending pages and their filing. */
type Operation = Saying | { forget: DomainName } | { file: number; late: Saying | null } | 'cover'

const saying: fc.Arbitrary<Saying> = fc.record({ name: fc.constantFrom(...NAMES), text: fc.constantFrom(...TEXTS) })
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: saying },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map((forget) => ({ forget })) },
  { weight: 3, arbitrary: fc.record({ file: fc.integer({ min: 1, max: 4 }), late: fc.option(saying) }) },
  { weight: 2, arbitrary: fc.constant<Operation>('cover') },
)

export function filings(engine: Engine): void {
  testWithStore(engine, 'for all pages and any order of filing, their documents are those of the model', async () => {
    const property = fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 25 }), async (operations) => {
      const opened = await engine.open({ now: NOW })
      try {
        const keeper = new Keeper(opened.store, await holdOf(opened.store))
        for (const each of operations) await keeper.act(each)
        await keeper.cover()
      } finally {
        await opened.close()
      }
    })
    await fc.assert(property, { numRuns: RUNS })
  })
}

/** Operates a store, and knows its expected responses. */
class Keeper {
  readonly #store: Store
  readonly #hold: LockHold
  /** The current texts of names, those pending, and the filed ones. */
  readonly #output = new Map<DomainName, string | null>()
  readonly #filed = new Map<DomainName, string>()
  readonly #waiting = new Set<DomainName>()
  readonly #forgotten = new Set<DomainName>()
  /** The documents after the last filing, and the last one that a segment contains. */
  #known = new Map<number, string | null>()
  #highest = 0
  #minutes = 0

  constructor(store: Store, hold: LockHold) {
    this.#store = store
    this.#hold = hold
  }

  async act(operation: Operation): Promise<void> {
    if (operation === 'cover') await this.cover()
    else if ('forget' in operation) await this.#forget(operation.forget)
    else if ('file' in operation) await this.#file(operation.file, operation.late)
    else await this.#say(operation)
    for (const name of NAMES) assert.deepEqual(await this.#page(name), this.#expected(name))
  }

  /** Files every pending page and writes a segment of all documents. */
  async cover(): Promise<void> {
    await fileAll(this.#store, this.#hold)
    for (const name of NAMES) this.#note(name)
    const { similar, similarIndex: indexing } = this.#store
    const wordings = await indexing.documents(0, 100)
    const living = new Map(wordings.map(({ document: wording, vector }) => [wording, hexOf(vector)]))
    const texts = new Set([...this.#filed.values()].map((text) => hexOf(vectorOf(text))))
    assert.deepEqual([...living.values()].sort(), [...texts].filter((text) => text !== null).sort())
    for (const [wording, vector] of living)
      assert.ok(this.#known.get(wording) === vector || wording > this.#highest, `${wording} was given again`)
    const names = await similar.names([...living.keys()], 9)
    assert.deepEqual(
      names,
      [...living.values()].map((vector) => this.#namesOf(vector)),
    )
    const removed = [...this.#known.keys()].filter((wording) => !living.has(wording))
    assert.deepEqual(await indexing.tombstones(0, HIGHEST, 100), removed)
    this.#highest = Math.max(this.#highest, ...living.keys())
    const segment = (await indexing.beginSegment(this.#hold, 1, this.#highest))!
    await indexing.publishSegment(this.#hold, segment, living.size)
    await indexing.removeTombstones(this.#hold, removed)
    this.#known = living
  }

  async #say({ name, text }: Saying): Promise<void> {
    const observation = seen(name, 0, null, web({ has_website: true, text }))
    await ingest(this.#store, [{ ...observation, observed_at: minute(1) + this.#minutes++ }])
    if (this.#forgotten.has(name) || (this.#output.get(name) ?? null) === text) return
    this.#output.set(name, text)
    this.#waiting.add(name)
  }

  async #forget(name: DomainName): Promise<void> {
    await this.#store.observations.forget(name)
    this.#forgotten.add(name)
    this.#output.delete(name)
    this.#filed.delete(name)
  }

  async #file(limit: number, late: Saying | null): Promise<void> {
    const pages = await this.#store.similarIndex.pending(limit)
    assert.ok(pages.length <= limit)
    const before = new Map(this.#output)
    if (late) await this.#say(late)
    assert.equal(await this.#store.similarIndex.filePages(this.#hold, pages.map(filingOf)), true)
    for (const { name } of pages) if (before.get(name) === this.#output.get(name)) this.#note(name)
  }

  /** Records that the text of a name is filed. */
  #note(name: DomainName): void {
    const text = this.#output.get(name) ?? null
    this.#waiting.delete(name)
    if (text === null) this.#filed.delete(name)
    else this.#filed.set(name, text)
  }

  #namesOf(vector: string | null): DomainName[] {
    return NAMES.filter((name) => this.#filed.has(name) && hexOf(vectorOf(this.#filed.get(name)!)) === vector)
  }

  #expected(name: DomainName): unknown {
    const text = this.#output.get(name) ?? null
    if (text === null) return null
    return this.#waiting.has(name) ? { terms: termsOf(text).counts } : { vector: hexOf(vectorOf(text)) }
  }

  async #page(name: DomainName): Promise<unknown> {
    const page = await this.#store.similar.page(name)
    if (page === null || 'terms' in page) return page
    return { vector: page.vector && hexOf(page.vector) }
  }
}

function hexOf(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('hex')
}
