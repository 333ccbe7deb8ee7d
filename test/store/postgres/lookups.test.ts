/** Which look-ups of PostgreSQL share a statement, and look-ups in shards, whose reads are repeated after a write. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailableFault } from '../../../src/store/port/fault.ts'
import { PART_VALUES, partitionOfName } from '../../../src/store/postgres/database/partition.ts'
import type { ReadStatement } from '../../../src/store/postgres/database/pipelined-reader.ts'
import { shardsOf } from '../../../src/store/postgres/database/shards.ts'
import { postgresLookups, shardedLookups } from '../../../src/store/postgres/facts/lookups.ts'
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
  domain,
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
] // the name and the columns of LookupRow

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

test('if the database is unavailable, the look-ups that wait are rejected too: they would wait as long again', async () => {
  const { sent, look } = controlledLookups()
  const [failing, other, waiting] = ['a.example', 'b.example', 'c.example'].map(look)
  sent[0]!.answer.reject(new StoreUnavailableFault('the worker does not respond'))
  for (const rejected of [failing, waiting]) await assert.rejects(rejected!, StoreUnavailableFault)
  sent[1]!.answer.resolve([rowOf('b.example', 6)])
  assert.equal(await redirectsOf(other!), 6)
  const later = look('c.example')
  sent[2]!.answer.resolve([rowOf('c.example', 5)])
  assert.equal(await redirectsOf(later), 5)
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

/** Look-ups with two shards: every read is answered by `answerTo`, by the name of its statement. */
function twoShardLookups(answerTo: (statement: string, names: string[]) => unknown[] | Promise<unknown[]>) {
  const reads: string[] = []
  const shards = shardsOf([0, 1].map((half) => PART_VALUES.filter((_, position) => position % 2 === half)))
  const read = async <Row>({ name: statement }: { name: string }, values: readonly unknown[] = []) => {
    reads.push(statement)
    return (await answerTo(statement, String(values[2]).slice(1, -1).split(','))) as Row[]
  }
  const lookup = shardedLookups({ read: read as ReadStatement, shards: async () => shards })
  return { reads, look: (domain: string) => lookup(name(domain)) }
}

const ADDRESS = '04c0000201'
/** A row with a version, which also is its number of redirects, and one address. */
const versionOf = (domain: string, version: number): unknown[] => [
  ...rowOf(domain, version),
  version,
  JSON.stringify([ADDRESS]),
]
/** The number of other names on the address. */
const counterOf = (others: number) => [{ name: 'a.example', others }]

test('in shards, counters are read again if the name was written meanwhile, and the fields are of one version', async () => {
  let [version, reads] = [1, 0]
  const { reads: sent, look } = twoShardLookups((statement) => {
    if (statement === 'facts.counters') return counterOf(10 * version)
    if (++reads === 2) version = 2
    return [versionOf('a.example', version)]
  })
  const found = await look('a.example')
  assert.deepEqual([found?.redirect_count, found?.reverse_ip_count], [2, 20])
  const [rows, counters] = ['facts.lookups-in-shard', 'facts.counters']
  assert.deepEqual(sent, [rows, counters, rows, counters, rows])
})

test('in shards, a name that is written again and again is answered nevertheless', async () => {
  let version = 0
  const { reads, look } = twoShardLookups((statement) =>
    statement === 'facts.counters' ? counterOf(1) : [versionOf('a.example', ++version)],
  )
  assert.notEqual(await look('a.example'), null)
  assert.ok(reads.length <= 10, `${reads.length} reads`)
})

test('look-ups that wait for one shard do not block those of another one', async () => {
  const away = Promise.withResolvers<unknown[]>()
  const domains = Array.from({ length: 40 }, (_, index) => `n${index}.example`)
  const isAway = (domain: string) => PART_VALUES.indexOf(partitionOfName(name(domain))) % 2 === 0
  const { look } = twoShardLookups((_, names) =>
    names.some(isAway) ? away.promise : names.map((each) => [...rowOf(each, 1), 1, null]),
  )
  const waiting = domains.filter(isAway).map(look)
  const found = await Promise.all(domains.filter((domain) => !isAway(domain)).map(look))
  assert.ok(found.length > 5 && found.every((each) => each?.redirect_count === 1))
  away.reject(new Error('away'))
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status, 'rejected')
})
