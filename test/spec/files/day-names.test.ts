/** GET /registered and GET /dropped: the names of a day that a search finds, with the days and plans of /daily. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeWorld } from '../world.ts'
import { fetchFile, listOf, publish } from './files.ts'

const world = await makeWorld()
const { token } = await world.account({ periods: ['basic:2026-01-01..'] })
const DATE = '2026-11-19'
const REGISTERED = ['a.example', 'bank-login.example', 'mybank.example', 'shop.bank', 'zebra.example']

before(async () => {
  await publish(world, `${DATE}.txt.gz`, listOf(...REGISTERED))
  await publish(world, `${DATE}-dropped.txt.gz`, listOf('old-bank.example', 'old.example'))
})

type Page = { meta: { date: string; query: string | null; next: string | null }; result: { name: string }[] }

const get = (path: string, key = token, headers = {}) =>
  world.send(path, { headers: { Authorization: `Bearer ${key}`, Accept: 'application/json', ...headers } })
const namesOf = async (path: string) => ((await get(path)).body as Page).result.map(({ name }) => name)
const refusalOf = async (path: string, key = token) => {
  const { status, body } = await get(path, key)
  const { error, msg } = body as { error: string; msg: string }
  return [status, error, msg] as const
}

test('a search finds names of the day by a text, a pattern or an expression, and without one it has all', async () => {
  const { status, body } = await get(`/registered?date=${DATE}&q=*bank*`)
  assert.equal(status, 200)
  assert.deepEqual(body, {
    meta: { date: DATE, query: '*bank*', limit: 1_000, max_limit: 10_000, rcode: 200, msg: 'ok', next: null },
    result: [{ name: 'bank-login.example' }, { name: 'mybank.example' }, { name: 'shop.bank' }],
  })
  assert.deepEqual(await namesOf(`/registered?date=${DATE}&q=*.bank`), ['shop.bank'])
  assert.deepEqual(await namesOf(`/registered?date=${DATE}&q=/^bank-/`), ['bank-login.example'])
  assert.deepEqual(await namesOf(`/registered?date=${DATE}`), REGISTERED)
  assert.deepEqual(await namesOf(`/dropped?date=${DATE}&q=bank`), ['old-bank.example'])
  assert.deepEqual(await namesOf(`/dropped?date=${DATE}`), ['old-bank.example', 'old.example'])
})

test('pages of any size have each name once, and a cursor belongs to its day and search', async () => {
  for (const limit of [1, 2, 5]) {
    const names: string[] = []
    let next: string | null = null
    do {
      const cursor: string = next === null ? '' : `&next=${next}`
      const { meta, result } = (await get(`/registered?date=${DATE}&limit=${limit}${cursor}`)).body as Page
      names.push(...result.map(({ name }) => name))
      next = meta.next
    } while (next !== null)
    assert.deepEqual(names, REGISTERED)
  }
  const { meta } = (await get(`/registered?date=${DATE}&limit=1`)).body as Page
  for (const path of [`/registered?date=${DATE}&q=bank`, `/dropped?date=${DATE}`])
    assert.deepEqual((await refusalOf(`${path}&next=${meta.next}`)).slice(0, 2), [400, 'cursor_mismatch'])
})

test('the days are those of /daily', async () => {
  const { token: late } = await world.account({ periods: ['basic:2026-11-21..'], plan: 'basic' })
  const { token: free } = await world.account()
  const { token: before } = await world.account({ periods: ['basic:2026-01-01..2026-01-31'] })
  assert.deepEqual((await refusalOf(`/registered?date=${DATE}`, free)).slice(0, 2), [403, 'plan_required'])
  assert.deepEqual((await refusalOf(`/registered?date=${DATE}`, late)).slice(0, 2), [403, 'before_subscription'])
  assert.deepEqual((await refusalOf(`/dropped?date=${DATE}`, before)).slice(0, 2), [403, 'after_subscription'])
})

test('errors: day, search, no file, no match', async () => {
  assert.deepEqual((await refusalOf('/registered')).slice(0, 2), [400, 'date_missing'])
  assert.deepEqual((await refusalOf('/registered?date=19-11-2026')).slice(0, 2), [400, 'date_format'])
  const [status, key, message] = await refusalOf(`/registered?date=${DATE}&q=a*b`)
  assert.deepEqual([status, key], [400, 'search_invalid'])
  assert.match(message, /no 3 fixed characters in a row/)
  assert.deepEqual(await refusalOf('/dropped?date=2026-11-18'), [404, 'no_data', 'There is no file for 2026-11-18.'])
  const [, , none] = await refusalOf(`/dropped?date=${DATE}&q=shop`)
  assert.equal(none, `No name that was dropped on ${DATE} matches.`)
})

test('the rows come as CSV too, and the whole file of dropped names by its name', async () => {
  const headers = { Authorization: `Bearer ${token}`, Accept: 'text/csv' }
  const csv = await fetchFile(world, `/registered?date=${DATE}&q=bank&limit=1`, { headers })
  assert.equal(csv.bytes.toString(), 'name\nbank-login.example\n')
  const file = await fetchFile(world, `/files/${DATE}-dropped.txt.gz`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  assert.deepEqual([file.status, file.bytes], [200, listOf('old-bank.example', 'old.example')])
  assert.equal(file.headers.get('content-disposition'), `attachment; filename="${DATE}-dropped.txt.gz"`)
})
