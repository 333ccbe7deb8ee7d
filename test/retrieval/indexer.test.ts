/** The indexer: killed, robbed of its duty, standing by, and how far it says that it has followed. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { indexOnce, keepIndex } from '../../src/retrieval/indexer.ts'
import { Indexer } from '../../src/retrieval/work.ts'
import { withDuty } from '../../src/store/duty.ts'
import { HOLD_SECONDS } from '../../src/store/jobs.ts'
import type { Store } from '../../src/store/store.ts'
import { name } from '../store/conformance/world.ts'
import { Patience, watched } from './indexing.ts'
import { type Pages, STILL, World } from './world.ts'

const QUIET = { progress: () => {}, failed: assert.ifError }

async function inWorld(deed: (world: World) => Promise<void>): Promise<void> {
  const world = await World.open()
  try {
    await deed(world)
  } finally {
    await world.close()
  }
}

/** What a statement finds in the store's file. */
function found({ opened }: World, sql: string): unknown[] {
  const database = new DatabaseSync(opened.url.slice('sqlite:'.length), { readOnly: true })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

const UNFINISHED = `select 'segment', number from segment where state <> 'answering'
  union all select 'posting', segment from posting where segment not in (select number from segment where state = 'answering')
  union all select 'frequency', segment from frequency where segment not in (select number from segment where state = 'answering')`

/** Subjects that pages share, and a word of each one's own. */
function pagesFrom(from: number, count: number): Pages {
  const range = Array.from({ length: count }, (_, at) => from + at)
  return Object.fromEntries(
    range.map((at) => [`page${at}.example`, `subject${at % 7} theme${at % 5} ${at % 3 === 0 ? 'twin' : `own${at}`}`]),
  )
}

class Killed extends Error {}

/** What is said, changed and forgotten, and between these the index follows. */
const HISTORY: ((world: World) => Promise<void>)[] = [
  (world) => world.say(pagesFrom(0, 40)),
  (world) => world.say({ ...pagesFrom(40, 25), 'page1.example': 'subject1 theme2 anew' }),
  async (world) => {
    await world.forget('page3.example')
    await world.say({ 'page5.example': null, 'page7.example': 'subject1 theme1 again' })
  },
]

/** Lives through the history; the indexer is killed before the write of that place, and another goes on. How many writes there were. */
async function live(world: World, killed: number): Promise<number> {
  let writes = 0
  const store = watched(world.store, (place) => {
    writes = place
    if (place === killed) throw new Killed()
  })
  for (const deed of HISTORY) {
    await deed(world)
    await world.index(store).catch((error) => assert.ok(error instanceof Killed, String(error)))
  }
  await world.index()
  return writes
}

test('killed before any of its writes, the next one ends with the right answers and leaves nothing unfinished', async () => {
  let writes = 0
  await inWorld(async (world) => {
    writes = await live(world, 0)
  })
  assert.ok(writes > 20, `${writes} writes`)
  for (let killed = 1; killed <= writes; killed++)
    await inWorld(async (world) => {
      await live(world, killed)
      await world.assertExact(100)
      assert.deepEqual(found(world, UNFINISHED), [], `killed before write ${killed}`)
      assert.deepEqual(await world.store.indexing.pending(10), [])
    })
})

test('whoever loses the duty writes nothing more, and the next one goes on', async () => {
  for (const robbed of [1, 2, 3, 4])
    await inWorld(async (world) => {
      await world.say(pagesFrom(0, 30))
      const other = await world.opened.another()
      const ALL = ['page', 'reading', 'wording', 'segment', 'posting', 'frequency', 'mark']
        .map((table) => `select '${table}', count(*) from ${table}`)
        .join(' union all ')
      let [before, hold]: [unknown[], Awaited<ReturnType<Store['jobs']['take']>>] = [[], null]
      const store = watched(world.store, async (place) => {
        if (place !== robbed) return
        world.clock.now += HOLD_SECONDS
        hold = await other.jobs.take('index', 'another one')
        before = found(world, ALL)
      })
      await assert.rejects(world.index(store), /another process has taken it over/)
      assert.notEqual(hold, null)
      assert.deepEqual(found(world, ALL), before)
      await other.jobs.release(hold!)
      await world.index(other)
      assert.deepEqual(found(world, UNFINISHED), [])
      await world.assertExact(100, 3)
    })
})

test('while one keeps the index another stands by, and takes over when the first one ends', async () => {
  await inWorld(async (world) => {
    const second = watched(await world.opened.another(), (place, write) => void written.push(`${place} ${write}`))
    const written: string[] = []
    const [first, next] = [new AbortController(), new AbortController()]
    const [clock, standing] = [new Patience(), new Patience()]
    const kept = keepIndex({ store: world.store, holder: 'first', clock, tell: QUIET }, first.signal)
    await clock.waits(500)
    const stood = keepIndex({ store: second, holder: 'second', clock: standing, tell: QUIET }, next.signal)
    await standing.waits(5000)
    await world.say(pagesFrom(0, 30))
    clock.pass(500)
    await clock.waits(500)
    assert.deepEqual(await world.store.indexing.pending(1), [])
    standing.pass(5000)
    await standing.waits(5000)
    assert.deepEqual(written, [])
    first.abort()
    await kept
    await world.say(pagesFrom(30, 30))
    standing.pass(5000)
    await standing.waits(500)
    assert.ok(written.length > 0)
    assert.deepEqual(await world.store.indexing.pending(1), [])
    next.abort()
    await stood
    assert.deepEqual(await world.store.jobs.holders(), [])
  })
})

test('a fault of the store is told, and it goes on after a while', async () => {
  await inWorld(async (world) => {
    const [clock, stop] = [new Patience(), new AbortController()]
    const failed: unknown[] = []
    const store = watched(world.store, (place) => {
      if (place === 1) throw new Killed('away')
    })
    await world.say(pagesFrom(0, 3))
    const tell = { progress: () => {}, failed: (error: unknown) => failed.push(error) }
    const kept = keepIndex({ store, holder: 'keeper', clock, tell }, stop.signal)
    await clock.waits(10_000)
    assert.deepEqual(failed.map(String), ['Error: away'])
    clock.pass(10_000)
    await clock.waits(500)
    assert.deepEqual(await world.store.indexing.pending(1), [])
    stop.abort()
    await kept
  })
})

test('indexing once does nothing where another process has the duty', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 3))
    await world.store.jobs.take('index', 'another one')
    const index = { store: world.store, holder: 'a test', clock: STILL, tell: QUIET }
    assert.equal(await indexOnce(index, new AbortController().signal), null)
    assert.equal((await world.store.indexing.pending(10)).length, 3)
  })
})

