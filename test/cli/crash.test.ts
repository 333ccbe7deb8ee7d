/** Tests imports that do not finish: killed, stopped, or on a full disk. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parseName } from '../../src/values/domain-name.ts'
import { inForm } from '../long.ts'
import { mountSmall, NO_MOUNT } from '../small-disk.ts'
import { until } from '../until.ts'
import { answersOf, faultsOf } from './answers.ts'
import { eventsOf, watchAll } from './import/events.ts'
import { fileOf, lineOf, nameOf } from './import/lines.ts'
import { folderOf, killAfter, outcomeOf } from './run.ts'

const NAMES = inForm(2_000, 3_000)
/** About the number of bytes that a whole import writes: store and log. */
const MAX_WRITTEN = 2_700 * NAMES
const SAMPLE = ['target.example', ...Array.from({ length: NAMES / 25 }, (_, index) => nameOf(index * 25))]

const FULL =
  /^domaindex: no space is left on the disk of \S+store\.db; what was not finished was not written; a\.jsonl is applied at least up to line \d+: run it again\n$/

suite('an import that does not come to its end', { concurrency: 2 }, () => {
  test('if an import is killed at random moments and then run again, the responses are the same and check finds nothing', async (t) => {
    const file = fileOf(NAMES, 3)
    const whole = folderOf(t)
    const { path, start, run, withStore } = folderOf(t)
    writeFileSync(path('a.jsonl'), file)
    for (const each of [withStore, whole.withStore]) await each(watchAll)
    for (let kill = 0; kill < inForm(2, 5); kill++) {
      const child = start(['import', 'a.jsonl'])
      const outcome = outcomeOf(child)
      await killAfter(child, path('.'), Math.random() * MAX_WRITTEN)
      await outcome
      assert.deepEqual(await withStore(faultsOf), [])
    }
    assert.match((await run(['import', 'a.jsonl'])).stdout, new RegExp(`^read ${3 * NAMES}, .* refused 0`))
    await whole.run(['import', '-'], { input: file })
    const expected = await whole.withStore((store) => answersOf(store, SAMPLE))
    assert.deepEqual(await withStore((store) => answersOf(store, SAMPLE)), expected)
    assert.deepEqual(await withStore(faultsOf), [])
    const events = await whole.withStore(eventsOf)
    assert.equal(events.length > NAMES, true)
    assert.deepEqual(await withStore(eventsOf), events, 'an event is lost or comes twice')
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`at ${signal} an import finishes the batch, reports where it stopped, and ends by the signal`, async (t) => {
      const { start, withStore } = folderOf(t)
      await withStore(async () => {})
      const child = start(['import', '-'])
      const outcome = outcomeOf(child)
      child.stdin.on('error', () => {})
      child.stdin.write(`${lineOf(1)}\n${lineOf(2)}\n`)
      await withStore(({ facts }) => until(async () => (await facts.lookup(parseName(nameOf(2))!)) !== null))
      child.kill(signal)
      const { stdout, stderr, ...ended } = await outcome
      assert.deepEqual(ended, { code: null, signal })
      assert.match(stdout, /^read 2, applied 2, /)
      assert.match(stderr, /stopped after line 2 of -; run it again to continue/)
    })
  }

  test('on a full disk an import reports it and writes no partial batch, and with free space it gives the same responses', async (t) => {
    const disk = mountSmall(t, '1m')
    if (disk === null) return t.skip(NO_MOUNT)
    const { run, path, withStore } = folderOf(t)
    writeFileSync(path('a.jsonl'), fileOf(NAMES))
    const env = { DOMAINDEX_STORE: `sqlite:${disk.path}/store.db`, DOMAINDEX_MIN_DISK_FREE: 'off' }
    const { code, stderr } = await run(['import', 'a.jsonl'], { env })
    assert.match(stderr, FULL)
    assert.equal(code, 1)
    disk.grow()
    assert.deepEqual(await withStore(faultsOf, env.DOMAINDEX_STORE), [])
    assert.equal((await run(['import', 'a.jsonl'], { env })).code, 0)
    await run(['import', 'a.jsonl'])
    const expected = await withStore((store) => answersOf(store, SAMPLE))
    assert.deepEqual(await withStore((store) => answersOf(store, SAMPLE), env.DOMAINDEX_STORE), expected)
  })

  test('on a disk without room to write the log back an import also ends, if more of the file follows', async (t) => {
    const disk = mountSmall(t, '504k')
    if (disk === null) return t.skip(NO_MOUNT)
    const { run, path } = folderOf(t)
    writeFileSync(path('a.jsonl'), fileOf(25_000))
    const { code, stderr } = await run(['import', 'a.jsonl'], {
      env: { DOMAINDEX_STORE: `sqlite:${disk.path}/store.db`, DOMAINDEX_MIN_DISK_FREE: 'off' },
    })
    assert.match(stderr, FULL)
    assert.equal(code, 1)
  })
})
