/** The inbox: each file is imported once and archived with a report. */

import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type Inbox, type InboxReport, labelOfFile, openInbox, processInbox } from '../../src/registrations/inbox.ts'
import { makeWorld, zoneOf } from './world.ts'

/** The time of the files, and a time at which they have been unchanged for long enough. */
const WRITTEN = 1_795_000_000
const LATER = WRITTEN + 10

async function inboxOf(t: TestContext) {
  const world = await makeWorld(t)
  const folder = join(world.folder, 'inbox')
  mkdirSync(folder)
  const controller = new AbortController()
  const { signal } = controller
  const glimpses: Inbox['seenFiles'] = new Map()
  const ticks = { now: 0 }
  return {
    ...world,
    inbox: folder,
    stop: () => controller.abort(),
    put(file: string, content: string | Uint8Array): void {
      writeFileSync(join(folder, file), content)
      utimesSync(join(folder, file), WRITTEN, WRITTEN)
    },
    take: (now = LATER, onReport: (report: InboxReport) => void = () => {}) => {
      const inbox = { folder, root: world.root, store: world.store, signal, seenFiles: glimpses }
      return processInbox({ ...inbox, now: async () => now * 1000, monotonicMs: () => ticks.now, onReport })
    },
    ticks,
    glimpses,
    in: (place: string) => (existsSync(join(folder, place)) ? readdirSync(join(folder, place)).sort() : []),
    report: (path: string): InboxReport => JSON.parse(readFileSync(join(folder, `${path}.report.json`), 'utf8')),
  }
}

test("a file's name shows its kind and its day", () => {
  for (const [file, kind, name, day] of [
    ['com-2026-11-19.zone.gz', 'zone', 'com', '2026-11-19'],
    ['co.uk-2026-11-19.zone', 'zone', 'co.uk', '2026-11-19'],
    ['xn--p1ai-2026-11-19.zone.zst', 'zone', 'xn--p1ai', '2026-11-19'],
    ['2026-11-19.names.gz', 'names', null, '2026-11-19'],
    ['OURS-2026-11-19.names', 'names', 'ours', '2026-11-19'],
  ] as const)
    assert.deepEqual(labelOfFile(file), { file, kind, name, day })
  for (const file of [
    '2026-11-19.zone.gz',
    'com-2026-02-30.zone',
    'com.zone.gz',
    'com-2026-11-19.zone.gz.part',
    '.com-2026-11-19.zone.gz.part',
    'done',
    'com-2026-11-19.zone.bz2',
  ])
    assert.equal(labelOfFile(file), null, file)
})

test('zones and lists are imported once, the oldest day first, and archived in `done` with a report', async (t) => {
  const { put, take, in: lies, report, registered, inbox } = await inboxOf(t)
  put('test-2026-11-11.zone.gz', gzipSync(zoneOf(['a', 'b'])))
  put('test-2026-11-10.zone', zoneOf(['a']))
  put('2026-11-11.names.zst', zstdCompressSync(Buffer.from('x.example\nb?d\n')))
  put('ours-2026-11-11.names', 'y.example\n')
  put('notes.txt', 'mine')
  const reported: string[] = []
  const reports = await take(LATER, ({ file }) => reported.push(file))
  assert.deepEqual(reported, [
    'test-2026-11-10.zone',
    '2026-11-11.names.zst',
    'ours-2026-11-11.names',
    'test-2026-11-11.zone.gz',
  ])
  assert.deepEqual(
    reports.map(({ outcome }) => outcome),
    ['done', 'done', 'done', 'done'],
  )
  assert.deepEqual(await registered('2026-11-11'), ['b.test', 'x.example', 'y.example'])
  assert.deepEqual(lies('done'), reported.flatMap((file) => [file, `${file}.report.json`]).sort())
  assert.deepEqual(report('done/2026-11-11.names.zst'), reports[1])
  assert.deepEqual(
    reports[1]!.rejects.map(({ line, text }) => [line, text]),
    [[2, 'b?d']],
  )
  assert.deepEqual(readdirSync(inbox).sort(), ['done', 'notes.txt', 'taking'])
  assert.deepEqual(lies('taking'), [])
  assert.deepEqual(await take(), [])
})

