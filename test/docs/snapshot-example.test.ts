/** The example of /snapshot in the OpenAPI document is what a snapshot of docs/example.jsonl returns. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SNAPSHOT_EXAMPLE } from '../../src/api/endpoints/examples.ts'
import { buildSnapshots } from '../../src/jobs/snapshot.ts'
import { runOf } from '../jobs/built.ts'
import { makeWorld } from '../spec/world.ts'
import { readPage } from './markdown.ts'

test('the example of /snapshot is a real response', async () => {
  const world = await makeWorld()
  const { fileStore, store } = world
  const lines = readPage('example.jsonl').trim().split('\n')
  await world.ingest(...lines.map((line) => JSON.parse(line) as object))
  await buildSnapshots({ fileStore, listing: store.listing, date: null, keepCount: 7 }, runOf())
  const { token } = await world.account({ addons: ['export'] })
  const body = (await world.ask('snapshot', { token })).body as typeof SNAPSHOT_EXAMPLE
  const { size } = SNAPSHOT_EXAMPLE.meta // the compressed size depends on the zlib of the machine
  assert.deepEqual({ ...body, meta: { ...body.meta, size } }, SNAPSHOT_EXAMPLE)
})
