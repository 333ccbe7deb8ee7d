/** Which look-ups of PostgreSQL share a statement. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadStatement } from '../../../src/store/postgres/database/pipelined-reader.ts'
import { postgresLookups } from '../../../src/store/postgres/facts/lookups.ts'
import { name } from '../conformance/world.ts'

/** Look-ups over a server that answers when the test says so. */
function controlledLookups() {
  const sent: { names: string[]; answer: PromiseWithResolvers<unknown[]> }[] = []
  const read: ReadStatement = async <Row>(_: unknown, values: readonly unknown[] = []) => {
    const names = String(values[1]).slice(1, -1).split(',')
    const answer = Promise.withResolvers<unknown[]>()
    sent.push({ names, answer })
    return (await answer.promise) as Row[]
  }
  const lookup = postgresLookups(read)
  return { sent, look: (domain: string) => lookup(name(domain)) }
}

/** A row that is told from others by its number of redirects. */
const rowOf = (domain: string, redirects: number): unknown[] => [
  1,
  1,
  null,
  null,
  0,
  null,
  null,
  null,
  null,
  redirects,
  null,
  domain,
] // the columns of LookupRow, and the name

const redirectsOf = async (looked: ReturnType<ReturnType<typeof controlledLookups>['look']>) =>
  (await looked)?.redirect_count ?? null

test('two look-ups are sent at once; those that arrive meanwhile share one statement, and a name is asked once', async () => {
  const { sent, look } = controlledLookups()
  const first = [look('a.example'), look('b.example')]
  const later = ['c.example', 'd.example', 'c.example', 'a.example'].map(look)
  assert.deepEqual(
    sent.map(({ names }) => names),
    [['a.example'], ['b.example']],
  )
  sent[0]!.answer.resolve([rowOf('a.example', 1)])
  assert.equal(await redirectsOf(first[0]!), 1)
  assert.deepEqual(sent[2]!.names, ['c.example', 'd.example', 'a.example'], 'asked again: its call came later')
  sent[2]!.answer.resolve([rowOf('a.example', 2), rowOf('c.example', 3)])
  assert.deepEqual(await Promise.all(later.map(redirectsOf)), [3, null, 3, 2])
  sent[1]!.answer.resolve([])
  assert.equal(await first[1], null)
  assert.equal(sent.length, 3)
})

test('a statement that fails rejects its look-ups only, and the next ones are sent', async () => {
  const { sent, look } = controlledLookups()
  const [failing, other, next] = ['a.example', 'b.example', 'c.example'].map(look)
  sent[0]!.answer.reject(new Error('the server is gone'))
  await assert.rejects(failing!, /the server is gone/)
  sent[2]!.answer.resolve([rowOf('c.example', 5)])
  assert.equal(await redirectsOf(next!), 5)
  sent[1]!.answer.resolve([rowOf('b.example', 6)])
  assert.equal(await redirectsOf(other!), 6)
})

test('a statement has at most 32 names', () => {
  const { sent, look } = controlledLookups()
  for (let index = 0; index < 2 + 32 + 5; index++) void look(`n${index}.example`)
  assert.deepEqual(
    sent.map(({ names }) => names.length),
    [1, 1, 32],
  )
})
