/** Tests `domaindex index`, which brings the index of /similar and the inverse index up to date once. */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openSimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { look, site } from '../spec/observations.ts'
import { folderOf } from './run.ts'

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify(look(`n${index}.example`, { web: site({ text: `page about subject${index % 10}` }) })),
  ).join('\n')

suite('domaindex index', { concurrency: 2 }, () => {
  test('index adds every pending page and prints the number, and a second run finds none', async (t) => {
    const { run, withStore } = folderOf(t)
    assert.equal((await run(['import', '-'], { input: lines(40) })).code, 0)
    const first = await run(['index'])
    assert.equal(first.stderr, '')
    assert.match(
      first.stdout,
      /^indexed 40 pages, 10 documents \(\d+\.\d s, \d+ pages\/s\)\nmerged the inverse index into \d+ runs\n$/,
    )
    assert.equal(first.code, 0)
    await withStore(async (store) => {
      const rows = await openSimilarityService(store).similar('n3.example' as DomainName, 3)
      assert.deepEqual(
        rows,
        ['n13.example', 'n23.example', 'n33.example'].map((target) => ({ target, similarity: 1 })),
      )
      assert.equal((await store.similar.segments()).length, 1)
      assert.deepEqual(await store.jobs.lockHolders(), [])
    })
    const again = await run(['index'])
    assert.match(again.stdout, /^indexed 0 pages, 10 documents /)
    assert.equal(again.code, 0)
  })

  test('if another process maintains the index, the command names it and does nothing', async (t) => {
    const { run, withStore } = folderOf(t)
    assert.equal((await run(['import', '-'], { input: lines(3) })).code, 0)
    await withStore(({ jobs }) => jobs.acquireLock('index', 'elsewhere 17 abc'))
    const { code, stdout, stderr } = await run(['index'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^domaindex: another process \(elsewhere 17 abc\) maintains the indexes, usually domaindex serve: this command has nothing to do\n$/,
    )
    await withStore(async ({ similar }) => assert.deepEqual(await similar.segments(), []))
  })

  test('if another process maintains the inverse index, the command names it', async (t) => {
    const { run, withStore } = folderOf(t)
    assert.equal((await run(['import', '-'], { input: lines(3) })).code, 0)
    await withStore(({ jobs }) => jobs.acquireLock('inverse', 'elsewhere 17 abc'))
    const { code, stderr } = await run(['index'])
    assert.equal(code, 1)
    assert.match(stderr, /^domaindex: another process \(elsewhere 17 abc\) maintains the indexes/)
  })

  test('a missing store is reported', async (t) => {
    const { code, stderr } = await folderOf(t).run(['index'])
    assert.match(stderr, /^domaindex: there is no store at sqlite:.*store\.db: /)
    assert.equal(code, 1)
  })
})