test('a file that cannot be imported is archived in `failed` with the reason, and the rest is imported', async (t) => {
  const { put, take, in: lies, report, registered } = await inboxOf(t)
  put('test-2026-11-10.zone.gz', gzipSync(zoneOf(['a'])).subarray(0, 30))
  put('other-2026-11-10.zone', zoneOf(['a']))
  put('.b-2026-11-10.names', 'a.example\n')
  put('2026-11-10.names', 'a.example\n')
  const outcomes = (await take()).map(({ file, outcome }) => [file, outcome])
  assert.deepEqual(outcomes, [
    ['.b-2026-11-10.names', 'failed'],
    ['2026-11-10.names', 'done'],
    ['other-2026-11-10.zone', 'failed'],
    ['test-2026-11-10.zone.gz', 'failed'],
  ])
  assert.equal(lies('failed').length, 6)
  const reason = (file: string): string => (report(`failed/${file}`) as { reason: string }).reason
  assert.match(reason('test-2026-11-10.zone.gz'), /the gzip data is cut off/)
  assert.match(reason('other-2026-11-10.zone'), /the SOA is that of test, and the zone is that of other/)
  assert.match(reason('.b-2026-11-10.names'), /cannot be the name of a list/)
  assert.deepEqual(await registered('2026-11-10'), ['a.example'])
})

test('a file that is still being written is left, even if only the import detects it', async (t) => {
  const { put, take, in: lies, inbox, registered } = await inboxOf(t)
  put('2026-11-10.names', 'a.example\n')
  symlinkSync('/etc/hostname', join(inbox, '2026-11-11.names'))
  const young = await take(WRITTEN + 9)
  assert.deepEqual(
    young.map((each) => 'reason' in each && each.reason),
    ['it may still be written: it is taken once it has not changed for 10 seconds', 'it is no file'],
  )
  put('2026-11-10.names', 'a.example\n')
  put('test-2026-11-10.zone', zoneOf(['a']).slice(0, -1))
  const reports = await take(LATER, ({ file }) => {
    if (file !== '2026-11-10.names') return
    const [claimed] = [join(inbox, 'test-2026-11-10.zone')]
    writeFileSync(claimed, zoneOf(['a']).slice(0, -1))
    utimesSync(claimed, WRITTEN, WRITTEN)
  })
  assert.deepEqual(
    reports.map(({ outcome }) => outcome),
    ['done', 'failed', 'left'],
  )
  assert.deepEqual(lies('done').length, 2)
  assert.deepEqual(await registered('2026-11-10'), ['a.example'])
})

test('a file with a time in the future is imported if it has not changed between two runs', async (t) => {
  const { put, take, ticks, registered, glimpses, inbox } = await inboxOf(t)
  const look = async (): Promise<unknown[]> =>
    (await take(WRITTEN - 3600)).map((report) => ('reason' in report ? report.reason : report.outcome))
  put('2026-11-10.names', 'a.example\n')
  assert.deepEqual(await look(), ['its time lies ahead'])
  ticks.now += 9_999
  assert.deepEqual(await look(), ['its time lies ahead'], 'seen ten seconds ago it has to be')
  put('2026-11-10.names', 'a.example\nb.example\n')
  ticks.now += 1
  assert.deepEqual(await look(), ['its time lies ahead'], 'it has grown')
  ticks.now += 10_000
  assert.deepEqual(await look(), ['done'])
  assert.deepEqual(await registered('2026-11-10'), ['a.example', 'b.example'])
  put('2026-11-11.names', 'c.example\n')
  await look()
  assert.deepEqual([...glimpses.keys()], ['2026-11-11.names'])
  renameSync(join(inbox, '2026-11-11.names'), join(inbox, 'elsewhere'))
  await look()
  assert.equal(glimpses.size, 0, 'what is gone is not waited for')
})

test('the time is that of the file system, and the file that measured it is removed', async (t) => {
  const { inbox, put } = await inboxOf(t)
  put('2026-11-10.names', '')
  writeFileSync(join(inbox, 'before'), '')
  const reported = await openInbox(inbox).now()
  writeFileSync(join(inbox, 'after'), '')
  const [before, after] = ['before', 'after'].map((file) => statSync(join(inbox, file)).mtimeMs)
  assert.ok(before! <= reported && reported <= after!, `${before} ${reported} ${after}`)
  assert.deepEqual(readdirSync(join(inbox, 'taking')), [])
})

