/** The continuous crawl of the lab, in which resolvers die, lie and recover and IPv6 fails: no fact changes. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { answerAlways } from '../../lab/answer-overrides.ts'
import { type Lab, startLab } from '../../lab/lab.ts'
import { crawlContinuously } from '../../src/crawler/continuous/continuous-crawl.ts'
import { CRAWL_TIMINGS } from '../../src/crawler/continuous/crawler-dependencies.ts'
import { openProbeSystem } from '../../src/crawler/probe-system.ts'
import { DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { CrawlStats } from '../../src/crawler/status/stats.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { SYSTEM_CLOCK } from '../../src/server/system-clock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { named } from '../probe/internet.ts'
import { until } from '../until.ts'
import { know } from './world.ts'

const NAMES = [
  'ipv6-only.example',
  'both-families.example',
  'ipv4-only.example',
  'does-not-exist.example',
  'servfail.example',
  'www-only.example',
  'harbour-bakery.example',
  'http-only.example',
  'https-only.example',
]
/** Every name is due again after a second. */
const RHYTHM = { min: 1, first: 1, max: 1 }
const QUICK = { ...CRAWL_TIMINGS, pollMs: 50, heartbeatMs: 500, batchMs: 300, sweepSeconds: { min: 0, max: 1 } }
/** Milliseconds for servers that never answer, which are waited for in full. */
const PATIENCE = 400
/** The maximum number of rounds of lies before results are discarded because of one. */
const ROUNDS = 5

async function crawlLab(t: TestContext, lab: Lab) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-lab-'))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, { access: 'write', ledger: 'own', secret: null })
  const probeSystem = await openProbeSystem({
    servers: lab.resolvers.map(({ address, port }) => ({ address, port })),
    guard: makeGuard({ portMappings: lab.portMappings }),
    userAgent: 'domaindex/test',
    plan: lab.selfCheckPlan,
    optOut: { hasName: () => false },
    now: () => Math.floor(Date.now() / 1000),
    roots: [lab.root],
    timeoutMs: PATIENCE,
    selfCheckTimeoutMs: PATIENCE,
  })
  const figures = new CrawlStats()
  const stop = new AbortController()
  const output: string[] = []
  const faults: unknown[] = []
  const operations: (() => void)[] = []
  const visit: typeof probeSystem.probe = async (...given) => {
    const seen = await probeSystem.probe(...given)
    for (const operation of operations.splice(0)) operation()
    return seen
  }
  const crawl = {
    ...{
      store,
      holder: 'one',
      stats: figures,
      optOut: { hasName: () => false },
      intervals: RHYTHM,
      shares: DEFAULT_SHARES,
    },
    ...{ rate: null, parallel: 32, timings: QUICK, clock: SYSTEM_CLOCK, random: Math.random },
    probe: visit,
    isOwn: probeSystem.isOwn,
    runSelfCheck: probeSystem.runSelfCheck,
    politeness: probeSystem.politeness,
    onFault: (error: unknown) => void faults.push(error),
    log: (news: string) => void output.push(news),
  }
  await know(store, NAMES, (await store.now()) - 60)
  const crawling = crawlContinuously(crawl, stop.signal)
  const end = async (): Promise<void> => {
    stop.abort()
    await crawling
  }
  t.after(async () => {
    await end()
    await probeSystem.close()
    await store.close()
    await lab.close()
    rmSync(folder, { recursive: true })
  })
  /** Runs something just after a probe has ended, which then waits to be saved. */
  const afterVisit = (operation: () => void): Promise<void> =>
    new Promise((resolve) => {
      operations.push(() => {
        operation()
        resolve()
      })
    })
  return { store, figures, output, faults, end, afterVisit }
}

/** Everything that the API returns about the names, except the times of observations. */
async function factsOf({ facts }: Store) {
  return Promise.all(
    NAMES.map(async (name) => {
      const { dns: _dns, web: _web, ...lookup } = (await facts.lookup(named(name)))!
      const { byType } = await facts.history(named(name), RECORD_TYPES, null, 100)
      return { name, lookup, history: byType }
    }),
  )
}

test('if a resolver dies, lies and recovers, and IPv6 fails, the crawl pauses with the reason, resumes, and no fact changes', async (t) => {
  const lab = await startLab()
  const { store, figures, output, faults, end, afterVisit } = await crawlLab(t, lab)
  const rounds = async (count: number): Promise<void> => {
    const { saved } = figures.batches
    await until(() => figures.batches.saved >= saved + count)
  }
  const all = () => Object.values(figures.probes.due).reduce((sum, count) => sum + count)
  await until(() => all() >= 2 * NAMES.length)
  await rounds(2)
  const before = await factsOf(store)
  assert.ok(before.every(({ lookup }) => lookup.ip !== null))
  const blindOnce = async (lie: 'silent' | 'nxdomain'): Promise<void> => {
    await afterVisit(() => {
      for (const resolver of lab.resolvers) resolver.override(answerAlways(lie))
    })
    await until(() => figures.notReadyReason !== null)
    assert.equal(figures.pause?.reason, 'self_check')
    assert.match(figures.notReadyReason!, /^resolver /)
    for (const resolver of lab.resolvers) resolver.override(null)
    await until(() => figures.notReadyReason === null)
    await rounds(3)
    assert.deepEqual(await factsOf(store), before, lie)
  }
  await blindOnce('silent')
  // perhaps no probe was waiting to be saved just then
  for (let round = 0; round < ROUNDS && (round === 0 || figures.batches.discarded === 0); round++)
    await blindOnce('nxdomain')
  assert.ok(figures.batches.discarded > 0)
  if (lab.portMappings.some(({ address }) => address === '::1')) {
    const { length } = output
    await lab.disconnectFamily(6)
    await until(() => output.slice(length).some((news) => news.includes('IPv6')))
    await until(() => figures.notReadyReason === null)
    await rounds(4)
    assert.deepEqual(await factsOf(store), before, 'IPv6')
  }
  await end()
  assert.deepEqual(await factsOf(store), before)
  assert.deepEqual(faults, [])
})
