/** Claims of places for files: interrupted at every write, by several servers at once, and after an upgrade. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FileStoreFault } from '../../../src/jobs/file-store/build-fault.ts'
import { fileName } from '../../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import { folderNotes } from '../../../src/jobs/file-store/place-mark.ts'
import { claimPlaces, wrongPlaces } from '../../../src/server/places/check.ts'
import { monitorPlaces } from '../../../src/server/places/monitor.ts'
import type { Place } from '../../../src/server/places/place.ts'
import { openStore } from '../../../src/store/open.ts'
import type { PlaceName } from '../../../src/store/port/ledger.ts'
import { parseDay } from '../../../src/values/time.ts'
import { folderOf } from '../../cli/run.ts'

async function world(t: TestContext) {
  const { path } = folderOf(t)
  const store = await openStore(`sqlite:${path('s.db')}`, { access: 'write', ledger: 'own', secret: null })
  t.after(() => store.close())
  const place = (folder: string, name: PlaceName = 'files'): Place => {
    const fileStore = openFolderFileStore(path(folder))
    const hasFiles = async () => (await fileStore.list('snapshot')).length > 0
    const notes = folderNotes(path(folder))
    return { name, location: folder, notes, hasFiles, newMark: randomUUID(), description: 'sqlite:/srv/s.db on one' }
  }
  return { store, path, place }
}

/** The place of a process that ends at the write or removal `at`, before it or after it. */
function endingAt(place: Place, at: number, when: 'before' | 'after'): Place {
  let count = 0
  const interrupted =
    <Values extends unknown[]>(work: (...values: Values) => Promise<void>) =>
    async (...values: Values): Promise<void> => {
      const isEnd = count++ >= at
      if (isEnd && when === 'before') throw new Error('the process ends')
      await work(...values)
      if (isEnd) throw new Error('the process ends')
    }
  const { notes } = place
  return { ...place, notes: { ...notes, write: interrupted(notes.write), remove: interrupted(notes.remove) } }
}

const anyFault = /./
const DAY = parseDay('2026-11-20')!
const wrong = async (...values: Parameters<typeof wrongPlaces>): Promise<string> =>
  (await wrongPlaces(...values)).join()

for (const at of [0, 1, 2, 3])
  for (const when of ['before', 'after'] as const)
    test(`given a claim that ends ${when} its change ${at}, the next check completes it`, async (t) => {
      const { store, place } = await world(t)
      await assert.rejects(wrongPlaces([endingAt(place('a'), at, when)], store, 'claimer'), /the process ends/)
      const isClaimed = (await store.ledger.placeMark('files')) !== null
      assert.equal(isClaimed, at > 0)
      assert.equal(await wrong([place('a')], store, 'server'), '', 'a worker beside it')
      if (isClaimed) assert.match(await wrong([place('b')], store, 'claimer'), anyFault)
      assert.equal(await wrong([place('a')], store, 'claimer'), '')
      assert.equal(await place('a').notes.read('installation'), await store.ledger.placeMark('files'))
      assert.match(await wrong([place('b')], store, 'claimer'), /b\) is empty, or has no mark/)
    })

test('given a command that ends at any change, the former or the new place is right, and running it again helps', async (t) => {
  for (const at of [0, 1, 2, 3])
    for (const when of ['before', 'after'] as const) {
      const { store, place } = await world(t)
      assert.equal(await wrong([place('former')], store, 'claimer'), '')
      await assert.rejects(claimPlaces([endingAt(place('new'), at, when)], store), /the process ends/)
      const right = [await wrong([place('former')], store, 'claimer'), await wrong([place('new')], store, 'claimer')]
      assert.equal(right.filter((fault) => fault === '').length, 1, `${at} ${when}`)
      await claimPlaces([place('new')], store)
      assert.equal(await wrong([place('new')], store, 'server'), '')
      assert.match(await wrong([place('former')], store, 'claimer'), anyFault)
    }
})

test('given servers that start together, all that share the folder are right, and no other one is', async (t) => {
  for (let round = 0; round < 20; round++) {
    const { store, place } = await world(t)
    const start = async (folder: string, delay: number): Promise<string> => {
      for (let turn = 0; turn < delay; turn++) await nextTurn()
      return wrong([place(folder)], store, 'claimer')
    }
    const shared = await Promise.all([0, round, 2 * round].map((delay) => start('shared', delay)))
    assert.deepEqual(shared, ['', '', ''], `round ${round}`)
    const [one, other] = await Promise.all([start('x', 0), start('y', round)])
    assert.match(one!, anyFault)
    assert.match(other!, anyFault)
  }
})

