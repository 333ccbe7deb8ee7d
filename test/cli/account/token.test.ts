/** Tests `domaindex account token`: create, list and revoke. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, newStore, run, standing } from './account.ts'

test('a token that is created with a name and an expiry works until it is revoked', async (t) => {
  const url = newStore(t)
  await run(t, 'create', 'ann@example.com')
  const made = await json(t, 'token', 'create', 'ann@example.com', '--name', 'laptop', '--expires', '2999-01-01')
  assert.deepEqual([made.name, made.expires, made.active], ['laptop', '2999-01-01T00:00:00Z', true])
  assert.equal((await standing(url, made.token))?.token.id, made.id)
  const { tokens } = await json(t, 'token', 'list', 'ann@example.com')
  assert.deepEqual(
    tokens.map(({ name }: { name: string }) => name),
    ['first', 'laptop'],
  )
  const revoked = await json(t, 'token', 'revoke', 'ann@example.com', 'laptop')
  assert.equal(revoked.active, false)
  assert.notEqual((await standing(url, made.token))?.token.revoked, null)
})

test('a token can be revoked by id, name or prefix, or as the only one, and is never printed whole', async (t) => {
  newStore(t)
  const { token } = await json(t, 'create', 'ann@example.com')
  const create = (name: string) => json(t, 'token', 'create', 'ann@example.com', '--name', name)
  const revoke = (...given: string[]) => json(t, 'token', 'revoke', 'ann@example.com', ...given)
  const byId = await create('one')
  assert.equal((await revoke(String(byId.id))).id, byId.id)
  const byBeginning = await create('two')
  assert.equal((await revoke(byBeginning.hint)).id, byBeginning.id)
  const byName = await create('three')
  await assert.rejects(revoke(), /several tokens of/)
  await assert.rejects(revoke(byName.token), /first 8 characters/)
  assert.equal((await revoke('three')).id, byName.id)
  await assert.rejects(revoke('three'), /no such active token/)
  assert.equal((await revoke()).hint, token.slice(0, 8))
  await assert.rejects(revoke(), /no such active token/)
})

test("an account's address does not revoke the token of another account", async (t) => {
  const url = newStore(t)
  const { token } = await json(t, 'create', 'ann@example.com')
  await run(t, 'create', 'bob@example.com')
  const { id } = (await standing(url, token))!.token
  for (const given of [token.slice(0, 8), String(id)]) {
    await assert.rejects(run(t, 'token', 'revoke', 'bob@example.com', given), /no such active token/)
  }
  assert.equal((await standing(url, token))?.token.revoked, null)
})

test('a token that would have expired already is rejected', async (t) => {
  newStore(t)
  await run(t, 'create', 'ann@example.com')
  await assert.rejects(run(t, 'token', 'create', 'ann@example.com', '--expires', '2020-01-01'), /later --expires/)
  await assert.rejects(run(t, 'token', 'create', 'ann@example.com', '--expires', 'soon'), /a day or an instant/)
  assert.equal((await json(t, 'token', 'list', 'ann@example.com')).tokens.length, 1)
})
