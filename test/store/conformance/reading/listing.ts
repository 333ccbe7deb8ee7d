/** Tests of the listing: its names, their order, and what it leaves out of concurrent writes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NO_FACTS } from '../../../../src/apply/crawl-state.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import { openBulkStore } from '../../../../src/store/open.ts'
import { BULK_TABLES } from '../../../../src/store/port/bulk.ts'
import type { ListingPage, NameListing } from '../../../../src/store/port/listing.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { formatCsvRow, LISTING_COLUMNS, listingFields } from '../../../../src/store/shared/csv-row.ts'
import { type DomainName, slotOf } from '../../../../src/values/domain-name.ts'
import { inForm } from '../../../long.ts'
import { type Event, history, NAMES } from '../arbitraries.ts'
import type { Engine, Opened } from '../engine.ts'
import { dns, faults, NOW, NXDOMAIN, name, redirecting, seen, testUnchecked, testWithStore, web } from '../world.ts'
import { Writer } from '../writing/newcomers.ts'

const RUNS = Number(process.env.DOMAINDEX_TEST_RUNS ?? inForm(5, 12))
const VISIT = BULK_TABLES.find((table) => table.name === 'crawl_state')!
/** More names than a listing sorts or returns at once. */
const MANY = 101_000

function begin(store: Store, signal = new AbortController().signal): Promise<NameListing> {
  return store.listing.start({ signal })
}

/** The lines of a listing. Every page must describe its content correctly. */
async function linesOf(pages: AsyncIterable<ListingPage>): Promise<string[]> {
  const lines: string[] = []
  for await (const { text, rows, first, last } of pages) {
    const page = Buffer.from(text).toString('latin1').split('\n')
    assert.equal(page.pop(), '', 'the last line has its end')
    const nameOf = (line: string | undefined): string | undefined => line?.split(',', 1)[0]
    assert.deepEqual([rows, first, last], [page.length, nameOf(page[0]), nameOf(page.at(-1))])
    lines.push(...page)
  }
  return lines
}

/** Names and rows of a listing that starts now, which must have the same names. */
async function walked(store: Store): Promise<{ names: string[]; rows: string[] }> {
  const walk = await begin(store)
  const [names, rows] = [await linesOf(walk.names()), await linesOf(walk.rows())]
  await walk.close()
  assert.deepEqual(
    rows.map((row) => row.split(',', 1)[0]),
    names,
  )
  return { names, rows }
}

/** The row of the current facts of a name, which a follow-up file begins with. */
async function reportedOf({ observations: frontier }: Store, of: DomainName): Promise<string> {
  const [current = NO_FACTS] = await frontier.currentFacts([of])
  return formatCsvRow(listingFields(of, current))
}

const mailServer = fc.constantFrom('.', 'mx.example', 'a,"b".example', '"', ',.example', 'c-d.example')
/** What a row depends on: addresses, mail servers and the web part, each of which may be unknown. */
const facts = fc.record({
  A: fc.constantFrom(undefined, [], ['192.0.2.1']),
  AAAA: fc.constantFrom(undefined, [], ['2001:db8::1']),
  MX: fc.option(fc.uniqueArray(fc.record({ priority: fc.nat(2), mail_server: mailServer }), { maxLength: 3 }), {
    nil: undefined,
  }),
  web: fc.option(
    fc.record(
      {
        has_website: fc.boolean(),
        redirects_to: fc.constant('target.example'),
        ssl: fc.constantFrom('valid', 'invalid', 'nocert'),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  ),
})

const WORLD = [
  seen('b.example', 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true, ssl: 'valid' })),
  seen('b-a.example', 1, dns({ A: [] }), redirecting('b.example')),
  seen('only-known.example', 1, null),
  seen('gone.example', 2, NXDOMAIN),
  seen('0.example', 1, dns({ AAAA: ['::1'] })),
  seen(
    'mail.example',
    1,
    dns({ MX: [20, 10].map((priority) => ({ priority, mail_server: `mx${priority}.example` })) }),
  ),
  seen('odd.example', 1, dns({ MX: [{ priority: 0, mail_server: 'a,"b".example' }] })),
  seen('no-mail.example', 1, dns({ MX: [] })),
  seen('null-mx.example', 1, dns({ MX: [{ priority: 0, mail_server: '.' }] })),
]

