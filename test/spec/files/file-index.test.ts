/** GET /files: the files that an account may fetch, by token or by session, in pages. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeWorld, type Wanted } from '../world.ts'
import { fetchFile, listOf, publish } from './files.ts'

type File = { name: string; kind: string; date: string; rows: number; bytes: number; etag: string }
type Page = { files: File[]; next: string | null }

const world = await makeWorld()
const NAMES = [
  '2026-11-16.txt.gz',
  '2026-11-16-followup-7.csv.gz',
  '2026-11-17.txt.gz',
  '2026-11-18.txt.gz',
  '2026-11-18-followup-30.csv.gz',
  'domains-2026-11-18.txt.gz',
  'domains-enriched-2026-11-18.csv.gz',
]

before(async () => {
  for (const name of NAMES.toReversed()) await publish(world, name, listOf('one.example'), { rows: 1 })
  await publish(world, '2026-11-15.txt.gz', listOf('one.example'), { held: 'few names' })
})

const page = async (token: string, query = '') =>
  world.send(`/files${query}`, { headers: { Authorization: `Bearer ${token}` } })
const namesOf = async (wanted: Wanted) => {
  const { token } = await world.account(wanted)
  return ((await page(token)).body as Page).files.map(({ name }) => name)
}

test('an account sees the files that it may fetch, by date and kind', async () => {
  assert.deepEqual(await namesOf({ plan: 'local' }), NAMES)
  assert.deepEqual(await namesOf({}), [])
  assert.deepEqual(await namesOf({ addons: ['export'] }), ['domains-2026-11-18.txt.gz'])
  assert.deepEqual(await namesOf({ periods: ['basic:2026-11-18..2026-11-19'] }), [
    '2026-11-17.txt.gz',
    '2026-11-18.txt.gz',
  ])
  assert.deepEqual(await namesOf({ periods: ['premium:2026-11-17..2026-11-17'] }), NAMES.slice(0, 2))
})

test('every listed file can be fetched by its name, with the size and the tag of the list', async () => {
  const { token } = await world.account({ plan: 'local' })
  for (const { name, bytes, etag, rows } of ((await page(token)).body as Page).files) {
    const seen = await fetchFile(world, `/files/${name}`, { headers: { Authorization: `Bearer ${token}` } })
    assert.deepEqual([seen.status, seen.bytes.length, seen.headers.get('etag'), rows], [200, bytes, etag, 1])
  }
})

test('the pages have each file once, for any limit', async () => {
  const { token } = await world.account({ plan: 'local' })
  for (let limit = 1; limit <= 8; limit++) {
    const seen: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const body: Page = (await page(token, `?limit=${limit}&next=${next}`)).body as Page
      assert.ok(body.files.length <= limit)
      seen.push(...body.files.map(({ name }) => name))
      next = body.next
    }
    assert.deepEqual(seen, NAMES)
  }
})

test('it costs nothing, also with no calls left, and needs a token', async () => {
  const { token } = await world.account()
  for (let call = 0; call < 100; call++) await world.ask('lookup', { token, query: 'unknown.example' })
  assert.equal((await page(token)).status, 200)
  const missing = await world.send('/files', {})
  assert.deepEqual([missing.status, missing.headers.get('www-authenticate')], [401, 'Bearer'])
  const wrong = await page(token, '?next=x')
  assert.deepEqual([wrong.status, (wrong.body as { error: string }).error], [400, 'cursor_invalid'])
})
