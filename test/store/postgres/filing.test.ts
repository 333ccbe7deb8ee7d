/**
 * Filing concurrently with writers on PostgreSQL. Locks of the test stop them at the critical moments, and nothing
 * sleeps.
 */

import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { termsOf } from '../../../src/similar/text/terms.ts'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { partitionOfName } from '../../../src/store/postgres/database/partition.ts'
import { documentOf, fileAll, filingOf, holdOf, saying } from '../conformance/similar/filed-pages.ts'
import { faults, NOW, name } from '../conformance/world.ts'
import { waiting } from './citus/waiting.ts'
import { noPostgres, postgresServer } from './server.ts'

const ONE = name('one.example')
const TWO = name('two.example')

/**
 * Two stores on one schema, as two processes have them, and a connection of the test. The first one maintains the
 * index.
 */
async function worldOf(t: TestContext) {
  const place = await (await postgresServer()).tables()
  const open = (): Promise<Store> =>
    openStore(place.url, { access: 'write', ledger: 'own', secret: null, now: () => NOW, pool: 4 })
  const [keeper, other] = [await open(), await open()]
  const hand = new pg.Client({ connectionString: place.url })
  await hand.connect()
  t.after(async () => {
    await hand.end()
    for (const store of [keeper, other]) await store.close()
    await place.drop()
  })
  return { keeper, other, hand, hold: await holdOf(keeper) }
}

/** Files pages while another process runs `meanwhile`, after the pages were read and before they are filed. */
async function fileBeside(
  { keeper, hand, hold }: Awaited<ReturnType<typeof worldOf>>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const filings = (await keeper.similarIndex.pending(10)).map(filingOf)
  await hand.query('begin; lock table page_document in share row exclusive mode')
  const filed = keeper.similarIndex.filePages(hold, filings)
  await waiting(hand, 1)
  const done = meanwhile()
  await waiting(hand, 2)
  await hand.query('commit')
  assert.equal(await filed, true)
  await done
}

async function namesOf(store: Store, text: string) {
  const wording = await documentOf(store, text)
  return wording === null ? null : (await store.similar.names([wording], 9))[0]
}

suite('filing concurrently with writers on PostgreSQL', { skip: noPostgres, concurrency: 2 }, () => {
  test('a page that a writer has locked is left for the next round without waiting', async (t) => {
    const { keeper, hand, hold } = await worldOf(t)
    await ingest(keeper, [saying(ONE, 1, 'one'), saying(TWO, 1, 'two')])
    const filings = (await keeper.similarIndex.pending(10)).map(filingOf)
    await hand.query('begin')
    await hand.query(
      `select 1 from pending_page p join facts f on f.part = $2 and f.id = p.id
        where p.part = $2 and f.name = $1 for update of p`,
      [ONE, partitionOfName(ONE)],
    )
    assert.equal(await keeper.similarIndex.filePages(hold, filings), true)
    assert.deepEqual(
      (await keeper.similarIndex.pending(10)).map((page) => page.name),
      [ONE],
    )
    await hand.query('rollback')
    await fileAll(keeper, hold)
    assert.deepEqual([await namesOf(keeper, 'one'), await namesOf(keeper, 'two')], [[ONE], [TWO]])
    assert.deepEqual(await faults(keeper), [])
  })

  const removed = {
    'a name that is forgotten': (store: Store) => store.observations.forget(ONE),
    'a page whose text goes': (store: Store) => ingest(store, [saying(ONE, 2, null)]),
  }
  for (const [what, write] of Object.entries(removed))
    test(`${what} while it is filed is in no response`, async (t) => {
      const world = await worldOf(t)
      const { keeper, other, hold } = world
      await ingest(keeper, [saying(ONE, 1, 'both'), saying(TWO, 1, 'both')])
      await fileBeside(world, () => write(other))
      assert.deepEqual([await keeper.similar.page(ONE), await namesOf(keeper, 'both')], [null, [TWO]])
      assert.deepEqual(await faults(keeper), [])
      await other.observations.forget(TWO)
      await fileAll(keeper, hold)
      assert.equal(await documentOf(keeper, 'both'), null)
    })

  test('a page whose text changes while it is filed is pending again', async (t) => {
    const world = await worldOf(t)
    const { keeper, other, hold } = world
    await ingest(keeper, [saying(ONE, 1, 'old')])
    await fileBeside(world, () => ingest(other, [saying(ONE, 2, 'new')]))
    assert.deepEqual(await keeper.similar.page(ONE), { terms: termsOf('new').counts })
    await fileAll(keeper, hold)
    assert.deepEqual([await namesOf(keeper, 'new'), await documentOf(keeper, 'old')], [[ONE], null])
    assert.deepEqual(await faults(keeper), [])
  })

  test('writers, forgetting and filing in any order leave nothing behind, and none gives up', async (t) => {
    const { keeper, other, hold } = await worldOf(t)
    const names = Array.from({ length: 40 }, (_, number) => `n${number}.example`)
    const text = (number: number, round: number) => [`word${(number + round) % 7}`, null, '...'][(number * round) % 3]!
    const write = async (store: Store, shift: number): Promise<void> => {
      for (let round = 1; round <= 12; round++)
        await ingest(
          store,
          names.map((each, number) => saying(each, 2 * round + shift, text(number, round + shift))),
        )
    }
    const forget = async (): Promise<void> => {
      for (const each of names.slice(0, 10)) await other.observations.forget(name(each))
    }
    let writing = true
    const file = async (): Promise<void> => {
      while (writing)
        assert.equal(
          await keeper.similarIndex.filePages(hold, (await keeper.similarIndex.pending(15)).map(filingOf)),
          true,
        )
    }
    const filed = file()
    await Promise.all([write(keeper, 0), write(other, 1), forget()]).finally(() => {
      writing = false
    })
    await filed
    await fileAll(keeper, hold)
    assert.deepEqual(await faults(keeper), [])
    for (const each of names.slice(0, 10)) assert.equal(await keeper.similar.page(name(each)), null)
    const wordings = await keeper.similarIndex.documents(0, 100)
    const output = await keeper.similar.names(
      wordings.map(({ document: wording }) => wording),
      100,
    )
    const expected = names.slice(10).filter((_, at) => /word/.test(text(10 + at, 13) ?? ''))
    assert.deepEqual(output.flat().sort(), expected.sort())
  })
})