export function listing(engine: Engine): void {
  testWithStore(engine, 'a listing has every known name once, in byte order', async (store, opened) => {
    assert.deepEqual(await walked(store), { names: [], rows: [] })
    await ingest(store, WORLD)
    const expected = WORLD.map(({ domain }) => domain).sort()
    assert.deepEqual((await walked(store)).names, expected)
    await ingest(store, [seen('a.example', 1, null), seen('z.example', 1, null), seen('b.example', 9, NXDOMAIN)])
    assert.deepEqual((await walked(await opened.another())).names, ['a.example', ...expected, 'z.example'].sort())
  })

  testWithStore(engine, 'a row has the columns of the contract as follow-up files have them', async (store) => {
    await ingest(store, WORLD)
    const { rows } = await walked(store)
    const names = WORLD.map(({ domain }) => domain).sort()
    assert.deepEqual(rows, await Promise.all(names.map((each) => reportedOf(store, each))))
    assert.ok(rows.includes('b-a.example,no,yes,b.example,no,,nocert,noip'))
    assert.ok(rows.includes('mail.example,no,no,,yes,mx10.example mx20.example,nocert,'))
    assert.ok(rows.includes('odd.example,no,no,,yes,"a,""b"".example",nocert,'))
    assert.ok(rows.includes('only-known.example,no,no,,no,,nocert,'))
    assert.ok(rows.includes('null-mx.example,no,no,,no,,nocert,'))
    assert.equal(rows[0]!.split(',').length, LISTING_COLUMNS.length)
  })

  testWithStore(engine, 'a line of the listing is the row of the current facts, whatever they are', async (store) => {
    const known: string[] = []
    const property = fc.asyncProperty(fc.array(facts, { minLength: 1, maxLength: 30 }), async (drawn) => {
      const observations = drawn.map(({ web: part, ...records }, place) =>
        seen(`n${known.length + place}.example`, 1, dns(records), part && web(part)),
      )
      known.push(...observations.map(({ domain }) => domain))
      await ingest(store, observations)
      const expected = await Promise.all(known.toSorted().map((each) => reportedOf(store, name(each))))
      assert.deepEqual((await walked(store)).rows, expected)
    })
    await fc.assert(property, { numRuns: RUNS })
  })

  testWithStore(
    engine,
    'names that arrive or are forgotten after a listing starts are not in it',
    async (store, opened) => {
      const writer = await opened.another()
      await ingest(writer, WORLD)
      const walk = await begin(store)
      await ingest(writer, [seen('new.example', 1, null), seen('b.example', 9, dns({ A: ['192.0.2.9'] }))])
      await writer.observations.forget(name('0.example'))
      await writer.observations.forget(name('never.example'))
      const expected = WORLD.map(({ domain }) => domain as string).filter((each) => each !== '0.example')
      assert.deepEqual(await linesOf(walk.names()), expected.toSorted())
      assert.equal((await linesOf(walk.rows())).length, expected.length)
      assert.equal((await linesOf(walk.rows())).length, expected.length, 'read once more')
      await walk.close()
      assert.deepEqual((await walked(store)).names, [...expected, 'new.example'].sort())
    },
  )

  testUnchecked(engine, 'a listing has more names than it reads at once', async (store, opened) => {
    await fill(opened, MANY)
    const { names, rows } = await walked(store)
    const expected = Array.from({ length: MANY }, (_, n) => `n${n}.example`).sort()
    assert.deepEqual([names.length, rows.length], [MANY, MANY])
    assert.ok(names.every((each, place) => each === expected[place]))
  })

  testWithStore(
    engine,
    'a listing that is cancelled before its start leaves all names for the next one',
    async (store) => {
      await ingest(store, WORLD)
      const reason = new Error('given up')
      await assert.rejects(async () => {
        for await (const _ of (await begin(store, AbortSignal.abort(reason))).names());
      }, reason)
      await store.observations.forget(name('0.example'))
      assert.equal((await walked(store)).names.length, WORLD.length - 1)
    },
  )

  testWithStore(
    engine,
    'a listing that was cancelled halfway leaves no forgotten name in the next one',
    async (store, opened) => {
      await fill(opened, 3000)
      let steps = 0
      const halfway = { throwIfAborted: () => assert.ok(++steps < 2) } as AbortSignal
      await begin(store, halfway).catch(() => {})
      for (const each of ['n0.example', 'n999.example']) await store.observations.forget(name(each))
      const { names } = await walked(store)
      assert.deepEqual([names.length, names[0], names.at(-1)], [2998, 'n1.example', 'n998.example'])
    },
  )

  testWithStore(
    engine,
    'during writes, a listing has the names that were known at its start, each once',
    async (store, opened) => {
      await fill(opened, 3000)
      const writer = new Writer(await opened.another())
      const writing = writer.write()
      for (let round = 0; round < 5; round++) {
        const before = [...writer.done]
        const walk = await begin(store)
        const started = new Set(writer.started)
        const lines = await linesOf(walk.names())
        await walk.close()
        assert.deepEqual(lines, [...new Set(lines)].sort())
        const listed = new Set(lines)
        for (const each of before) assert.ok(listed.has(each) || writer.forgotten.has(each), `${each} is missing`)
        for (const each of lines) assert.ok(started.has(each) || each.startsWith('n'), `${each} came later`)
      }
      await writing
    },
  )

  property(engine)
}

