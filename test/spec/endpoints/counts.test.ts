/** The counts of /lookup equal the lengths of /redirect and /reverseip, after any observations in any order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatInstant } from '../../../src/values/time.ts'
import { inForm } from '../../long.ts'
import { hosted, look, NXDOMAIN, redirecting, SERVFAIL } from '../observations.ts'
import { rowsOf } from '../walks.ts'
import { makeWorld, NOON } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const NAMES = Array.from({ length: 9 }, (_, index) => `name${index}.example`)
const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']

type Operation = (name: string, at: string) => object
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.subarray(ADDRESSES).map(
      (given): Operation =>
        (name, at) =>
          hosted(name, given, at),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...NAMES).map(
      (target): Operation =>
        (name, at) =>
          redirecting(name, target, at),
    ),
  },
  fc.constantFrom(NXDOMAIN, SERVFAIL).map(
    (dns): Operation =>
      (name, at) =>
        look(name, { dns }, at),
  ),
)
const history = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 1, max: 5000 }), operation), {
  maxLength: 40,
})

const walk = (endpoint: string, query: string, limit: number) =>
  rowsOf<{ target: string; ip: string }>(world, endpoint, { token, query, limit })

/** Every count of /lookup equals the length of a list, and neighbours are symmetric. */
async function assertCounts(limit: number): Promise<void> {
  const seen = new Set<string>()
  for (const query of NAMES) {
    const { status, body } = await world.ask('lookup', { token, query })
    if (status === 404) continue
    const { result } = body as { result: { ip?: string; redirect_count: string; reverse_ip_count: string } }
    const isThere = result.ip !== undefined && ['v4only', 'v6only', 'both'].includes(result.ip)
    const neighbours = isThere ? await walk('reverseip', query, limit) : []
    assert.equal(result.reverse_ip_count, String(neighbours.length))
    assert.equal(result.redirect_count, String((await walk('redirect', query, limit)).length))
    for (const { target, ip } of neighbours) seen.add(`${query} ${target} ${ip}`)
  }
  for (const pair of seen) {
    const [one, other, ip] = pair.split(' ')
    assert.ok(seen.has(`${other} ${one} ${ip}`), pair)
  }
}

test('redirect_count and reverse_ip_count equal the lengths of the full lists, with any page size', async () => {
  const observed = fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), async (operations, limit) => {
    await world.ingest(...operations.map(([name, age, make]) => make(name, `${formatInstant(NOON - age)}Z`)))
    await assertCounts(limit)
  })
  await fc.assert(observed, { numRuns: inForm(4, 8), endOnFailure: true })
})
