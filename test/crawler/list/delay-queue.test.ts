/** A list crawl under rate limits: names of one target wait, and the others continue. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { DelayQueue, targetsAfterDelay } from '../../../src/crawler/list/delay-queue.ts'
import { openListProgress } from '../../../src/crawler/list/list-progress.ts'
import { crawlList } from '../../../src/crawler/list/list-source.ts'
import { createListCrawlTally } from '../../../src/crawler/list/list-tally.ts'
import { nameListFromArguments } from '../../../src/crawler/list/name-list.ts'
import type { SelfCheckOutcome } from '../../../src/crawler/session.ts'
import { observe } from '../../../src/observe/observe.ts'
import { WEB_LIMITS } from '../../../src/probe/http/limits.ts'
import { makePolitenessLimiter, type RateLimitTargets } from '../../../src/probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../../../src/probe/probe-result.ts'
import { SYSTEM_CLOCK } from '../../../src/server/system-clock.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../../src/values/ip-address.ts'

const at = (text: string): IpAddress => parseAddress(text)!
const HOSTER = at('192.0.2.1')
const NO_WEB = { bare: { hops: [], end: 'no_response', page: null }, www: null, certificate: { kind: 'none' } } as const

/** Names with known addresses, and a crawler with the rate limits of the web prober. Time passes by `pass`. */
function worldOf(t: TestContext, addressOf: (name: DomainName) => IpAddress) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = { now: 0 }
  const pace = makePolitenessLimiter({ nowMs: () => clock.now })
  const visits: { name: DomainName; at: number }[] = []
  const asked = new Map<DomainName, number>()
  const visit = async (domain: DomainName, turns: readonly IpAddress[] = []): Promise<ProbeResult> => {
    asked.set(domain, (asked.get(domain) ?? 0) + 1)
    const address = addressOf(domain)
    const dns = { A: { outcome: 'records', records: [address], aliases: [] } } as const
    await new Promise(setImmediate)
    const places = { addresses: [address] }
    if (!turns.includes(address) && pace.wait(places) > WEB_LIMITS.firstRateLimitWaitMs) {
      return { domain, at: 1, dns, web: null, deferredAt: address }
    }
    visits.push({ name: domain, at: clock.now + (turns.includes(address) ? 0 : pace.acquire(places)) })
    return { domain, at: 1, dns, web: NO_WEB }
  }
  /** Lets time pass until the work is done, or for this long. */
  const pass = async (work: Promise<unknown>, milliseconds: number): Promise<void> => {
    let isDone = false
    const end = () => {
      isDone = true
    }
    work.then(end, end)
    for (const until = clock.now + milliseconds; clock.now < until && !isDone; clock.now += 50) {
      t.mock.timers.tick(50)
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
    t.mock.timers.tick(60_000) // a result that waits for its batch
  }
  return { clock, pace, visits, asked, visit, pass }
}

function crawlOf(
  world: ReturnType<typeof worldOf>,
  names: readonly string[],
  more: {
    known?: RateLimitTargets
    signal?: AbortSignal
    optOut?: (name: DomainName) => boolean
    look?: () => Promise<SelfCheckOutcome>
  } = {},
) {
  const { pace, clock, visit } = world
  const list = nameListFromArguments(names)
  const place = openListProgress(list, '')
  const tally = createListCrawlTally('store')
  const finished: string[] = []
  const output: string[] = []
  const manners = {
    politeness: pace,
    optOut: { hasName: more.optOut ?? (() => false) },
    isOwn: () => false,
  }
  const destination = {
    targetsOf: async () => ({ targets: more.known ?? {}, prior: 'new' as const }),
    history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
    write: async (batch: readonly unknown[]) => batch.map(() => 'applied' as const),
  }
  const work = crawlList({
    probe: visit,
    runSelfCheck: more.look ?? (async () => ({ passed: true })),
    destination,
    ...manners,
    progress: { ...place, finishEntry: ({ name }) => void finished.push(name) },
    tally,
    parallel: 16,
    clock: { ...SYSTEM_CLOCK, monotonicMs: () => clock.now },
    signal: more.signal ?? new AbortController().signal,
    onEntry() {},
    onProbe() {},
    log: (news) => void output.push(news),
    onFault(_, error) {
      throw error
    },
  })
  return { work, tally, finished, output }
}

