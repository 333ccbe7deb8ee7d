/** OWASP API4:2023, unrestricted resource consumption: what one session can make the server hold or do is bounded. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FILE_KINDS } from '../../src/jobs/file-store/file-store.ts'
import { assertError, visit } from '../app/sessions.ts'
import { listOf, publish } from '../spec/files/files.ts'
import { makeWorld } from '../spec/world.ts'

const world = await makeWorld()

async function visitor() {
  return visit(world, (await world.account({ plan: 'local' })).account)
}

test('an account has at most 100 tokens, also by creating at once, replacing and revoking', async () => {
  const me = await visitor()
  const attempts = await Promise.all(Array.from({ length: 120 }, () => me.send('/app/tokens', 'POST', { name: 'a' })))
  const created = attempts.filter(({ status }) => status === 201)
  assert.equal(created.length, 99, 'the account had one')
  for (const refused of attempts.filter(({ status }) => status !== 201)) assertError(refused, 409, 'conflict')
  const { id } = (created[0]!.body as { token: { id: number } }).token
  assertError(await me.send(`/app/tokens/${id}/rotate`, 'POST', { grace_hours: 168 }), 409, 'conflict')
  assert.equal((await me.send(`/app/tokens/${id}`, 'DELETE')).status, 204)
  assertError(await me.send('/app/tokens', 'POST', { name: 'a' }), 409, 'conflict')
  assert.equal((await me.read<{ tokens: unknown[] }>('/app/tokens')).tokens.length, 100)
})

test('a body is at most 64 KiB, and a range of usage 400 days', async () => {
  const me = await visitor()
  for (const path of ['/app/tokens', '/app/tokens/1/rotate', '/app/api/lookup', '/app/api/similar']) {
    const { status } = await me.send(path, 'POST', { name: 'x'.repeat(70_000) })
    assert.equal(status, 413, path)
  }
  for (const path of ['/app/usage?from=0001-01-01', '/app/usage.csv?from=0001-01-01&to=9999-12-31'])
    assertError(await me.send(path), 400, 'value_invalid')
})

test('the files are listed once for many requests of many accounts', async () => {
  await publish(world, '2026-11-18.txt.gz', listOf('one.example'))
  const { fileStore } = world
  const { list } = fileStore
  let lists = 0
  fileStore.list = (kind) => {
    lists++
    return list.call(fileStore, kind)
  }
  const visitors = await Promise.all(Array.from({ length: 5 }, visitor))
  for (let time = 0; time < 3; time++)
    await Promise.all(visitors.flatMap((each) => [each.read('/app/files'), each.read('/files?limit=999999')]))
  assert.equal(lists, FILE_KINDS.length, 'one for each kind of file')
  world.clock.ticks += 5_000
  await visitors[0]!.read('/files')
  assert.equal(lists, 2 * FILE_KINDS.length)
})

test('a list of files that cannot be read is not kept', async () => {
  const { fileStore } = world
  const { list } = fileStore
  world.clock.ticks += 5_000
  const me = await visitor()
  fileStore.list = () => Promise.reject(new Error('the disk is gone'))
  assertError(await me.send('/files'), 500, 'internal_error')
  fileStore.list = list
  assert.equal((await me.send('/files')).status, 200)
})

test('a profile lists at most 100 addresses and 100 domains', async () => {
  const A = Array.from({ length: 150 }, (_, n) => `198.51.100.${n}`)
  const at = '2026-11-20T09:00:00Z'
  await world.ingest({ domain: 'wide.example', observed_at: at, dns: { status: 'ok', A } })
  const me = await visitor()
  const { addresses } = await me.read<{ addresses: unknown[] }>('/domain/wide.example')
  assert.equal(addresses.length, 100)
})

test('the calls of a session are limited like those of a token', async () => {
  const me = await visit(world, (await world.account({ plan: 'free' })).account)
  for (let call = 0; call < 100; call++) await me.send('/ip/192.0.2.1')
  for (const path of ['/ip/192.0.2.1', '/domain/a.example', '/app/api/similar?query=a.example'])
    assertError(await me.send(path), 429, 'rate_limited')
  for (const path of ['/app/tokens', '/app/usage', '/app/plan', '/app/files', '/files'])
    assert.equal((await me.send(path)).status, 200, path)
})
