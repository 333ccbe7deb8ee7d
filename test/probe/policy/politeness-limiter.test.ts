/** The politeness limiter: the rate of probes per address, network and set of name servers, without starvation. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  FULL_CYCLE_SECONDS,
  makePolitenessLimiter,
  type PolitenessLimiter,
  probeRateFor,
  RATE_BOUNDS,
  type RateLimitTargets,
} from '../../../src/probe/policy/politeness-limiter.ts'
import { type IpAddress, packToHex, parseAddress } from '../../../src/values/ip-address.ts'

const at = (text: string): IpAddress => parseAddress(text) ?? assert.fail(`${text} is no address`)
const ONE = at('192.0.2.1')
const SERVERS = 'a.ns.example b.ns.example'

/** A limiter with a manual clock. */
function paceOf(kept?: number) {
  const clock = { now: 1_000 }
  return {
    clock,
    pace: makePolitenessLimiter({ nowMs: () => clock.now, ...(kept === undefined ? {} : { maxTargets: kept }) }),
  }
}

/** The start times of this many probes requested at once. */
const turnsOf = (pace: PolitenessLimiter, places: RateLimitTargets, count: number): number[] =>
  Array.from({ length: count }, () => pace.acquire(places))

test('the rate grows with the number of known names, from the minimum to the maximum', () => {
  for (const [kind, { min, max }] of Object.entries(RATE_BOUNDS) as [
    keyof typeof RATE_BOUNDS,
    { min: number; max: number },
  ][]) {
    assert.equal(probeRateFor(kind, 0), min)
    assert.equal(probeRateFor(kind, FULL_CYCLE_SECONDS * (min + max)), max)
    const names = FULL_CYCLE_SECONDS * ((min + max) / 2)
    assert.equal(names / probeRateFor(kind, names), FULL_CYCLE_SECONDS, 'all of them have their turn in ten days')
  }
})

test('one probe per second goes to an address, five to a /24 and a /48, twenty to a set of name servers', () => {
  const { pace } = paceOf()
  assert.deepEqual(turnsOf(pace, { addresses: [ONE] }, 3), [0, 1000, 2000])
  const neighbours = (network: string) => Array.from({ length: 6 }, (_, index) => at(`${network}${index + 10}`))
  for (const network of ['198.51.100.', '2001:db8:0:', '2001:db9:0:1:']) {
    const waits = neighbours(network.endsWith(':') ? `${network}:` : network).map((one) =>
      pace.acquire({ addresses: [one] }),
    )
    assert.deepEqual(waits, [0, 200, 400, 600, 800, 1000], network)
  }
  assert.equal(pace.acquire({ addresses: [at('198.51.101.10')] }), 0, 'the network beside it')
  assert.equal(pace.acquire({ addresses: [at('2001:db8:1::10')] }), 0, 'the network beside it')
  assert.deepEqual(turnsOf(pace, { nameServers: SERVERS }, 3), [0, 50, 100])
})

test('an address counts in its canonical form, however it is written', () => {
  const { pace } = paceOf()
  const forms = ['192.0.2.1', '::ffff:192.0.2.1', '64:ff9b::c000:201']
  assert.deepEqual(
    forms.map((form) => pace.acquire({ addresses: [at(form)] })),
    [0, 1000, 2000],
  )
  assert.equal(
    pace.acquire({ addresses: [at('64:ff9b::cb00:7101')] }),
    0,
    'another address behind NAT64 is another network',
  )
})

test('a query of the start time reserves nothing', () => {
  const { pace } = paceOf()
  const places = { addresses: [ONE], nameServers: SERVERS }
  assert.deepEqual([pace.wait(places), pace.wait(places), pace.acquire(places)], [0, 0, 0])
  assert.deepEqual([pace.wait(places), pace.wait(places), pace.acquire(places)], [1000, 1000, 1000])
})

test('a probe of several targets waits for the last of them, and others use the gaps', () => {
  const { pace } = paceOf()
  turnsOf(pace, { addresses: [ONE] }, 3)
  assert.equal(pace.acquire({ addresses: [ONE], nameServers: SERVERS }), 3000)
  assert.equal(pace.acquire({ nameServers: SERVERS }), 0)
  assert.equal(pace.acquire({ addresses: [at('192.0.2.2')] }), 200, 'between the turns of its neighbour')
})

test('new counts change the rate of the address, of its network by all its addresses, and of name servers', () => {
  const { pace } = paceOf()
  const two = at('192.0.2.2')
  pace.setNameCount({ address: ONE }, 2 * FULL_CYCLE_SECONDS)
  assert.deepEqual(turnsOf(pace, { addresses: [ONE] }, 3), [0, 500, 1000])
  pace.setNameCount({ address: two }, 8 * FULL_CYCLE_SECONDS)
  pace.setNameCount({ address: ONE }, 12 * FULL_CYCLE_SECONDS)
  const { pace: other } = paceOf()
  for (const [address, rounds] of [
    [ONE, 3],
    [two, 8],
    [ONE, 12],
  ] as const)
    other.setNameCount({ address }, rounds * FULL_CYCLE_SECONDS)
  const neighbours = [3, 4, 5].map((last) => other.acquire({ addresses: [at(`192.0.2.${last}`)] }))
  assert.deepEqual(neighbours, [0, 50, 100], 'twenty rounds are known in the network')
  other.setNameCount({ nameServers: SERVERS }, 100 * FULL_CYCLE_SECONDS)
  assert.deepEqual(turnsOf(other, { nameServers: SERVERS }, 3), [0, 10, 20])
})