const SPREAD = (name: DomainName): IpAddress => at(`198.18.${/\d+/.exec(name)![0]}.1`)
const namesOf = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}.example`)

test('consecutive names of one hosting company are probed one per second, and others do not wait for them', async (t) => {
  const world = worldOf(t, (name) => (name.startsWith('hosted') ? HOSTER : SPREAD(name)))
  const { work, tally, finished } = crawlOf(world, [...namesOf('hosted', 200), ...namesOf('other', 250)])
  await world.pass(work, 400_000)
  assert.equal(await work, true)
  assert.deepEqual([finished.length, tally.of('ok')], [450, 450])
  const times = (kind: string) => world.visits.filter(({ name }) => name.startsWith(kind)).map(({ at: time }) => time)
  const turns = times('hosted').toSorted((a, b) => a - b)
  for (const [index, turn] of turns.entries()) assert.ok(index === 0 || turn - turns[index - 1]! >= 999.99, `${turn}`)
  assert.ok(turns.at(-1)! < 230_000, 'the turns are used')
  assert.ok(Math.max(...times('other')) < 10_000)
  assert.ok(Math.max(...world.asked.values()) <= 3, 'nobody is asked for again and again')
})

test('a name that was probed before waits at its known target, without queries, and starts in turn', async (t) => {
  const world = worldOf(t, () => HOSTER)
  const known = { addresses: [HOSTER], nameServers: 'ns.example' }
  const { work } = crawlOf(world, namesOf('hosted', 30), { known })
  await world.pass(work, 60_000)
  assert.equal(await work, true)
  assert.deepEqual([...new Set(world.asked.values())], [1])
  assert.ok(world.clock.now >= 29_000 && world.clock.now < 40_000, `${world.clock.now}`)
})

test('a deferred name also waits at its known name servers', () => {
  const records = ['b.ns.example', 'a.ns.example']
  const dns = { NS: { outcome: 'records', records, aliases: [] } } as const
  const seen = observe({ domain: 'a.example' as DomainName, at: 1, dns, web: null })
  assert.deepEqual(targetsAfterDelay({ targets: {}, delays: 0 }, HOSTER, seen), {
    addresses: [HOSTER],
    nameServers: 'a.ns.example b.ns.example',
  })
})

test('a delayed name waits at the last four addresses that deferred it, and not at those known before its first delay', () => {
  const addresses = [1, 2, 3, 4, 5].map((host) => at(`192.0.2.${host}`))
  const seen = observe({ domain: 'a.example' as DomainName, at: 1, dns: {}, web: null })
  let delayed = { targets: { addresses: [at('203.0.113.1')] } as RateLimitTargets, delays: 0 }
  for (const [count, address] of addresses.entries()) {
    delayed = { targets: targetsAfterDelay(delayed, address, seen), delays: count + 1 }
    assert.deepEqual(delayed.targets, { addresses: addresses.slice(Math.max(0, count - 3), count + 1) })
  }
})

test('names that cannot be probed are retried at the end, three times in all, and a thousand in a row pause the crawl', async (t) => {
  const world = worldOf(t, SPREAD)
  const crawlWith = (isDark: (name: DomainName) => boolean, count: number) => {
    const asked = new Map<DomainName, number>()
    const visit = async (domain: DomainName): Promise<ProbeResult> => {
      asked.set(domain, (asked.get(domain) ?? 0) + 1)
      const dns = isDark(domain) ? null : ({ A: { outcome: 'records', records: [], aliases: [] } } as const)
      return { domain, at: 1, dns, web: null }
    }
    return { ...crawlOf({ ...world, visit }, namesOf('name', count)), asked }
  }
  const some = crawlWith((name) => /[02468]\./.test(name), 600)
  await world.pass(some.work, 60_000)
  assert.equal(await some.work, true)
  assert.deepEqual([some.tally.of('not_probed'), some.finished.length, some.output], [300, 300, []])
  assert.deepEqual(new Set(some.asked.values()), new Set([1, 3]))
  let isDark = true
  const all = crawlWith(() => isDark, 1_200)
  await world.pass(all.work, 1_000)
  assert.match(all.output.join('; '), /^crawl paused: 1000 names in a row could not be probed/)
  isDark = false
  await world.pass(all.work, 120_000)
  assert.equal(await all.work, true)
  assert.deepEqual([all.tally.of('not_probed'), all.tally.of('ok'), all.finished.length], [0, 1_200, 1_200])
  assert.equal(all.output.at(-1), 'crawl resumed')
})

test('a stopped crawl does not wait for deferred names', async (t) => {
  const world = worldOf(t, () => HOSTER)
  const controller = new AbortController()
  const { work, finished } = crawlOf(world, namesOf('hosted', 50), { signal: controller.signal })
  await world.pass(work, 5_000)
  controller.abort()
  assert.equal(await work, false)
  assert.ok(finished.length >= 4 && finished.length <= 8, `${finished.length}`)
})

test('names with a long backoff are left for another crawl, and stay open', async (t) => {
  const world = worldOf(t, (name) => (name.startsWith('resting') ? HOSTER : SPREAD(name)))
  world.pace.backOff(HOSTER, 3_600_000)
  const { work, tally, finished } = crawlOf(world, [...namesOf('resting', 40), ...namesOf('other', 10)])
  await world.pass(work, 60_000)
  assert.equal(await work, true)
  assert.deepEqual([tally.of('rate_limited'), tally.of('ok')], [40, 10])
  assert.deepEqual(finished.toSorted(), namesOf('other', 10).toSorted())
})

test('a name that is opted out while it waits is not probed, and an opted-out name is not resolved', async (t) => {
  const world = worldOf(t, () => HOSTER)
  const optOut = (name: DomainName): boolean =>
    name === 'hosted-0.example' || (name === 'hosted-9.example' && world.clock.now > 2_000)
  const { work, tally, finished } = crawlOf(world, namesOf('hosted', 10), { optOut })
  await world.pass(work, 60_000)
  assert.equal(await work, true)
  assert.deepEqual([tally.of('opted_out'), tally.of('ok'), finished.length], [2, 8, 10])
  assert.equal(world.asked.has('hosted-0.example' as DomainName), false)
  assert.ok(!world.visits.some(({ name }) => name === 'hosted-9.example'))
})

test('every waiting name starts, those of one target in order of arrival, and never before its time', () => {
  const address = fc.constantFrom(...['192.0.2.1', '192.0.2.2', '198.51.100.1', '2001:db8::1'].map(at))
  const waiting = (maxLength: number) =>
    fc.array(fc.tuple(fc.uniqueArray(address, { minLength: 1, maxLength }), fc.nat(300)), {
      minLength: 1,
      maxLength: 60,
    })
  fc.assert(
    fc.property(fc.oneof(waiting(1), waiting(2)), (all) => {
      const clock = { now: 0 }
      const pace = makePolitenessLimiter({ nowMs: () => clock.now })
      type Held = { line: number; targets: RateLimitTargets; delays: number }
      const left: Held[] = []
      const beside = new DelayQueue<Held>({
        politeness: pace,
        nowMs: () => clock.now,
        onRejected: (held) => left.push(held),
      })
      const removed: { line: number; addresses: readonly IpAddress[]; at: number }[] = []
      const go = (): void => {
        for (let held = beside.take(); held !== null; held = beside.take()) {
          removed.push({ line: held.line, addresses: held.targets.addresses!, at: clock.now })
        }
      }
      for (const [line, [addresses, pause]] of all.entries()) {
        beside.add({ line, targets: { addresses }, delays: 1 })
        clock.now += pause
        go()
      }
      for (let look = 0; look < 5_000 && beside.size > 0; look++) {
        clock.now += beside.nextReadyIn()
        go()
      }
      assert.deepEqual([beside.size, removed.length, left.length], [0, all.length, 0])
      for (const one of ['192.0.2.1', '192.0.2.2', '198.51.100.1', '2001:db8::1'].map(at)) {
        const turns = removed.filter(({ addresses }) => addresses.includes(one))
        for (const [index, turn] of turns.entries())
          assert.ok(index === 0 || turn.at - turns[index - 1]!.at >= 999.99, `${turn.at}`)
        const lines = turns.map(({ line }) => line)
        if (all.every(([{ length }]) => length === 1))
          assert.deepEqual(
            lines,
            lines.toSorted((a, b) => a - b),
          )
      }
    }),
    { numRuns: 200 },
  )
})
