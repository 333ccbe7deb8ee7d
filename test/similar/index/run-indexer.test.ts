/** The process that maintains the index: killed, without its lock, on standby, and stopped. */

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { indexOnce, runIndexer } from '../../../src/similar/index/run-indexer.ts'
import { LOCK_SECONDS } from '../../../src/store/port/jobs.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { inForm } from '../../long.ts'
import { Patience, watched } from '../indexing.ts'
import { found, inWorld, pagesFrom, UNFINISHED } from '../internals.ts'
import { STILL, type World } from '../world.ts'

const QUIET = { progress: () => {}, failed: assert.ifError }

class Killed extends Error {}

/** Texts are added, changed and forgotten, and the index follows in between. */
const HISTORY: ((world: World) => Promise<void>)[] = [
  (world) => world.say(pagesFrom(0, 40)),
  (world) => world.say({ ...pagesFrom(40, 25), 'page1.example': 'subject1 theme2 anew' }),
  async (world) => {
    await world.forget('page3.example')
    await world.say({ 'page5.example': null, 'page7.example': 'subject1 theme1 again' })
  },
]

/**
 * Plays the history. The indexer is killed before the given write, and another one continues. Returns the number of
 * writes.
 */
async function live(world: World, killed: number): Promise<number> {
  let writes = 0
  const store = watched(world.store, (place) => {
    writes = place
    if (place === killed) throw new Killed()
  })
  for (const operation of HISTORY) {
    await operation(world)
    await world.index(store).catch((error) => assert.ok(error instanceof Killed, String(error)))
  }
  await world.index()
  return writes
}

test('if the indexer is killed before any of its writes, the next one gives the right answers and leaves nothing unfinished', async () => {
  let writes = 0
  await inWorld(async (world) => {
    writes = await live(world, 0)
  })
  assert.ok(writes > 20, `${writes} writes`)
  const stride = inForm(3, 1)
  for (let killed = randomInt(1, stride + 1); killed <= writes; killed += stride)
    await inWorld(async (world) => {
      await live(world, killed)
      await world.assertExact(100)
      assert.deepEqual(found(world, UNFINISHED), [], `killed before write ${killed}`)
      assert.deepEqual(await world.store.similarIndex.pending(10), [])
    })
})

test('tombstones of documents that no segment contains any more, left by a killed indexer, have no effect', async () => {
  await inWorld(async (world) => {
    const output = (prefix: string) =>
      Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`page${at}.example`, `subject${at % 5} ${prefix}${at}`]),
      )
    await world.say(output('old'))
    await world.index()
    await world.say(output('new'))
    const store = watched(world.store, (_, write) => {
      if (write === 'removeTombstones') throw new Killed()
    })
    await assert.rejects(world.index(store), Killed)
    const noted = await world.store.similarIndex.tombstones(0, Number.MAX_SAFE_INTEGER, 100)
    assert.equal(noted.length, 20)
    await world.assertExact(100)
    await world.say({ 'page0.example': 'subject2 newest' })
    await world.index()
    await world.assertExact(100)
    assert.deepEqual(await world.store.similarIndex.tombstones(0, noted.at(-1)!, 100), [])
  })
})

test('a process that loses the lock writes nothing more, and the next one continues', async () => {
  for (const robbed of [1, 2, 3, 4])
    await inWorld(async (world) => {
      await world.say(pagesFrom(0, 30))
      const other = await world.opened.another()
      const ALL = ['pending_page', 'page_document', 'document', 'segment', 'posting', 'document_frequency', 'metadata']
        .map((table) => `select '${table}', count(*) from ${table}`)
        .join(' union all ')
      let [before, hold]: [unknown[], Awaited<ReturnType<Store['jobs']['acquireLock']>>] = [[], null]
      const store = watched(world.store, async (place) => {
        if (place !== robbed) return
        world.clock.now += LOCK_SECONDS
        hold = await other.jobs.acquireLock('index', 'another one')
        before = found(world, ALL)
      })
      await assert.rejects(world.index(store), /another process has taken it over/)
      assert.notEqual(hold, null)
      assert.deepEqual(found(world, ALL), before)
      await other.jobs.releaseLock(hold!)
      await world.index(other)
      assert.deepEqual(found(world, UNFINISHED), [])
      await world.assertExact(100, 3)
    })
})

test('while one process maintains the index another stands by, and takes over when the first one ends', async () => {
  await inWorld(async (world) => {
    const second = watched(await world.opened.another(), (place, write) => void written.push(`${place} ${write}`))
    const written: string[] = []
    const [first, next] = [new AbortController(), new AbortController()]
    const [clock, standing] = [new Patience(), new Patience()]
    const kept = runIndexer({ store: world.store, holder: 'first', clock, reporter: QUIET }, first.signal)
    await clock.waits(500)
    const stood = runIndexer({ store: second, holder: 'second', clock: standing, reporter: QUIET }, next.signal)
    await standing.waits(5000)
    await world.say(pagesFrom(0, 30))
    clock.pass(500)
    await clock.waits(500)
    assert.deepEqual(await world.store.similarIndex.pending(1), [])
    standing.pass(5000)
    await standing.waits(5000)
    assert.deepEqual(written, [])
    first.abort()
    await kept
    await world.say(pagesFrom(30, 30))
    standing.pass(5000)
    await standing.waits(500)
    assert.ok(written.length > 0)
    assert.deepEqual(await world.store.similarIndex.pending(1), [])
    next.abort()
    await stood
    assert.deepEqual(await world.store.jobs.lockHolders(), [])
  })
})

test('an error of the store is reported, and indexing continues after a while', async () => {
  await inWorld(async (world) => {
    const [clock, stop] = [new Patience(), new AbortController()]
    const failed: unknown[] = []
    const store = watched(world.store, (place) => {
      if (place === 1) throw new Killed('away')
    })
    await world.say(pagesFrom(0, 3))
    const report = { progress: () => {}, failed: (error: unknown) => failed.push(error) }
    const kept = runIndexer({ store, holder: 'keeper', clock, reporter: report }, stop.signal)
    await clock.waits(10_000)
    assert.deepEqual(failed.map(String), ['Error: away'])
    clock.pass(10_000)
    await clock.waits(500)
    assert.deepEqual(await world.store.similarIndex.pending(1), [])
    stop.abort()
    await kept
  })
})

test('indexing once does nothing if another process has the lock', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 3))
    await world.store.jobs.acquireLock('index', 'another one')
    const index = { store: world.store, holder: 'a test', clock: STILL, reporter: QUIET }
    assert.equal(await indexOnce(index, new AbortController().signal), null)
    assert.equal((await world.store.similarIndex.pending(10)).length, 3)
  })
})

test('a stop takes effect while pages wait', async () => {
  await inWorld(async (world) => {
    await world.say(pagesFrom(0, 1100))
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    const index = { store: world.store, holder: 'a test', clock: STILL, reporter: QUIET }
    const done = await indexOnce(index, stop.signal)
    assert.ok(done !== null && done.indexed < 1100, `${done?.indexed} filed`)
  })
})
