/**
 * Rate limits of the web prober: a probe waits at each address that it connects to, and addresses in backoff are not
 * contacted.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Guard, makeGuard } from '../../../src/probe/guard.ts'
import { WEB_LIMITS, type WebLimits } from '../../../src/probe/http/limits.ts'
import { createBackoffTracker, requestedBackoff } from '../../../src/probe/policy/backoff.ts'
import {
  makePolitenessLimiter,
  type PolitenessLimiter,
  type RateLimitTargets,
} from '../../../src/probe/policy/politeness-limiter.ts'
import { ProbeRateLimiter } from '../../../src/probe/policy/probe-rate-limiter.ts'
import { createProber } from '../../../src/probe/probe.ts'
import { createWebProber } from '../../../src/probe/web.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../../src/values/ip-address.ts'
import { AGENT, answer, authority, certify, HOME, Internet, named, page, paths } from '../internet.ts'

const at = (text: string): IpAddress => parseAddress(text)!
const SECOND = '127.0.0.2'
const SITE = paths({ '/': page(), '/robots.txt': answer(404) })
const EVERYTHING = 1e12

/** Servers at addresses outside --allow, where probes wait, with a manual clock. */
class Others extends Internet {
  readonly clock = { now: 0 }
  readonly turns: RateLimitTargets[] = []
  readonly rests: [IpAddress, number][] = []
  readonly held: IpAddress[] = []
  readonly optedOut = new Set<string>()
  readonly #pace = makePolitenessLimiter({ nowMs: () => this.clock.now })

  get pace(): PolitenessLimiter {
    const take = (places: RateLimitTargets): number => {
      this.turns.push(places)
      return this.#pace.acquire(places)
    }
    const rest = (address: IpAddress, milliseconds: number): void => {
      this.rests.push([address, milliseconds])
      this.#pace.backOff(address, milliseconds)
    }
    return { ...this.#pace, acquire: take, backOff: rest }
  }

  /** Allows twenty probes a second there. */
  hurry(address: string): void {
    this.#pace.setNameCount({ address: at(address) }, EVERYTHING)
  }

  override get guard(): Guard {
    const own = makeGuard({ portMappings: this.stands, isOptedOut: (address) => this.optedOut.has(address) })
    return {
      vet(address, port) {
        const door = own.vet(address, port)
        return door === null ? null : { address: door.address, port: door.port }
      },
    }
  }

  /** A web prober for all of them. */
  paced(t: TestContext, limits: Partial<WebLimits> = {}) {
    const { resolver, guard, pace, optedOut } = this
    const optOut = { hasName: (name: DomainName) => optedOut.has(name) }
    const web = createWebProber({
      resolver,
      guard,
      politeness: pace,
      optOut,
      roots: [authority.cert],
      userAgent: AGENT,
      limits,
    })
    t.after(() => web.close())
    const onHeld = (address: IpAddress): void => void this.held.push(address)
    const look = (host: string, addresses: string[] = [HOME], turns: string[] = []) =>
      web.probe(named(host), { addresses: addresses.map(at), granted: turns.map(at), onDeferred: onHeld })
    return { web, look }
  }
}

test('a probe counts once at an address, however often it connects', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain(paths({ '/': answer(301, { location: 'https://example.com/' }) }))
  await internet.secure(SITE, await certify(['example.com'], authority))
  const seen = await internet.paced(t).look('example.com')
  assert.equal(seen?.bare.hops.length, 2)
  assert.notEqual(seen?.bare.page, null)
  assert.ok(internet.taken.length >= 2)
  assert.deepEqual(internet.turns, [{ addresses: [HOME] }])
})

test('a probe with a granted start does not count again', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain(SITE)
  await internet.refuse(443)
  internet.pace.backOff(at(HOME), 60_000)
  assert.equal((await internet.paced(t).look('example.com', [HOME], [`::ffff:${HOME}`]))?.bare.end, 'answered')
  assert.deepEqual(internet.turns, [])
})

test('a probe whose start is too far off is deferred: no connection, and no web part', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain(SITE)
  await internet.refuse(443)
  for (let turn = 0; turn < 3; turn++) internet.pace.acquire({ addresses: [at(HOME)] })
  assert.equal(await internet.paced(t).look('example.com'), null)
  assert.deepEqual([internet.held, internet.taken], [[HOME], []])
  const crawler = createProber({ resolver: internet.resolver, web: internet.paced(t).web, now: () => 1 })
  const { web, deferredAt: held } = await crawler.probe(named('example.com'))
  assert.deepEqual([web, held], [null, HOME])
  const visit = await crawler.probe(named('example.com'), [at(HOME)])
  assert.deepEqual([visit.web?.bare.end, 'held' in visit], ['answered', false])
})

