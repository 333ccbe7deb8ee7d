/** Finished files without forgotten names: the other lines stay as they are, and readers keep what they have open. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetRows } from '../../src/export/parquet-rows.ts'
import { buildDropped } from '../../src/jobs/daily.ts'
import { type FileKind, type FileName, fileName } from '../../src/jobs/file-store/file-store.ts'
import { openS3FileStore } from '../../src/jobs/file-store/s3/store.ts'
import { buildFollowup } from '../../src/jobs/followup.ts'
import { type FileRemoval, removeFromFiles, withEachFileLock } from '../../src/jobs/forget-files.ts'
import type { BuildContext } from '../../src/jobs/publish.ts'
import { buildSnapshots } from '../../src/jobs/snapshot.ts'
import { LISTING_COLUMNS } from '../../src/store/shared/csv-row.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Day } from '../../src/values/time.ts'
import { inForm } from '../long.ts'
import { makeWorld, type World } from '../spec/world.ts'
import { batchesOf, DAY, makeDaily, runOf, some, textOf } from './built.ts'
import { readAll } from './file-store/conformance.ts'
import { S3_BUCKET, startS3Server } from './file-store/s3-server.ts'

const TODAY = '2026-11-20' as Day
const FILES: readonly [FileKind, Day][] = [
  ['daily', DAY],
  ['dropped', DAY],
  ['followup-7', DAY],
  ['snapshot', TODAY],
  ['enriched', TODAY],
]
const NAMES = ['a.example', 'b.a.example', 'b.example', 'c.example', 'domain.example', 'z.example'] as DomainName[]

/** A world with a file of each kind that has all names. Each name redirects to the one before it. */
async function fill(): Promise<World> {
  const world = await makeWorld()
  const web = { redirect_to_https: false, redirect_to_www: false, only_with_www: false, social_accounts: [] }
  const lines = NAMES.map((domain, index) => ({
    domain,
    observed_at: '2026-11-20T03:00:00Z',
    web: { ...web, has_website: false, ssl: 'valid', redirects_to: NAMES.at(index - 1) },
  }))
  await world.ingest(...lines)
  const { fileStore, store, clock } = world
  await makeDaily(world, DAY, NAMES, { qualityBounds: null })
  await buildDropped(DAY, { fileStore, ...store, now: clock.now, names: batchesOf([...NAMES]) }, runOf())
  await buildFollowup(DAY, 7, { fileStore, ...store, now: clock.now }, runOf())
  const snapshots = { fileStore, listing: store.listing, date: null, keepCount: 2, hasParquet: true }
  await buildSnapshots(snapshots, runOf())
  return world
}

/** Removes names from all files. Returns what became of which. */
async function removeAll(
  { fileStore }: World,
  gone: readonly string[],
  given: Partial<FileRemoval & BuildContext> = {},
) {
  const outcomes: [FileName, string][] = []
  const removal: FileRemoval = {
    fileStore,
    isForgotten: (name) => gone.includes(name),
    mode: 'rebuild',
    onFile: (name, outcome) => void outcomes.push([name, outcome]),
    ...given,
  }
  for (const lock of ['daily', 'followup', 'snapshot'] as const) await removeFromFiles(lock, removal, runOf(given))
  return outcomes
}

async function bytesOf({ fileStore }: World, name: FileName): Promise<Buffer> {
  const opened = (await fileStore.open(name))!
  return readAll(opened).finally(opened.close)
}

async function* oneBatch(text: string): AsyncGenerator<string> {
  yield text
}

async function parquetOf(columns: readonly string[], text: string): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of parquetRows(columns, oneBatch(text))) pieces.push(piece)
  return Buffer.concat(pieces)
}

test('a rebuilt file has the other lines in their order, and a manifest that describes them', async () => {
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.subarray(NAMES), async (gone) => {
      seen.add(gone.length)
      const world = await fill()
      const before = await Promise.all(FILES.map(([kind, day]) => textOf(world, fileName(kind, day))))
      const outcomes = await removeAll(world, gone)
      assert.equal(outcomes.length, gone.length === 0 ? 0 : FILES.length + 2)
      for (const [index, [kind, day]] of FILES.entries()) {
        const lines = before[index]!.match(/.*\n/g)!.filter(
          (line) => !gone.some((name) => /^[^,\n]+/.exec(line)![0] === name),
        )
        assert.equal(await textOf(world, fileName(kind, day)), lines.join(''), kind)
        const { rows, first, last, revision } = (await world.fileStore.manifest(fileName(kind, day)))!
        const left = NAMES.filter((name) => !gone.includes(name))
        assert.deepEqual([rows, first, last], [left.length, left[0] ?? null, left.at(-1) ?? null])
        assert.equal(revision, gone.length === 0 ? 1 : 2)
      }
      const names = await parquetOf(['domain'], await textOf(world, fileName('snapshot', TODAY)))
      assert.deepEqual(await bytesOf(world, fileName('snapshot-parquet', TODAY)), names)
      const rows = (await textOf(world, fileName('enriched', TODAY))).replace(/.*\n/, '')
      const enriched = await bytesOf(world, fileName('enriched-parquet', TODAY))
      assert.deepEqual(enriched, await parquetOf(LISTING_COLUMNS, rows))
      assert.deepEqual(await removeAll(world, gone), [], 'again')
    }),
    { numRuns: inForm(5, 50), examples: [[[]], [NAMES], [NAMES.slice(0, 1)]] },
  )
  assert.ok(seen.size >= 3, [...seen].join())
})

