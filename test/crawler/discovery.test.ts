/** Discovery: a crawl adds the domains that its probes reveal, in the simulation and over the lab. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { startLab } from '../../lab/lab.ts'
import { crawlContinuously } from '../../src/crawler/continuous/continuous-crawl.ts'
import { CRAWL_TIMINGS } from '../../src/crawler/continuous/crawler-dependencies.ts'
import { discoveryOf } from '../../src/crawler/discovery.ts'
import { openProbeSystem } from '../../src/crawler/probe-system.ts'
import { DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { CrawlStats } from '../../src/crawler/status/stats.ts'
import { observe } from '../../src/observe/observe.ts'
import { REVEALING_SOURCES, revealedDomains } from '../../src/observe/revealed-domains.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { SYSTEM_CLOCK } from '../../src/server/system-clock.ts'
import { openStore } from '../../src/store/open.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Instant } from '../../src/values/time.ts'
import { inForm } from '../long.ts'
import { named } from '../probe/internet.ts'
import { until } from '../until.ts'
import { BEGIN, know, makeWorld, seen } from './world.ts'

const DAY = 86_400

/** A probe of a page that links to these domains. */
function linking(name: DomainName, at: Instant, targets: readonly string[]): ProbeResult {
  const links = targets.map((target) => ({ from: 'anchor' as const, name: '', target: `https://${target}/` }))
  const url = `http://${name}/`
  const hops = [{ url, status: 200, to: null, by: null }]
  const bare = { hops, end: 'answered' as const, page: { base: url, links, text: [] } }
  return { ...seen(name, at), web: { bare, www: null, certificate: { kind: 'none' } } }
}

/** Every domain that can be reached from the seed. */
function reachable(seed: string, linksOf: (name: string) => readonly string[]): Set<string> {
  const found = new Set([seed])
  for (const name of found) for (const target of linksOf(name)) found.add(target)
  return found
}

test('a crawl from one seed finds every domain that can be reached, except opted-out and forgotten ones, and ends', async (t) => {
  let reached = 0
  const site = fc.nat(39)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(site, { minLength: 1, maxLength: 4 }), { minLength: 40, maxLength: 40 }),
      async (graph) => {
        const world = await makeWorld(t)
        const { store } = world
        await know(store, ['site0.test', 'site7.test'])
        await store.observations.forget(named('site7.test'))
        const linksOf = (name: string): string[] =>
          /^site(8|7)\.test$/.test(name) ? [] : graph[Number(name.slice(4, -5))]!.map((index) => `site${index}.test`)
        const optOut = { hasName: (name: DomainName) => name === 'site8.test' }
        const probe = async (name: DomainName): Promise<ProbeResult> => {
          world.visits.push({ crawler: 'one', name, at: 0 })
          return linking(name, world.now(), linksOf(name))
        }
        const crawler = world.start('one', { probe, overrides: { optOut, ...discoveryOf(['links'], optOut) } })
        const expected = [...reachable('site0.test', linksOf)].filter((name) => !/^site(8|7)\.test$/.test(name)).sort()
        // Each domain waits at most a minute, and the graph may be one chain.
        const limit = world.clock.monotonicMs() + expected.length * 2 * 60_000
        await world.clock.run(limit, () => world.visits.length >= expected.length)
        await world.minutes(3)
        assert.deepEqual(world.visits.map(({ name }) => name).sort(), expected, 'each is probed once, and no other')
        const { count } = await store.schedule.due(0, 65_535, world.now())
        assert.deepEqual([count.names, count.neverProbed, count.due], [expected.length, 0, 0])
        crawler.stop()
        await world.clock.run(Number.POSITIVE_INFINITY, () => false)
        await crawler.ended
        reached = Math.max(reached, expected.length)
        await world.close()
      },
    ),
    { numRuns: inForm(3, 6) },
  )
  assert.ok(reached > 10, `${reached} domains`)
})