test('given a claim that another process completes between two reads of a check, the place is right', async (t) => {
  const { store, place } = await world(t)
  await assert.rejects(wrongPlaces([endingAt(place('a'), 1, 'before')], store, 'claimer'), /the process ends/)
  const { notes, ...rest } = place('a')
  const read = async (name: string): Promise<string | null> => {
    const text = await notes.read(name)
    assert.equal(await wrong([place('a')], store, 'claimer'), '') // another process completes the claim
    return text
  }
  assert.equal(await wrong([{ ...rest, notes: { ...notes, read } }], store, 'server'), '')
})

test('given a store that refuses claims, a process leaves one claim in the place, however often it checks', async (t) => {
  const { store, path, place } = await world(t)
  const { placeMark } = store.ledger
  const claimPlace = () => Promise.reject(new Error('read-only'))
  const own = place('a')
  for (let checks = 0; checks < 3; checks++)
    await assert.rejects(
      wrongPlaces([own], { ledger: { placeMark, claimPlace }, jobs: store.jobs }, 'claimer'),
      /read-only/,
    )
  assert.deepEqual(readdirSync(path('a')), [`installation.${own.newMark}`])
})

test('given servers with different folders that start together, exactly one is right', async (t) => {
  for (let round = 0; round < 20; round++) {
    const { store, place } = await world(t)
    const folders = ['x', 'y', 'z'].map((folder) => place(folder))
    const first = await Promise.all(folders.map((each) => wrong([each], store, 'claimer')))
    const again = await Promise.all(folders.map((each) => wrong([each], store, 'claimer')))
    assert.equal(first.filter((fault) => fault === '').length, 1)
    assert.deepEqual(again, first)
  }
})

test('given an upgraded installation with built files, a server with an empty folder does not claim it', async (t) => {
  const { store, path, place } = await world(t)
  const hold = (await store.jobs.acquireLock('snapshot', 'me'))!
  const run = (await store.jobs.startRun(hold, 'snapshot', DAY))!
  await store.jobs.endRun(run, { rows: 1, error: null })
  const places = (folder: string): Place[] => [place(folder), place(join(folder, 'inbox'), 'inbox')]
  for (const by of ['claimer', 'server'] as const)
    assert.match(await wrong(places('empty'), store, by), /empty\) is empty, but this installation has built files/)
  assert.equal(await store.ledger.placeMark('files'), null)
  assert.equal(await store.ledger.placeMark('inbox'), null)
  const content = (async function* () {
    yield Buffer.from('gzip')
  })()
  await openFolderFileStore(path('files')).publish(fileName('snapshot', DAY), content, () => ({
    ...{ generated: 1, rows: 1, plain_bytes: 1, plain_sha256: '', first: null, last: null, held: null },
  }))
  assert.equal(await wrong(places('files'), store, 'claimer'), '')
  assert.match(await wrong(places('empty'), store, 'claimer'), /empty\) is empty, or has no mark/)
})

test('given a place that never responded, a server is not ready; given one that did, the last result counts', async (t) => {
  const events: string[] = []
  const failing = async (): Promise<string[]> => {
    throw new Error('access denied')
  }
  const monitor = await monitorPlaces(failing, {
    onChange: (faults) => void events.push(...faults),
    onFailure: (reason) => void events.push(`failed: ${reason}`),
  })
  monitor.close()
  assert.equal(monitor.areRight(), false)
  assert.deepEqual(events, ['access denied'])
  t.mock.timers.enable({ apis: ['setInterval'] })
  let check = async (): Promise<string[]> => []
  const later = await monitorPlaces(() => check(), {
    onChange: () => assert.fail('nothing changed'),
    onFailure: (reason) => void events.push(`failed: ${reason}`),
  })
  check = failing
  for (let tick = 0; tick < 2; tick++) {
    t.mock.timers.tick(10_000)
    await nextTurn()
  }
  assert.equal(later.areRight(), true)
  assert.deepEqual(events, ['access denied', 'failed: access denied'])
  later.close()
})

test('given a place that was right, credentials that are refused later are a fault until they work', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const changes: string[] = []
  let fault: FileStoreFault | null = null
  const check = async (): Promise<string[]> => {
    if (fault !== null) throw fault
    return []
  }
  const onChange = (faults: readonly string[]) => void changes.push(faults.join())
  const monitor = await monitorPlaces(check, { onChange, onFailure() {} })
  const states: boolean[] = []
  for (const next of [
    new FileStoreFault('the key is unknown', true, null),
    new FileStoreFault('lost', false, null),
    null,
  ]) {
    fault = next
    t.mock.timers.tick(10_000)
    await nextTurn()
    states.push(monitor.areRight())
  }
  monitor.close()
  assert.deepEqual(states, [false, false, true])
  assert.deepEqual(changes, ['the key is unknown', ''])
})
