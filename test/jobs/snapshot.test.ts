/**
 * Snapshots: the content and the manifests of both editions, how many are kept, and that a failed build is not visible.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BuildFault } from '../../src/jobs/file-store/build-fault.ts'
import { type FileKind, fileName } from '../../src/jobs/file-store/file-store.ts'
import type { BuildContext } from '../../src/jobs/publish.ts'
import { buildSnapshots, type SnapshotBuild } from '../../src/jobs/snapshot.ts'
import { addDays, type Day } from '../../src/values/time.ts'
import { assertWhole, fetchFile, post } from '../spec/files/files.ts'
import { makeWorld, NOON, type World } from '../spec/world.ts'
import { runOf, textOf } from './built.ts'

const TODAY = '2026-11-20' as Day
const ADDONS = { addons: ['export', 'enriched'] } as const
const HEADER = 'domain,has_website,redirect_to_domain,redirect_target,mx,mail_servers,ssl,ip\n'
const OBSERVED = { observed_at: '2026-11-20T03:00:00Z' }
const WEB = { redirect_to_https: false, redirect_to_www: false, only_with_www: false, social_accounts: [] }

const LINES = [
  {
    ...OBSERVED,
    domain: 'b.example',
    dns: { status: 'ok', A: ['192.0.2.1'], MX: [{ priority: 1, mail_server: 'm.b.example' }] },
  },
  { ...OBSERVED, domain: 'a.example', web: { ...WEB, has_website: false, redirects_to: 'b.example', ssl: 'valid' } },
  { ...OBSERVED, domain: 'known.example' },
]
const NAMES = 'a.example\nb.example\nknown.example\n'
const ROWS = `${HEADER}a.example,no,yes,b.example,no,,valid,
b.example,no,no,,yes,m.b.example,nocert,v4only
known.example,no,no,,no,,nocert,
`

type Given = Partial<SnapshotBuild> & { run?: Partial<BuildContext> }

function make({ fileStore, store }: World, { run, ...rest }: Given = {}) {
  return buildSnapshots({ fileStore, listing: store.listing, date: null, keepCount: 7, ...rest }, runOf(run))
}

const datesOf = async ({ fileStore }: World, kind: FileKind): Promise<Day[]> =>
  (await fileStore.list(kind)).map(({ date }) => date)

test('both editions have every known name in byte order, and their manifests describe the content', async () => {
  const world = await makeWorld()
  await world.ingest(...LINES)
  const [names, rows] = await make(world)
  assert.equal(await textOf(world, fileName('snapshot', TODAY)), NAMES)
  assert.equal(await textOf(world, fileName('enriched', TODAY)), ROWS)
  for (const manifest of [names!, rows!]) {
    assert.deepEqual([manifest.rows, manifest.first, manifest.last], [3, 'a.example', 'known.example'])
    assert.deepEqual([manifest.generated, manifest.held, manifest.date], [NOON, null, TODAY])
  }
})

test('/snapshot reports and sends the built files in both editions', async () => {
  const world = await makeWorld()
  const { token } = await world.account(ADDONS)
  await world.ingest(...LINES)
  const built = await make(world)
  for (const [place, given] of [{}, { enriched: '1' }].entries()) {
    const { name, bytes } = built[place]!
    const fetched = await fetchFile(world, '/v1.0/snapshot', post({ token, download: '1', ...given }))
    assertWhole(fetched, fetched.bytes, `attachment; filename="${name}"`)
    assert.equal(fetched.bytes.length, bytes)
    const report = await fetchFile(world, '/v1.0/snapshot', post({ token, ...given }))
    const { meta } = JSON.parse(report.bytes.toString())
    assert.deepEqual([meta.domains, meta.size, meta.generated], [3, bytes, '2026-11-20T12:00:00+00:00'])
  }
})

test('an empty store gives an empty list, and a table without rows', async () => {
  const world = await makeWorld()
  await make(world)
  assert.equal(await textOf(world, fileName('snapshot', TODAY)), '')
  assert.equal(await textOf(world, fileName('enriched', TODAY)), HEADER)
})

test('the newest files of each edition are kept up to the limit, and a rebuilt one replaces the former one', async () => {
  const world = await makeWorld()
  for (const date of [0, 1, 2, 3, 3].map((days) => addDays(TODAY, days))) await make(world, { date, keepCount: 3 })
  const kept = [1, 2, 3].map((days) => addDays(TODAY, days))
  for (const kind of ['snapshot', 'enriched'] as const) assert.deepEqual(await datesOf(world, kind), kept)
  await make(world, { date: addDays(TODAY, -9), keepCount: 1 })
  assert.deepEqual(await datesOf(world, 'snapshot'), [addDays(TODAY, -9)], 'what was just built is no old one')
})

test('a build that has lost its lock, or is cancelled, keeps the former files', async () => {
  const world = await makeWorld()
  await world.ingest(...LINES.slice(0, 2))
  await make(world)
  await world.ingest(LINES[2]!)
  const lost = async () => {
    throw new Error('lost')
  }
  await assert.rejects(make(world, { run: { requireLock: lost } }), /lost/)
  const given = new AbortController()
  const onRows = () => given.abort(new Error('given up'))
  await assert.rejects(make(world, { run: { signal: given.signal, onRows } }), /given up/)
  await assert.rejects(make(world, { run: { signal: AbortSignal.abort(new Error('given up')) } }), /given up/)
  assert.equal((await world.fileStore.manifest(fileName('snapshot', TODAY)))!.rows, 2)
  assert.equal((await make(world))[1]!.rows, 3)
})

test('free space is checked before a build starts, by the size of the former file', async () => {
  const world = await makeWorld()
  await make(world)
  const former = await world.fileStore.list('enriched')
  const list = async (kind: FileKind) =>
    kind === 'enriched' ? former.map((manifest) => ({ ...manifest, bytes: 2 ** 30 })) : world.fileStore.list(kind)
  const fileStore = { ...world.fileStore, list, freeBytes: async () => 2 ** 30 }
  await assert.rejects(make(world, { fileStore, date: addDays(TODAY, 1) }), (error) => {
    assert.ok(error instanceof BuildFault)
    assert.match(
      error.message,
      /^the enriched file of 2026-11-21 needs 1293 MiB, .* has 1024 MiB free: free disk space/,
    )
    return true
  })
  assert.deepEqual(await datesOf(world, 'enriched'), [TODAY])
})
