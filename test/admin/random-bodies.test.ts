/** Random JSON in the body of every path of /admin/v1: an error of the table, never a fault of the server. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { operatorOf } from './operators.ts'

type Schema = { properties?: Record<string, unknown> }
type Operation = { requestBody?: { content: { 'application/json': { schema: Schema } } } }

const VALUES = [null, true, 0, -1, 1e300, '', 'x', '\u0000', '2026-01-01', [], [null], [[]], [0], {}, [{}], { a: null }]
const world = await makeWorld()
const operator = await operatorOf(world)

/** Every path with a body, with its keys. */
async function operationsWithBody() {
  const { paths } = (await (await fetch(`${world.address}/admin/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const keys = Object.keys(requestBody?.content['application/json'].schema.properties ?? {})
      return keys.length === 0 ? [] : [{ path: path.replace('/admin/v1', ''), method: method.toUpperCase(), keys }]
    }),
  )
}

test('no JSON value of any key gives a 500', async () => {
  const { id } = await operator.read<{ id: number }>('/accounts', {
    method: 'POST',
    body: { email: 'any@example.com' },
  })
  const operations = await operationsWithBody()
  assert.ok(operations.length >= 3)
  for (const { path, method, keys } of operations)
    for (const key of keys)
      for (const value of VALUES) {
        const body = { email: 'random@example.com', name: 'laptop', [key]: value }
        const declared = Object.fromEntries(Object.entries(body).filter(([name]) => keys.includes(name)))
        const { status, text } = await operator.send(path.replace(/\{[^}]*\}/g, String(id)), { method, body: declared })
        assert.ok(status < 500, `${method} ${path} ${JSON.stringify(declared)}: ${status} ${text}`)
      }
})

test('a period that is null is refused, and its key is free', async () => {
  const post = (periods: unknown[]) =>
    operator.send('/accounts', { method: 'POST', body: { email: 'null@example.com', periods }, key: 'null-1' })
  assertError(await post([null]), 400, 'value_invalid')
  assert.equal((await post([])).status, 201)
})
