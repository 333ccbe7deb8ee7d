/** Tests that a reading of the quota of a real server counts every call that any of its workers has charged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAccount, observe, serverOf } from '../api/server.ts'
import { hosted } from '../spec/observations.ts'
import { until } from '../until.ts'

test('a reading of the quota counts every call that was answered before, by any worker', async (t) => {
  const { serve, withStore } = serverOf(t)
  const { token } = await withStore(async (store) => {
    await observe(store, hosted('example.com', ['192.0.2.1']))
    return makeAccount(store, 'premium')
  })
  const { address, log } = await serve({ DOMAINDEX_WORKERS: '2' })
  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${address}${path}`, { headers: { ...headers, Connection: 'close' } })).json() as Promise<{
      used?: number
    }>
  const used = async () => (await get('/account/quota', { Authorization: `Bearer ${token}` })).used
  const workers = (): number => new Set(log().flatMap(({ path, pid }) => (path === undefined ? [] : [pid]))).size
  let calls = 0
  await until(async () => {
    await get(`/v1.0/lookup?token=${token}&query=example.com`)
    assert.equal(await used(), ++calls)
    return calls >= 30 && workers() === 2
  })
  const burst = Array.from({ length: 40 }, () => get(`/v1.0/lookup?token=${token}&query=example.com`))
  await Promise.all(burst)
  assert.deepEqual(await Promise.all([used(), used(), used()]), [calls + 40, calls + 40, calls + 40])
})
