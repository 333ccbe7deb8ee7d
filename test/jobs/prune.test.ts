/** The job `prune`: each kind goes at its age, a dry run removes nothing, and a stopped run continues. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type FileKind, fileName } from '../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../src/jobs/file-store/folder.ts'
import { withJobLock } from '../../src/jobs/job-lock.ts'
import { measurePlaces } from '../../src/jobs/place-sizes.ts'
import { type PruneDependencies, type PruneReport, prune, type Retention } from '../../src/jobs/prune.ts'
import { removeDaysBefore } from '../../src/registrations/folder.ts'
import { removeArchivedBefore } from '../../src/registrations/inbox.ts'
import { openRegistrations } from '../../src/registrations/registrations.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { isHistoryPruneIncomplete } from '../../src/store/prune-history.ts'
import { readSizeHistory } from '../../src/store/size-history.ts'
import { addDays, type Day, dayOf, SECONDS_PER_DAY, startOfDay } from '../../src/values/time.ts'
import { dns, ingestAll, minute, NOW, name, seen } from '../store/conformance/world.ts'
import { still } from './installation.ts'

const TODAY = dayOf(NOW)
const FOREVER: Retention = { history: {}, files: null, inbox: null, usage: null, audit: null }
const NOTHING: PruneReport = { states: 0, names: 0, usage: 0, audit: 0, expired: 0, files: 0, days: 0, inbox: 0 }
const KINDS: readonly FileKind[] = ['daily', 'dropped', 'followup-7', 'snapshot']

type PruneOptions = { isDry?: boolean; maxDuration?: number; wait?: () => Promise<void>; signal?: AbortSignal }
type World = { store: Store; folder: string; dependencies(retention: Partial<Retention>): PruneDependencies }

async function openWorld(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-prune-'))
  const url = `sqlite:${join(folder, 'store.db')}`
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const fileStore = openFolderFileStore(join(folder, 'files'))
  return {
    store,
    folder,
    dependencies: (retention) => ({
      store,
      fileStore,
      removeDays: (before, isDry) => removeDaysBefore(join(folder, 'zones'), before, isDry),
      removeInboxFiles: (before, isDry) => removeArchivedBefore(join(folder, 'inbox'), before, isDry),
      measureSizes: async () => ({ store: 1, files: 2, zones: 3, inbox: 4 }),
      retention: { ...FOREVER, ...retention },
    }),
  }
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

/** The pages of the facts, also of those that are still in the write-ahead log. */
function pagesOf({ folder }: World): number {
  const database = new DatabaseSync(join(folder, 'store.db'), { readOnly: true })
  try {
    return database.prepare('pragma page_count').get()!.page_count as number
  } finally {
    database.close()
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Publishes files of a day, and writes its registrations. */
async function addDay({ folder }: World, day: Day): Promise<void> {
  const fileStore = openFolderFileStore(join(folder, 'files'))
  const description = { generated: startOfDay(day), rows: 0, plain_bytes: 0, plain_sha256: '' }
  for (const kind of KINDS)
    await fileStore.publish(fileName(kind, day), nothing(), () => ({
      ...description,
      first: null,
      last: null,
      held: null,
    }))
  mkdirSync(join(folder, 'zones', 'days', day), { recursive: true })
  const source = { source: 'list:x', imported: startOfDay(day), data: [] }
  writeFileSync(join(folder, 'zones', 'days', day, 'list-x.json'), JSON.stringify(source))
}

/** Prunes, or only counts. `wait`: called after each transaction that removed states. */
async function pruned(
  { store, dependencies }: World,
  retention: Partial<Retention>,
  { isDry = false, wait = async () => {}, signal = new AbortController().signal, ...bounds }: PruneOptions = {},
): Promise<PruneReport> {
  const run = { clock: { wait, monotonicMs: () => 0 }, signal, ...bounds }
  if (isDry) return prune(dependencies(retention), { ...run, lock: null })
  const done = await withJobLock('prune', { jobs: store.jobs, holder: 'test', clock: still }, signal, (lock) =>
    prune(dependencies(retention), { ...run, lock }),
  )
  return done!.result
}

test('old files go with the registrations of their day, and snapshots stay', async (t) => {
  const world = await openWorld(t)
  const days = [101, 100, 99, 1].map((back) => addDays(TODAY, -back))
  for (const day of days) await addDay(world, day)
  const retention = { files: 100 * SECONDS_PER_DAY }
  const expected = { ...NOTHING, files: 3, days: 1 }
  assert.deepEqual(await pruned(world, retention, { isDry: true }), expected)
  assert.equal((await openRegistrations(join(world.folder, 'zones')).days()).length, 4)
  assert.deepEqual(await pruned(world, retention), expected)
  const fileStore = openFolderFileStore(join(world.folder, 'files'))
  for (const kind of KINDS) {
    const dates = (await fileStore.list(kind)).map(({ date }) => date)
    assert.deepEqual(dates, kind === 'snapshot' ? days : days.slice(1), kind)
  }
  const known = await openRegistrations(join(world.folder, 'zones')).days()
  assert.deepEqual(
    known.map(({ day }) => day),
    days.slice(1),
  )
  assert.deepEqual(await pruned(world, retention), NOTHING)
})

test('files of the inbox go by the time of their report, and those that wait stay', async (t) => {
  const world = await openWorld(t)
  const inbox = join(world.folder, 'inbox')
  const put = (path: string, back: number): void => {
    mkdirSync(join(inbox, path, '..'), { recursive: true })
    writeFileSync(join(inbox, path), '')
    utimesSync(join(inbox, path), NOW - back * SECONDS_PER_DAY, NOW - back * SECONDS_PER_DAY)
  }
  put('2026-01-01.names', 300)
  put('done/2026-01-02.names', 300)
  put('done/2026-01-02.names.report.json', 31)
  put('done/2026-01-03.names', 300)
  put('done/2026-01-03.names.report.json', 29)
  put('failed/2026-01-04.names', 31)
  const retention = { inbox: 30 * SECONDS_PER_DAY }
  assert.deepEqual(await pruned(world, retention, { isDry: true }), { ...NOTHING, inbox: 2 })
  assert.deepEqual(await pruned(world, retention), { ...NOTHING, inbox: 2 })
  assert.deepEqual(readdirSync(join(inbox, 'done')).sort(), ['2026-01-03.names', '2026-01-03.names.report.json'])
  assert.deepEqual([existsSync(join(inbox, '2026-01-01.names')), readdirSync(join(inbox, 'failed'))], [true, []])
})

test('a run that is stopped continues behind what it has done', async (t) => {
  const world = await openWorld(t)
  const { store } = world
  const names = Array.from({ length: 120 }, (_, index) => name(`n${index}.example`))
  for (const n of [1, 2, 3])
    await ingestAll(
      store,
      names.map((each) => seen(each, n, dns({ TXT: [[`${n}`]] }))),
    )
  const retention = { history: { TXT: NOW - minute(3) } }
  const stop = new AbortController()
  const stopped = pruned(world, retention, { signal: stop.signal, wait: async () => stop.abort() })
  await assert.rejects(stopped, { name: 'AbortError' })
  const left = await pruned(world, retention, { isDry: true })
  assert.equal(await isHistoryPruneIncomplete(store.maintenance), false, 'the first search was not completed')
  assert.ok(left.names > 0 && left.names < names.length)
  assert.deepEqual(await pruned(world, retention), left)
  assert.deepEqual(await pruned(world, retention), NOTHING)
  const { TXT } = (await store.facts.history(names[0]!, ['TXT'], null, 9)).byType
  assert.equal(TXT.total, 1)
})

test('a run with a limited time ends after a search, and is complete after enough of them', async (t) => {
  const world = await openWorld(t)
  const { store } = world
  const names = range(1100).map((index) => `n${index}.example`)
  for (const n of [1, 2, 3])
    await ingestAll(
      store,
      names.map((each) => seen(each, n, dns({ TXT: [[`${n}`]] }))),
    )
  const retention = { history: { TXT: NOW - minute(2) } }
  const isIncomplete = () => isHistoryPruneIncomplete(store.maintenance)
  assert.deepEqual([(await pruned(world, retention, { maxDuration: 0 })).names, await isIncomplete()], [1000, true])
  assert.deepEqual([(await pruned(world, retention, { maxDuration: 0 })).names, await isIncomplete()], [100, false])
  await pruned(world, retention, { maxDuration: 0 })
  assert.equal(await isIncomplete(), true, 'it begins again')
  await pruned(world, {}, { maxDuration: 0 })
  assert.equal(await isIncomplete(), false, 'nothing is left to do if all history is kept')
})

test('unused space of the file goes back to the disk, but for a sixteenth, and the sizes of the day are recorded', async (t) => {
  const world = await openWorld(t)
  const { store } = world
  for (const n of [1, 2])
    await ingestAll(
      store,
      Array.from({ length: 60 }, (_, index) =>
        seen(`n${index}.example`, n, dns({ TXT: range(40).map((text) => [`${n} ${index} ${text} `.repeat(20)]) })),
      ),
    )
  const before = pagesOf(world)
  const report = await pruned(world, { history: { TXT: NOW - minute(2) } })
  assert.equal(report.states, 60)
  const after = pagesOf(world)
  assert.ok(after < 0.8 * before, `${after} of ${before} pages`)
  assert.ok((await store.maintenance.sizes()).unused! <= (4096 * after) / 15)
  assert.deepEqual(await readSizeHistory(store.maintenance), [{ day: TODAY, store: 1, files: 2, zones: 3, inbox: 4 }])
})

test('the places are measured by the files of the store, the manifests and the folders', async (t) => {
  const { store, folder } = await openWorld(t)
  mkdirSync(join(folder, 'zones', 'days'), { recursive: true })
  writeFileSync(join(folder, 'zones', 'a'), 'four')
  writeFileSync(join(folder, 'zones', 'days', 'b'), 'six666')
  const fileStore = openFolderFileStore(join(folder, 'files'))
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('bytes')
  }
  const description = { generated: NOW, rows: 0, plain_bytes: 0, plain_sha256: '', first: null, last: null, held: null }
  for (const kind of ['daily', 'snapshot'] as const)
    await fileStore.publish(fileName(kind, TODAY), content(), () => description)
  const sizes = await measurePlaces({
    ...{ store, fileStore, zones: join(folder, 'zones'), inbox: join(folder, 'inbox') },
  })
  const files = ['store.db', 'store-ledger.db'].map((file) => statSync(join(folder, file)).size)
  assert.deepEqual(sizes, { store: files[0]! + files[1]!, files: 10, zones: 10, inbox: 0 })
})
