/** Random requests to every path of /admin/v1 and /app: an error of the table, never a fault of the server. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { openMailbox } from '../app/mailbox.ts'
import { assertError, visit } from '../app/sessions.ts'
import { inForm } from '../long.ts'
import { makeWorld } from '../spec/world.ts'
import { operatorOf } from './operators.ts'

const APP = join(import.meta.dirname, '../../src/api/app')
const RUNS = inForm(10, 25)

type Operation = { method: string; path: string; keys: readonly string[] }
type Document = {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: { 'application/json': { schema: { properties?: object } } } } }>
  >
}

const world = await makeWorld()
const mailbox = await openMailbox()
after(() => mailbox.close())
const mail = { smtp: mailbox.url, from: 'service@domains.test', publicUrl: 'https://domains.test' }
await world.serve(world.store, undefined, mail)
const operator = await operatorOf(world)
const { account } = await world.account({ plan: 'basic' })
const { id } = await operator.read<{ id: number }>('/accounts', { method: 'POST', body: { email: 'any@example.com' } })

/** Every operation of the operator's document. */
async function adminOperations(): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${world.address}/admin/openapi.json`)).json()) as Document
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      keys: Object.keys(requestBody?.content['application/json'].schema.properties ?? {}),
    })),
  )
}

/** Every path that the sources of /app declare, with every method, and the keys that they read. */
function appOperations(): Operation[] {
  const sources = globSync('**/*.ts', { cwd: APP }).map((file) => readFileSync(join(APP, file), 'utf8'))
  const found = sources.flatMap((source) => [...source.matchAll(/addPageRoute\(app, context, '(\/app\/[^']*)'/g)])
  const paths = new Set(found.map(([, path]) => path!.replace(/:(\w+)/g, '{$1}')))
  const keys = ['email', 'password', 'current', 'name', 'expires', 'code', 'token', 'link', 'hours', 'account', 'grace']
  return [...paths].flatMap((path) => ['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({ method, path, keys })))
}

const deep = fc.integer({ min: 1, max: 5_000 }).map((depth) => `${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`)
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, true, -1, 1e300, '\u0000', '\ud800', '2026-01-01', [null], [[]], [{}], { __proto__: null }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.repeat(1_000)),
)
/** Values that are accepted, so that a wrong one beside them is reached. */
const ACCEPTED: Readonly<Record<string, unknown>> = {
  email: 'random@example.com',
  name: 'laptop',
  password: 'charts of the old harbour',
  current: 'charts of the old harbour',
  plan: 'basic',
  first: '2026-01-01',
  last: '2026-01-31',
  date: '2026-01-01',
}

/** A text as a body: objects with a few wrong values, any JSON, and what is none. */
const bodyOf = (keys: readonly string[]): fc.Arbitrary<string> => {
  const names = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('x', ...keys) },
    fc.constantFrom('__proto__', 'constructor'),
  )
  const objects = fc
    .array(fc.tuple(names, value), { maxLength: 2 })
    .map((pairs) => {
      const accepted = keys.filter((key) => key in ACCEPTED).map((key) => [key, ACCEPTED[key]] as const)
      return [...accepted, ...pairs]
    })
    .map((pairs) => `{${pairs.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`).join()}}`)
  return fc.oneof(
    { weight: 6, arbitrary: objects },
    { weight: 2, arbitrary: value.map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: fc.string() },
  )
}
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(String(id), '0', '-1', '9007199254740993', '1e3', '2026-01-01', 'export') },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 30 }) },
)
const query = fc.dictionary(
  fc.constantFrom('limit', 'after', 'from', 'to', 'account', 'x'),
  fc.string({ maxLength: 10 }),
)

type Request = { path: string; body: string }
const requestOf = ({ path, keys }: Operation): fc.Arbitrary<Request> =>
  fc.tuple(fc.array(segment, { minLength: 2, maxLength: 2 }), query, bodyOf(keys)).map(([values, parameters, body]) => {
    let index = 0
    const filled = path.replace(/\{[^}]*\}/g, () => encodeURIComponent(values[index++ % 2]!.toWellFormed()))
    return { path: `${filled}?${new URLSearchParams(parameters)}`, body }
  })

async function checkAll(
  operations: readonly Operation[],
  headers: () => Promise<Record<string, string>>,
): Promise<void> {
  for (const operation of operations)
    await fc.assert(
      fc.asyncProperty(requestOf(operation), async ({ path, body }) => {
        const { method } = operation
        const response = await fetch(`${world.address}${path}`, {
          method,
          headers: await headers(),
          redirect: 'manual',
          ...(method !== 'GET' && { body }),
        })
        const text = await response.text()
        assert.ok(response.status !== 500, `${method} ${path} ${body.slice(0, 300)}: ${response.status} ${text}`)
      }),
      { numRuns: RUNS },
    )
}

test('no wrong value of a single key gives a 500', async () => {
  const wrong = [
    null,
    true,
    0,
    -1,
    1e300,
    '',
    'x',
    '\u0000',
    '2026-01-01',
    [],
    [null],
    [[]],
    [0],
    {},
    [{}],
    { a: null },
  ]
  for (const { path, method, keys } of await adminOperations())
    for (const key of keys)
      for (const each of wrong) {
        const body = Object.fromEntries(keys.filter((name) => name in ACCEPTED).map((name) => [name, ACCEPTED[name]]))
        const target = path.replace('/admin/v1', '').replace(/\{[^}]*\}/g, String(id))
        const { status, text } = await operator.send(target, { method, body: { ...body, [key]: each } })
        assert.ok(status !== 500, `${method} ${target} ${key} ${JSON.stringify(each)}: ${status} ${text}`)
      }
})

test('no request of an operator gives a 500', async () => {
  const operations = await adminOperations()
  assert.ok(operations.filter(({ keys }) => keys.length > 0).length >= 3)
  await checkAll(operations, async () => ({ Authorization: `Bearer ${operator.secret}` }))
})

test('no request of the page gives a 500, with a session and without one', async () => {
  const operations = appOperations()
  assert.ok(operations.length >= 60, `${operations.length} operations`)
  let count = 0
  await checkAll(operations, async () => (++count % 4 === 0 ? {} : (await visit(world, account)).headers))
})

test('a period that is null is refused, and its key is free', async () => {
  const post = (periods: unknown[]) =>
    operator.send('/accounts', { method: 'POST', body: { email: 'null@example.com', periods }, key: 'null-1' })
  assertError(await post([null]), 400, 'value_invalid')
  assert.equal((await post([])).status, 201)
})