test('a probe waits for a near start', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain(SITE)
  await internet.refuse(443)
  internet.hurry(HOME)
  for (let turn = 0; turn < 2; turn++) internet.pace.acquire({ addresses: [at(HOME)] })
  let isLater = false
  setTimeout(() => {
    isLater = true
  }, 50)
  assert.equal((await internet.paced(t).look('example.com'))?.bare.end, 'answered')
  assert.ok(isLater, 'the turn comes after 100 ms')
})

test('if an address enters backoff while a probe waits, the probe waits again or is deferred', async () => {
  for (const [rest, isOver] of [
    [20, true],
    [60_000, false],
  ] as const) {
    let [left, takes] = [0, 0]
    const take = (): number => {
      left = takes++ === 0 ? rest : 0
      return 5
    }
    const pace = { wait: () => left, acquire: take, backoffRemaining: () => left }
    const turns = new ProbeRateLimiter({
      politeness: pace,
      limits: { firstRateLimitWaitMs: 1_000, totalRateLimitWaitMs: 1_000 },
      granted: [],
    })
    const door = { address: at(HOME), port: 80 }
    assert.deepEqual([await turns.acquire(door), takes], [isOver, isOver ? 2 : 1])
  }
})

test('of the addresses of a host, the one with the earliest start is used', async (t) => {
  const internet = new Others(t).name('example.com', HOME, SECOND)
  for (const address of [HOME, SECOND]) {
    await internet.plain(SITE, address)
    await internet.refuse(443, address)
  }
  for (const address of [HOME, SECOND]) internet.hurry(address)
  for (let turn = 0; turn < 10; turn++) internet.pace.acquire({ addresses: [at(HOME)] })
  assert.equal((await internet.paced(t).look('example.com', [HOME, SECOND]))?.bare.end, 'answered')
  assert.deepEqual([...new Set(internet.taken)], [`${SECOND}:80`])
  assert.deepEqual(internet.held, [])
})

test('if one address is not waited for and no other answers, the probe is deferred', async (t) => {
  const internet = new Others(t).name('example.com', HOME, SECOND)
  for (const address of [HOME, SECOND]) for (const port of [80, 443]) await internet.refuse(port, address)
  internet.pace.backOff(at(HOME), 60_000)
  internet.hurry(SECOND)
  assert.equal(await internet.paced(t).look('example.com', [HOME, SECOND]), null)
  assert.deepEqual(internet.held, [HOME])
})

test('within a chain a probe waits longer, and a chain that is deferred anywhere leaves the web out, also at other domains', async (t) => {
  const internet = new Others(t).name('example.com', HOME).name('other.com', SECOND)
  await internet.plain(paths({ '/': answer(302, { location: 'http://other.com/' }) }))
  await internet.plain(SITE, SECOND)
  for (const address of [HOME, SECOND]) await internet.refuse(443, address)
  internet.hurry(HOME)
  internet.hurry(SECOND)
  const { look } = internet.paced(t, { firstRateLimitWaitMs: 40, totalRateLimitWaitMs: 200 })
  for (let turn = 0; turn < 3; turn++) internet.pace.acquire({ addresses: [at(SECOND)] })
  assert.deepEqual((await look('example.com'))?.bare.hops.length, 2)
  internet.clock.now += 10_000
  internet.pace.backOff(at(SECOND), 1_000)
  assert.equal(await look('example.com'), null)
  assert.deepEqual(internet.held, [SECOND])
})

test('a probe that times out during or after a wait is deferred', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain(() => {})
  await internet.refuse(443)
  internet.pace.acquire({ addresses: [at(HOME)] })
  assert.equal(await internet.paced(t, { probeMs: 50 }).look('example.com'), null)
  internet.clock.now += 1_950
  assert.equal(await internet.paced(t, { probeMs: 300 }).look('example.com'), null)
  assert.deepEqual([internet.held, internet.taken], [[HOME, HOME], [`${HOME}:80`]])
})

test('addresses of --allow have no rate limit and no backoff', async (t) => {
  const internet = new Others(t).name('example.com', HOME)
  await internet.plain((_, socket) => void socket.write(answer(429, { 'retry-after': '9' })))
  await internet.refuse(443)
  const { resolver, stands, pace } = internet
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: stands }),
    politeness: pace,
    userAgent: AGENT,
  })
  t.after(() => web.close())
  pace.backOff(at(HOME), 60_000)
  internet.rests.length = 0
  const seen = await web.probe(named('example.com'), { addresses: [at(HOME)] })
  assert.deepEqual([seen?.bare.hops[0]?.status, internet.turns, internet.rests], [429, [], []])
})