/** Writes many names as a copy does, which takes a tenth of the time. */
async function fill({ url }: Opened, count: number): Promise<void> {
  const bulk = await openBulkStore(url, 'write')
  const names = Array.from({ length: count }, (_, n) => `n${n}.example` as DomainName)
  await bulk.write(
    VISIT,
    names.map((each) => [slotOf(each), each, null, 1, 0, null, 0, 0, 0, 0, null]),
    'whole',
  )
  await bulk.finish({
    account: 0,
    audit: 0,
    token: 0,
    session: 0,
    operator_token: 0,
    watch: 0,
    webhook: 0,
    document: 0,
    event: 0,
  })
  await bulk.close()
}

function property(engine: Engine): void {
  const parts = fc.tuple(history(NAMES, 12), history(NAMES, 12), history(NAMES, 12))
  test('whatever names arrive before and during a listing, it has exactly those known at its start and not forgotten', () =>
    fc.assert(
      fc.asyncProperty(parts, async ([before, meanwhile, after]) => {
        const opened = await engine.open({ now: NOW })
        try {
          const known = new Set<DomainName>()
          const forgotten = new Set<DomainName>()
          const happen = (events: readonly Event[]) => live(opened.store, events, known, forgotten)
          await happen(before)
          await walked(opened.store)
          await happen(meanwhile)
          const walk = await begin(await opened.another())
          const expected = new Set(known)
          await happen(after)
          const there = [...expected].filter((each) => !forgotten.has(each)).sort()
          assert.deepEqual(await linesOf(walk.names()), there)
          const rows = await Promise.all(there.map((each) => reportedOf(opened.store, each)))
          assert.deepEqual(await linesOf(walk.rows()), rows)
          await walk.close()
          assert.deepEqual(await faults(opened.store), [])
        } finally {
          await opened.close()
        }
      }),
      { numRuns: RUNS },
    ))
}

/** Applies events, and records which names are known and which were forgotten. */
async function live(
  store: Store,
  events: readonly Event[],
  known: Set<DomainName>,
  forgotten: Set<DomainName>,
): Promise<void> {
  for (const event of events) {
    if ('forget' in event) {
      await store.observations.forget(event.forget)
      forgotten.add(event.forget)
      known.delete(event.forget)
    } else {
      await ingest(store, [event])
      const [visit] = await store.observations.crawlStates([event.domain])
      if (visit!.version > 0 && !visit!.forgotten) known.add(event.domain)
    }
  }
}