test('a file that is read in many pieces loses the lines of the names alone', async () => {
  const world = await makeWorld()
  const { fileStore, store, clock } = world
  const names = some(3_000)
  await makeDaily(world, DAY, names, { qualityBounds: null })
  await buildFollowup(DAY, 7, { fileStore, ...store, now: clock.now }, runOf())
  const file = fileName('followup-7', DAY)
  const lines = (await textOf(world, file)).match(/.*\n/g)!
  const gone = [names[0]!, names[1_234]!, names[2_999]!]
  await removeAll(world, gone)
  assert.deepEqual(
    (await textOf(world, file)).match(/.*\n/g),
    lines.filter((line) => !gone.includes(line.split(',')[0]!)),
  )
})

test('a download in progress ends with the bytes of its manifest, and a later one has the new file', async () => {
  const world = await fill()
  for (const mode of ['rebuild', 'withdraw'] as const) {
    const opened = (await world.fileStore.open(fileName('daily', DAY)))!
    const text = await textOf(world)
    await removeAll(world, [NAMES[mode === 'rebuild' ? 0 : 1]!], { mode })
    assert.equal(gunzipSync(await readAll(opened)).toString(), text)
    await opened.close()
    if (mode === 'rebuild') assert.ok(!(await textOf(world)).startsWith(`${NAMES[0]}\n`))
  }
  for (const [kind, day] of FILES) assert.equal(await world.fileStore.manifest(fileName(kind, day)), null, kind)
  assert.deepEqual(await world.fileStore.list('enriched-parquet'), [])
})

test('files in S3 lose the names too, and a download in progress ends with the former bytes', async (t) => {
  const { endpoint } = await startS3Server(t)
  const fileStore = openS3FileStore({ bucket: S3_BUCKET, prefix: '', endpoint, region: 'us-east-1' })
  const world = Object.assign(await makeWorld(), { fileStore })
  await makeDaily(world, DAY, NAMES, { qualityBounds: null })
  const opened = (await fileStore.open(fileName('daily', DAY)))!
  assert.deepEqual(await removeAll(world, ['a.example']), [[fileName('daily', DAY), 'rebuilt']])
  assert.equal(await textOf(world), `${NAMES.slice(1).join('\n')}\n`)
  assert.equal(gunzipSync(await readAll(opened)).toString(), `${NAMES.join('\n')}\n`)
  await opened.close()
})

test('a removal that is stopped leaves whole files, and is completed by the next one', async () => {
  const world = await fill()
  const stop = new AbortController()
  const onFile = (): void => stop.abort(new Error('stopped'))
  await assert.rejects(removeAll(world, ['c.example'], { onFile, signal: stop.signal }), /stopped/)
  assert.doesNotMatch(await textOf(world), /^c\.example$/m)
  assert.match(await textOf(world, fileName('dropped', DAY)), /^c\.example$/m)
  const rest = await removeAll(world, ['c.example'])
  assert.equal(rest.length, FILES.length + 1)
  await assert.rejects(
    removeAll(world, ['a.example'], { requireLock: () => Promise.reject(new Error('the lock is lost')) }),
    /the lock is lost/,
  )
  assert.match(await textOf(world), /^a\.example$/m)
})

test('a Parquet file without its text file is withdrawn, because nothing tells which names it has', async () => {
  const world = await fill()
  await world.fileStore.remove(fileName('snapshot', TODAY))
  const outcomes = await removeAll(world, ['unknown.example'])
  assert.deepEqual(outcomes, [[fileName('snapshot-parquet', TODAY), 'withdrawn']])
})

test('the files of a job wait until another process has built them', async () => {
  const { store } = await fill()
  const { jobs } = store
  const held = await jobs.acquireLock('followup', 'another process')
  const events: string[] = []
  const clock = {
    monotonicMs: () => 0,
    async wait(milliseconds: number, signal: AbortSignal) {
      if (milliseconds > 1_000)
        await once(signal, 'abort') // until the next renewal of a lock
      else await jobs.releaseLock(held!)
    },
  }
  const onWait = (lock: string): void => void events.push(`busy ${lock}`)
  await withEachFileLock({ jobs, holder: 'a test', clock }, new AbortController().signal, onWait, async (lock) => {
    events.push(lock)
  })
  assert.deepEqual(events, ['daily', 'busy followup', 'followup', 'snapshot'])
})