test('429, and 503 with Retry-After, start a backoff, and the probe keeps its result', async (t) => {
  for (const [status, fields, rest] of [
    [429, { 'retry-after': '30' }, 30_000],
    [429, {}, 60_000],
    [503, { 'retry-after': '20' }, 20_000],
    [503, {}, null],
    [200, { 'retry-after': '20' }, null],
  ] as const) {
    const internet = new Others(t).name('example.com', HOME)
    await internet.plain((_, socket) => void socket.write(answer(status, fields)))
    await internet.refuse(443)
    const { look } = internet.paced(t)
    assert.equal((await look('example.com'))?.bare.hops[0]?.status, status)
    assert.deepEqual(internet.rests[0] ?? null, rest === null ? null : [HOME, rest], `${status}`)
    internet.clock.now += 5_000
    assert.equal(internet.pace.wait({ addresses: [at(HOME)] }), rest === null ? 0 : rest - 5_000)
  }
})

test('Retry-After is read as seconds or as a date in one of three formats, and nothing else', () => {
  const now = Date.UTC(2026, 10, 20, 8, 0, 0)
  const asked = (status: number, text: string | null) => requestedBackoff({ status, header: () => text }, now)
  assert.equal(asked(429, ' 120 '), 120_000)
  assert.equal(asked(503, '0'), 0)
  for (const date of ['Fri, 20 Nov 2026 08:02:00 GMT', 'Friday, 20-Nov-26 08:02:00 GMT', 'Fri Nov 20 08:02:00 2026'])
    assert.equal(asked(503, date), 120_000, date)
  assert.equal(asked(503, 'Fri, 20 Nov 2026 07:00:00 GMT'), 0, 'a date that is over')
  for (const text of [
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '',
    'soon',
    '2026-11-20T08:02:00Z',
    'Fri, 99 Nov 2026 08:02:00 GMT',
    '9'.repeat(10),
  ]) {
    assert.deepEqual([asked(503, text), asked(429, text)], [null, 60_000], text)
  }
  assert.deepEqual([asked(503, null), asked(404, '120'), asked(200, null)], [null, null, null])
})

test('the maximum backoff grows with the number of consecutive probes that were asked to stay away', () => {
  const rests: number[] = []
  const opened = createBackoffTracker({ backOff: (_, milliseconds) => rests.push(milliseconds) }, () => 0)
  const visit = (...statuses: number[]): void => {
    const { recordResponse: received, end } = opened.beginProbe()
    for (const status of statuses) received(at('192.0.2.1'), { status, header: () => '604800' })
    end()
  }
  visit(429)
  visit(200, 429, 404)
  visit(503)
  visit(429, 429)
  visit(200)
  visit(429)
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  assert.deepEqual(rests, [minute, hour, day, day, day, minute])
  assert.ok(WEB_LIMITS.totalRateLimitWaitMs < minute)
})

test('an opted-out host is neither resolved nor connected to, as a start, a www. host, a redirect or a robots.txt', async (t) => {
  const internet = new Others(t).name('example.com', HOME).name('www.example.com', SECOND).name('other.com', SECOND)
  await internet.plain(
    paths({ '/': page(), '/robots.txt': answer(301, { location: 'http://www.example.com/robots.txt' }) }),
  )
  await internet.plain(SITE, SECOND)
  for (const address of [HOME, SECOND]) await internet.refuse(443, address)
  const { look } = internet.paced(t)
  internet.optedOut.add('www.example.com')
  const seen = await look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.bare.page], ['answered', null])
  internet.optedOut.add('example.com')
  assert.equal(await look('example.com'), null)
  await look('other.com', [])
  assert.deepEqual(internet.asked, ['www.other.com A', 'www.other.com AAAA'])
  assert.ok(!internet.taken.some((door) => door.startsWith(SECOND)))
})

test('a redirect to an opted-out host ends there', async (t) => {
  const internet = new Others(t).name('example.com', HOME).name('other.com', SECOND)
  await internet.plain(paths({ '/': answer(302, { location: 'http://other.com/' }) }))
  await internet.plain(SITE, SECOND)
  await internet.refuse(443)
  internet.optedOut.add('other.com')
  const seen = await internet.paced(t).look('example.com')
  assert.deepEqual([seen?.bare.hops.length, seen?.bare.end, internet.asked], [1, 'not_allowed', []])
})

test('an opted-out address is not connected to', async (t) => {
  const internet = new Others(t).name('example.com', SECOND)
  await internet.plain(SITE, SECOND)
  await internet.refuse(443, SECOND)
  const { look } = internet.paced(t)
  internet.hurry(SECOND)
  assert.equal((await look('example.com', [SECOND]))?.bare.end, 'answered')
  const before = internet.taken.length
  internet.optedOut.add(SECOND)
  for (const form of [SECOND, `::ffff:${SECOND}`]) assert.equal(await look('example.com', [form]), null)
  assert.equal(internet.taken.length, before)
})