test('a domain is added in the transaction of the probe that reveals it, also outside of the leased ranges', async (t) => {
  const world = await makeWorld(t)
  const { store } = world
  await know(store, ['seed.test'])
  const targets = Array.from({ length: 30 }, (_, index) => `target${index}.test`)
  let saves = 0
  const observations: typeof store.observations = {
    ...store.observations,
    async save(changes, leases) {
      const written = await store.observations.save(changes, leases)
      if (![...changes].some(({ state }) => state.name === 'seed.test' && state.clocks[0]! > 0)) return written
      saves++
      const states = await store.observations.crawlStates(targets.map(named))
      assert.ok(leases !== undefined && states.every(({ version, due }) => version > 0 && due === 0))
      return written
    },
  }
  const probe = async (name: DomainName): Promise<ProbeResult> =>
    linking(name, world.now(), name === 'seed.test' ? targets : [])
  const never = { hasName: () => false }
  const crawler = world.start('one', {
    probe,
    store: { ...store, observations },
    overrides: discoveryOf(['links'], never),
  })
  await world.minutes(10)
  crawler.stop()
  await world.clock.run(Number.POSITIVE_INFINITY, () => false)
  await crawler.ended
  assert.equal(saves, 1)
  const { count } = await store.schedule.due(0, 65_535, BEGIN + DAY / 2)
  assert.deepEqual([count.names, count.neverProbed], [31, 0])
})

test('a crawl of the lab from one seed ends with every domain that probes reveal', async (t) => {
  const lab = await startLab()
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-discovery-'))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, { access: 'write', ledger: 'own', secret: null })
  const never = { hasName: () => false }
  const probeSystem = await openProbeSystem({
    servers: lab.resolvers.map(({ address, port }) => ({ address, port })),
    guard: makeGuard({ portMappings: lab.portMappings }),
    userAgent: 'domaindex/test',
    plan: lab.selfCheckPlan,
    optOut: never,
    now: () => Math.floor(Date.now() / 1000),
    roots: [lab.root],
  })
  const stop = new AbortController()
  const seed = named('moved-twice.example')
  await know(store, [seed], (await store.now()) - 60)
  const faults: unknown[] = []
  const crawling = crawlContinuously(
    {
      ...{
        store,
        holder: 'one',
        stats: new CrawlStats(),
        optOut: never,
        shares: DEFAULT_SHARES,
        rate: null,
        parallel: 32,
      },
      intervals: { min: DAY, first: DAY, max: DAY },
      timings: { ...CRAWL_TIMINGS, pollMs: 200, batchMs: 200, sweepSeconds: { min: 0, max: 2 } },
      ...{ clock: SYSTEM_CLOCK, random: Math.random, isOwn: probeSystem.isOwn, log() {} },
      ...{ probe: probeSystem.probe, runSelfCheck: probeSystem.runSelfCheck, politeness: probeSystem.politeness },
      onFault: (error) => void faults.push(error),
      ...discoveryOf(REVEALING_SOURCES, never),
    },
    stop.signal,
  )
  t.after(async () => {
    stop.abort()
    await crawling
    await probeSystem.close()
    await store.close()
    await lab.close()
    rmSync(folder, { recursive: true })
  })
  const expected = new Set([seed])
  for (const name of expected) {
    const result = await probeSystem.probe(name)
    for (const domain of revealedDomains(result, observe(result), REVEALING_SOURCES)) expected.add(domain)
  }
  assert.ok(expected.has(named('harbour-post.example')) && expected.size > 5, 'the seed leads over several domains')
  await until(async () => {
    const { count } = await store.schedule.due(0, 65_535, await store.now())
    return count.names >= expected.size && count.neverProbed === 0
  }, 'the probe of every revealed domain')
  assert.deepEqual(await store.schedule.names(null, 1_000).then((names) => names.toSorted()), [...expected].sort())
  assert.deepEqual(faults, [])
})