test('two processes at one inbox never import a file twice', async (t) => {
  const { put, take, in: lies, registered } = await inboxOf(t)
  const files = Array.from({ length: 6 }, (_, number) => `list${number}-2026-11-10.names`)
  for (const file of files) put(file, `${file.slice(0, 5)}.example\n`)
  const done: string[] = []
  const round = (): Promise<unknown> =>
    take(LATER, ({ file, outcome }) => {
      assert.equal(outcome, 'done')
      done.push(file)
    }).catch((error) => assert.match(String(error), /another import of zones or lists is running/))
  await Promise.all([round(), round(), round()])
  await round()
  assert.deepEqual(done.sort(), files)
  assert.equal(lies('done').length, 12)
  assert.equal((await registered('2026-11-10')).length, 6)
})

test('a file that a dead process had claimed is imported by the next process', async (t) => {
  const { put, take, inbox, in: lies } = await inboxOf(t)
  const host = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
  mkdirSync(join(inbox, 'taking'))
  put('2026-11-10.names', 'a.example\n')
  renameSync(join(inbox, '2026-11-10.names'), join(inbox, 'taking', `2026-11-10.names.${host}.999999999.0123456789ab`))
  put('2026-11-11.names', 'b.example\n')
  renameSync(
    join(inbox, '2026-11-11.names'),
    join(inbox, 'taking', `2026-11-11.names.${host}.${process.ppid}.0123456789ab`),
  )
  assert.deepEqual(
    (await take()).map(({ file, outcome }) => [file, outcome]),
    [['2026-11-10.names', 'done']],
  )
  assert.deepEqual(lies('taking'), [`2026-11-11.names.${host}.${process.ppid}.0123456789ab`])
})

test('if the store fails, the file is returned to the inbox', async (t) => {
  const { put, take, inbox, in: lies, store } = await inboxOf(t)
  put('2026-11-10.names', 'a.example\n')
  const { crawlStates: visits } = store.observations
  Object.assign(store.observations, { crawlStates: () => Promise.reject(new Error('away')) })
  await assert.rejects(take(), /away/)
  assert.deepEqual([readdirSync(inbox).sort(), lies('taking')], [['2026-11-10.names', 'taking'], []])
  Object.assign(store.observations, { crawlStates: visits })
  assert.equal((await take())[0]!.outcome, 'done')
})

test('a file that is replaced during its import never replaces the newer one', async (t) => {
  const { put, take, inbox, in: lies, report, store, registered } = await inboxOf(t)
  const file = '2026-11-10.names'
  put(file, 'old.example\n')
  const { crawlStates: visits } = store.observations
  const replace = (): Promise<never> => {
    put(file, 'new.example\n')
    return Promise.reject(new Error('away'))
  }
  Object.assign(store.observations, { crawlStates: replace })
  await assert.rejects(take(), /away/)
  assert.equal(readFileSync(join(inbox, file), 'utf8'), 'new.example\n')
  assert.deepEqual(lies('taking'), [])
  assert.equal((report(`failed/${file}`) as { reason: string }).reason, 'a newer file with its name has arrived')
  Object.assign(store.observations, { crawlStates: visits })
  assert.equal((await take())[0]!.outcome, 'done')
  assert.deepEqual(await registered('2026-11-10'), ['new.example'])
})

test('a file that grows during its import is imported again', async (t) => {
  const { put, take, inbox, in: lies, store, registered } = await inboxOf(t)
  const file = 'ours-2026-11-10.names'
  put(file, 'a.example\n')
  const { crawlStates: visits } = store.observations
  const grow: typeof visits = (names) => {
    const [claimed] = lies('taking')
    writeFileSync(join(inbox, 'taking', claimed!), 'a.example\nb.example\n')
    utimesSync(join(inbox, 'taking', claimed!), WRITTEN, WRITTEN)
    return visits(names)
  }
  Object.assign(store.observations, { crawlStates: grow })
  assert.deepEqual(
    (await take()).map(({ outcome }) => outcome),
    ['left'],
  )
  Object.assign(store.observations, { crawlStates: visits })
  assert.deepEqual(
    (await take()).map(({ outcome }) => outcome),
    ['done'],
  )
  assert.deepEqual(await registered('2026-11-10'), ['a.example', 'b.example'])
})

test('after a stop, the remaining files stay in the inbox', async (t) => {
  const { put, take, stop, inbox, in: lies } = await inboxOf(t)
  put('2026-11-10.names', 'a.example\n')
  put('2026-11-11.names', 'b.example\n')
  assert.equal((await take(LATER, stop)).length, 1)
  assert.deepEqual([readdirSync(inbox).sort(), lies('taking')], [['2026-11-11.names', 'done', 'taking'], []])
})