/** `work` with an indexer that has the duty. */
async function withIndexer(world: World, work: (indexer: Indexer) => Promise<void>): Promise<void> {
  const { store } = world
  const parts = { jobs: store.jobs, holder: 'a test', clock: STILL }
  assert.ok(await withDuty('index', parts, new AbortController().signal, (hand) => work(new Indexer(store, hand))))
}

/** That everything that was observed before then can be found by who asks. */
async function assertFollowed(world: World, until: number, observed: ReadonlyMap<string, number>): Promise<void> {
  const segments = await world.store.similar.segments()
  for (const [domain, at] of observed) {
    if (at >= until) continue
    const page = await world.store.similar.page(name(domain))
    assert.ok(page !== null && 'wording' in page, `${domain} of ${at} waits though all until ${until} is followed`)
    const inOne = segments.some(({ first, last }) => first <= page.wording! && page.wording! <= last)
    assert.ok(inOne, `${domain} is in no segment`)
  }
}

test('it never says to have followed further than it has, and says so soon when nothing waits', async () => {
  const deed = fc.oneof(
    { weight: 3, arbitrary: fc.constant('step' as const) },
    { weight: 1, arbitrary: fc.constant('time' as const) },
    { weight: 2, arbitrary: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 250, max: 270 })) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 16 }), (deeds) =>
      inWorld(async (world) => {
        const observed = new Map<string, number>()
        let pages = 0
        await withIndexer(world, async (indexer) => {
          for (const deed of deeds) {
            if (deed === 'step') await indexer.step()
            else if (deed === 'time') world.clock.now += 7
            else {
              await world.say(pagesFrom(pages, deed))
              for (const domain of Object.keys(pagesFrom(pages, deed))) observed.set(domain, world.clock.now)
              pages += deed
            }
            const until = await world.store.similar.followed()
            if (until !== null) await assertFollowed(world, until, observed)
          }
          world.clock.now += 60
          const then = world.clock.now
          for (let steps = 0; steps < 12; steps++) await indexer.step()
          assert.equal(await world.store.similar.followed(), then)
          await assertFollowed(world, then, observed)
        })
      }),
    ),
    { numRuns: 12 },
  )
})

test('while pages wait it lags behind', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 700))
    const observed = world.clock.now
    await withIndexer(world, async (indexer) => {
      await indexer.step()
      assert.ok(indexer.progress.waiting)
      world.clock.now += 100
      await indexer.step()
      assert.ok(((await world.store.similar.followed()) ?? 0) <= observed)
      while (await indexer.step());
      await indexer.step()
      assert.equal(await world.store.similar.followed(), observed + 100)
      assert.deepEqual([indexer.progress.filed, indexer.progress.waiting], [700, false])
    })
  })
})

test('where there are so many segments that nothing is filed, some are merged until it goes on', async () => {
  await inWorld(async (world) => {
    const hold = (await world.store.jobs.take('index', 'a test'))!
    const sizes: number[] = []
    /** None is at most a third of those that follow, the 256 pages of the first step among them. */
    for (let following = 256; sizes.length < 23; following += sizes.at(-1)!) sizes.push(Math.floor(following / 3) + 5)
    for (const [at, wordings] of sizes.toReversed().entries()) {
      const segment = (await world.store.indexing.begin(hold, at - 23, at - 23))!
      await world.store.indexing.publish(hold, segment, wordings, [])
    }
    await world.store.jobs.release(hold)
    await world.say(
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`page${at}.example`, `subject${at % 50} own${at}`])),
    )
    await world.index()
    assert.deepEqual(await world.store.indexing.pending(1), [])
    assert.equal((await world.names('page0.example'))?.length, 11)
  })
})

test('whoever asks while it files, merges and sweeps finds what was there before', async () => {
  await inWorld(async (world) => {
    const stable = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`stable${at}.example`, `bread cake mine${at}`]),
    )
    await world.say(stable)
    await world.index()
    let replaced = 0
    await withIndexer(world, async (indexer) => {
      for (let round = 0; round < 12; round++) {
        await world.say(pagesFrom(40 * round, 40))
        const numbers = new Set((await world.store.similar.segments()).map(({ segment }) => segment))
        for (let steps = 0; steps < 3; steps++) {
          const [rows] = await Promise.all([world.names('stable7.example'), indexer.step()])
          assert.equal(rows?.length, 29)
        }
        replaced +=
          numbers.size - (await world.store.similar.segments()).filter(({ segment }) => numbers.has(segment)).length
      }
    })
    assert.ok(replaced > 5, 'there were merges')
  })
})
