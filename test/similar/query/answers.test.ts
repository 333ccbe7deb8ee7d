/** The answers of /similar on SQLite. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSimilarityService } from '../../../src/similar/query/similarity-service.ts'
import { name } from '../../store/conformance/world.ts'
import { inWorld } from '../internals.ts'
import { openSqliteAt, type Pages } from '../world.ts'
import { answers } from './answers.ts'

answers(openSqliteAt, 30)

test('a new page is found by a process that still uses the former IDF table', () =>
  inWorld(async (world) => {
    await world.say({ 'a.example': 'bread cake', 'b.example': 'sea' })
    await world.index()
    const retrieval = openSimilarityService(world.store, () => 0, 0)
    assert.deepEqual(await retrieval.similar(name('a.example'), 5), [])
    await world.say({ 'c.example': 'bread tea' })
    await world.index()
    const rows = await retrieval.similar(name('a.example'), 5)
    assert.deepEqual(
      rows?.map(({ target }) => target),
      ['c.example'],
    )
  }))

test('pages that others ranked above, and that have changed since, are found', () =>
  inWorld(async (world) => {
    const pages = (prefix: string, count: number, text: (at: number) => string): Pages =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}.example`, text(at)]))
    await world.say({
      ...pages('other', 1200, (at) => `sea${at} sand${at}`),
      ...pages('moved', 200, (at) => `bread cake tea milk closer${at}`),
      ...pages('stays', 20, (at) => `bread cake ${'far off '.repeat(1 + at)}`),
      'asker.example': 'bread cake tea milk',
    })
    await world.index()
    await world.say(pages('moved', 200, (at) => `maps${at} of paper${at}`))
    await world.index()
    assert.equal(
      (await world.store.similarIndex.tombstones(0, 10_000, 10_000)).length,
      200,
      'whose postings are still there',
    )
    assert.equal((await world.names('asker.example'))?.length, 20)
  }))

test('while the index changes, similarity stays symmetric in every process, and follows the index', () =>
  inWorld(async (world) => {
    const processes = [openSimilarityService(world.store), openSimilarityService(world.store)] as const
    const similarity = async (at: number, from: string, to: string) =>
      (await processes[at]!.similar(name(from), 100))?.find(({ target }) => target === to)?.similarity
    await world.say({ 'a.example': 'bread cake tea sea sand', 'b.example': 'bread cake tea maps of paper' })
    for (let step = 0; step < 8; step++) {
      await world.index()
      const there = await similarity(step % 2, 'a.example', 'b.example')
      const back = await similarity((step + 1) % 2, 'b.example', 'a.example')
      assert.ok(there !== undefined && there === back, `${there} and ${back}`)
      await world.assertExact(100)
      await world.say({ [`c${step}.example`]: `bread${step} tea sand ${'paper '.repeat(step)}` })
    }
  }))

test('documents of cached vectors that are deleted meanwhile take no position from others', () =>
  inWorld(async (world) => {
    const MOVED = 300 // more than a query compares at first
    const pages = (prefix: string, count: number, text: (at: number) => string | null): Pages =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}.example`, text(at)]))
    await world.say({
      ...pages('other', 1200, (at) => `sea${at} sand${at}`),
      ...pages('moved', MOVED, (at) => `bread cake tea milk closer${at}`),
      ...pages('stays', 120, (at) => `bread cake ${'far off '.repeat(1 + at)}`),
      'asker.example': 'bread cake tea milk',
    })
    await world.index()
    const retrieval = openSimilarityService(world.store)
    const ask = async () => (await retrieval.similar(name('asker.example'), 100))?.map(({ target }) => target)
    assert.ok((await ask())?.every((target) => target.startsWith('moved')))
    for (let at = 0; at < 75; at++) await world.forget(`moved${at}.example`)
    await world.say(pages('moved', MOVED, (at) => (at < 75 ? null : `maps${at} of paper${at}`)))
    await world.index()
    for (const _ of [1, 2]) {
      const targets = await ask()
      assert.equal(targets?.length, 100)
      assert.ok(targets?.every((target) => target.startsWith('stays')))
    }
  }))

test('the similarities to given names are those of the answer, and null without a text', () =>
  inWorld(async (world) => {
    await world.say({
      'asker.example': 'bread cake tea milk '.repeat(80),
      'same.example': 'bread cake tea milk '.repeat(80),
      'near.example': `bread cake ${'tea '.repeat(90)} sea`,
      'far.example': 'sand sea bread',
      'other.example': 'maps of paper',
    })
    await world.index()
    const retrieval = openSimilarityService(world.store)
    const rows = (await retrieval.similar(name('asker.example'), 100))!
    assert.equal(rows.length, 3)
    const targets = rows.map(({ target }) => target)
    const others = [...targets, name('other.example'), name('unknown.example')]
    assert.deepEqual(await retrieval.similarities(name('asker.example'), others), [
      ...rows.map(({ similarity }) => similarity),
      0,
      null,
    ])
  }))