test('an address in backoff is not contacted until its end, and its neighbours are', () => {
  const { pace, clock } = paceOf()
  pace.backOff(ONE, 60_000)
  pace.backOff(ONE, 10_000)
  assert.equal(pace.wait({ addresses: [at('::ffff:192.0.2.1')] }), 60_000)
  assert.equal(pace.wait({ addresses: [at('192.0.2.2')] }), 0)
  clock.now += 60_000
  assert.equal(pace.wait({ addresses: [ONE] }), 0)
})

test('memory is bounded, and a network remembers no more than its addresses', () => {
  const { pace } = paceOf(6)
  pace.setNameCount({ address: ONE }, 50 * FULL_CYCLE_SECONDS)
  for (let last = 2; last < 40; last++)
    pace.acquire({ addresses: [at(`198.51.${last}.1`)], nameServers: `ns${last}.example` })
  assert.deepEqual(turnsOf(pace, { addresses: [ONE] }, 2), [0, 1000], 'what was learnt is forgotten')
  pace.setNameCount({ address: at('192.0.2.2') }, 10 * FULL_CYCLE_SECONDS)
  const servers = 'x'.repeat(10_000)
  assert.deepEqual([pace.acquire({ nameServers: `${servers}1` }), pace.acquire({ nameServers: `${servers}2` })], [0, 0])
  assert.equal(pace.wait({ nameServers: `${servers}1` }), 50)
})

/** A few addresses of two networks per family, and two sets of name servers, so that they collide often. */
const anAddress = fc.constantFrom(
  ...['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.1', '2001:db8::1', '2001:db8:0:ff::1', '2001:db8:1::1'].map(
    at,
  ),
)
const somePlaces: fc.Arbitrary<RateLimitTargets> = fc.record(
  {
    addresses: fc.uniqueArray(anAddress, { minLength: 1, maxLength: 3 }),
    nameServers: fc.constantFrom(SERVERS, 'c.ns.example'),
  },
  { requiredKeys: [] },
)
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ take: somePlaces }) },
    { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 3_000 }) }) },
    { weight: 1, arbitrary: fc.record({ rest: anAddress, for: fc.integer({ min: 1, max: 20_000 }) }) },
  ),
  { minLength: 20, maxLength: 150 },
)

/** The limits that a probe of these targets counts for, each with the milliseconds between two probes. */
function spotsOf({ addresses = [], nameServers: servers }: RateLimitTargets, parts: number): [string, number][] {
  const spots = addresses.flatMap((address): [string, number][] => {
    const digits = packToHex(address)
    return [
      [digits, 1000 * parts],
      [digits.slice(0, address.includes(':') ? 14 : 8), 200 * parts],
    ]
  })
  return [...new Map(servers === undefined ? spots : [...spots, [servers, 50 * parts]])]
}

test('no window has more probes than allowed, no address in backoff is probed, and every probe starts', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5 }), (all, parts) => {
      const { pace, clock } = paceOf()
      pace.setLiveCrawlers(parts)
      const visits = new Map<string, number[]>()
      const rests = new Map<string, number>()
      for (const step of all) {
        if ('pass' in step) clock.now += step.pass
        else if ('rest' in step) {
          pace.backOff(step.rest, step.for)
          rests.set(step.rest, Math.max(rests.get(step.rest) ?? 0, clock.now + step.for))
        } else {
          const asked = pace.wait(step.take)
          const turn = clock.now + pace.acquire(step.take)
          assert.equal(turn, clock.now + asked)
          const { addresses = [] } = step.take
          const rested = Math.max(clock.now, ...addresses.map((address) => rests.get(address) ?? 0))
          assert.ok(turn >= rested)
          let ahead = 0
          for (const [spot, interval] of spotsOf(step.take, parts)) {
            const before = visits.get(spot) ?? []
            for (const other of before)
              assert.ok(Math.abs(other - turn) > interval - 1e-6, `${spot}: ${other} and ${turn}`)
            ahead += before.filter((other) => other > rested - interval).length * 2 * interval
            visits.set(spot, [...before, turn])
          }
          assert.ok(turn <= rested + ahead, 'it waits for those before it and for nobody else')
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('crawlers that share the rate have the rate of the installation together', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), anAddress, (live, address) => {
      const places = { addresses: [address], nameServers: SERVERS }
      const seconds = 60
      const visits = Array.from({ length: live }, () => {
        const { pace } = paceOf()
        pace.setLiveCrawlers(live)
        let count = 0
        while (pace.acquire(places) < seconds * 1000) count++
        return count
      }).reduce((sum, count) => sum + count, 0)
      assert.ok(visits >= seconds && visits <= seconds + live, `${visits} in ${seconds} s`)
    }),
    { numRuns: 40 },
  )
})
