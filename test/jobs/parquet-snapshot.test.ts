/** Snapshots as Parquet: DuckDB reads the same rows as in the compressed editions, under the same rights. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { parquetRows } from '../../src/export/parquet-rows.ts'
import { type FileKind, fileName } from '../../src/jobs/file-store/file-store.ts'
import { buildSnapshots } from '../../src/jobs/snapshot.ts'
import { csvFields } from '../../src/values/csv.ts'
import type { Day } from '../../src/values/time.ts'
import { fetchFile } from '../spec/files/files.ts'
import { makeWorld, type World } from '../spec/world.ts'
import { runOf, textOf } from './built.ts'

const TODAY = '2026-11-20' as Day
const OBSERVED = { observed_at: '2026-11-20T03:00:00Z' }

/** The rows that DuckDB reads from a file, in its order; null as ''. */
async function rowsIn(t: TestContext, bytes: Uint8Array): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-parquet-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'a.parquet')
  await writeFile(path, bytes)
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const read = await connection.runAndReadAll(`select * from read_parquet('${path}')`)
  const rows = read.getRowsJson().map((row) => row.map((value) => (value === null ? '' : String(value))))
  connection.closeSync()
  return [read.columnNames(), ...rows]
}

async function bytesOf({ fileStore }: World, kind: FileKind): Promise<Buffer> {
  const file = (await fileStore.open(fileName(kind, TODAY)))!
  const pieces: Buffer[] = []
  for await (const piece of file.read(0, file.manifest.bytes)) pieces.push(Buffer.from(piece))
  await file.close()
  return Buffer.concat(pieces)
}

test('both editions are built as Parquet too, with the same rows, manifests and rights', async (t) => {
  const world = await makeWorld()
  for (let number = 0; number < 30; number++)
    await world.ingest({
      ...OBSERVED,
      domain: `name-${number}.example`,
      dns: {
        status: 'ok',
        A: ['192.0.2.1'],
        MX: [
          { priority: 1, mail_server: 'm.example' },
          { priority: 2, mail_server: 'n.example' },
        ],
      },
    })
  const build = { fileStore: world.fileStore, listing: world.store.listing, date: null, keepCount: 2, hasParquet: true }
  const built = await buildSnapshots(build, runOf())
  assert.deepEqual(
    built.map(({ name, rows, first }) => [name, rows, first]),
    [
      'domains-2026-11-20.txt.gz',
      'domains-2026-11-20.parquet',
      'domains-enriched-2026-11-20.csv.gz',
      'domains-enriched-2026-11-20.parquet',
    ].map((name) => [name, 30, 'name-0.example']),
  )
  const names = (await textOf(world, fileName('snapshot', TODAY))).trimEnd().split('\n')
  assert.deepEqual(await rowsIn(t, await bytesOf(world, 'snapshot-parquet')), [
    ['domain'],
    ...names.map((name) => [name]),
  ])
  const rows = (await textOf(world, fileName('enriched', TODAY))).trimEnd().split('\n')
  assert.deepEqual(await rowsIn(t, await bytesOf(world, 'enriched-parquet')), rows.map(csvFields))

  const download = async (addons: ('export' | 'enriched')[], name: string) => {
    const { token } = await world.account({ addons })
    return fetchFile(world, `/files/${name}`, { headers: { authorization: `Bearer ${token}` } })
  }
  const whole = await download(['export'], 'domains-2026-11-20.parquet')
  assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'application/vnd.apache.parquet'])
  assert.equal(whole.bytes.length, built[1]!.bytes)
  assert.equal((await download(['export'], 'domains-enriched-2026-11-20.parquet')).status, 403)
  assert.equal((await download(['export', 'enriched'], 'domains-enriched-2026-11-20.parquet')).status, 200)
  assert.equal((await download([], 'domains-2026-11-20.parquet')).status, 403)
  assert.equal((await download(['export'], 'domains-2026-11-21.parquet')).status, 404)
})

test('without the setting there is no Parquet, and an empty store gives a table without rows', async (t) => {
  const world = await makeWorld()
  const build = { fileStore: world.fileStore, listing: world.store.listing, date: null, keepCount: 2 }
  assert.equal((await buildSnapshots(build, runOf())).length, 2)
  await buildSnapshots({ ...build, hasParquet: true }, runOf())
  assert.deepEqual((await rowsIn(t, await bytesOf(world, 'snapshot-parquet'))).slice(1), [])
})

test('whatever is in a field, the table has it, over many batches and row groups', async (t) => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', 'ä', '.'), minLength: 1 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(field, field), { maxLength: 20 }), { maxLength: 10 }),
      async (batches) => {
        const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
        async function* texts(): AsyncGenerator<string> {
          for (const batch of batches) yield batch.map(([a, b]) => `${quoted(a)},${quoted(b)}\n`).join('')
        }
        const pieces: Uint8Array[] = []
        for await (const piece of parquetRows(['a', 'b'], texts())) pieces.push(piece)
        const [header, ...rows] = await rowsIn(t, Buffer.concat(pieces))
        assert.deepEqual(header, ['a', 'b'])
        assert.deepEqual(rows, batches.flat())
      },
    ),
    { numRuns: 20 },
  )
})
