/**
 * The self-check of a list crawl: results from a lying, silent or changed world are not written, and the crawl resumes
 * by itself.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { VirtualClock } from '../../../bench/crawl-simulation/clock.ts'
import { answerAlways } from '../../../lab/answer-overrides.ts'
import { type LabDnsServer, startDnsServer } from '../../../lab/dns.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import { type Destination, storeDestination, UNKNOWN_NAME } from '../../../src/crawler/list/destination.ts'
import { openListProgress } from '../../../src/crawler/list/list-progress.ts'
import { crawlList } from '../../../src/crawler/list/list-source.ts'
import { createListCrawlTally } from '../../../src/crawler/list/list-tally.ts'
import { nameListFromArguments } from '../../../src/crawler/list/name-list.ts'
import { openObservationFile } from '../../../src/crawler/list/observation-file.ts'
import type { CrawlClock } from '../../../src/crawler/notifier.ts'
import { openProbeSystem } from '../../../src/crawler/probe-system.ts'
import type { SelfCheckOutcome } from '../../../src/crawler/session.ts'
import type { Observation } from '../../../src/observe/observation.ts'
import { makeGuard } from '../../../src/probe/guard.ts'
import { makePolitenessLimiter } from '../../../src/probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../../../src/probe/probe-result.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OutcomeCount } from '../../../src/store/port/schedule.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { named } from '../../probe/internet.ts'

/** All servers are in the operator's own ranges. */
const OWN = {
  politeness: makePolitenessLimiter({ nowMs: () => 0 }),
  optOut: { hasName: () => false },
  isOwn: () => true,
}
const NAMES = Array.from({ length: 16 }, (_, index) => `name-${index}.example`)
const TABLE: DnsTable = {
  ...Object.fromEntries(NAMES.map((name) => [name, { MX: [{ priority: 10, mail_server: 'mx.example' }] }])),
  'zone.example': { NS: ['ns.example'] },
}
/** A clock on which every wait ends at once, except endless ones. */
const HASTY: CrawlClock = {
  monotonicMs: () => performance.now(),
  wait: () => new Promise((done) => setImmediate(done)),
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-checked-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Two resolvers of the lab, and the probe system of a crawl that queries them. */
async function lookingAt(t: TestContext) {
  const servers = [await startDnsServer(TABLE), await startDnsServer(TABLE)]
  const probeSystem = await openProbeSystem({
    servers: servers.map(({ address, port }) => ({ address, port })),
    guard: makeGuard(),
    userAgent: 'domaindex/test',
    plan: { zones: [], missingUnder: 'example', ipv4only: null, unfiltered: [], addresses: [] },
    optOut: { hasName: () => false },
    now: () => Math.floor(Date.now() / 1000),
    timeoutMs: 150,
    retryDelayMs: 5,
    selfCheckTimeoutMs: 150,
  })
  t.after(async () => {
    await probeSystem.close()
    for (const each of servers) await each.close()
  })
  return { servers: servers as [LabDnsServer, LabDnsServer], probeSystem }
}

type Given = Pick<Parameters<typeof crawlList>[0], 'probe' | 'runSelfCheck' | 'destination'> & {
  clock?: CrawlClock
  log?: (news: string) => void
}

function crawl(names: readonly string[], given: Given) {
  const list = nameListFromArguments(names)
  const tally = createListCrawlTally('store')
  const nothing = (): void => {}
  const work = crawlList({
    ...{ progress: openListProgress(list, ''), tally, parallel: 8, signal: new AbortController().signal },
    ...{ onEntry: nothing, onProbe: nothing, clock: HASTY, log: nothing, ...OWN },
    onFault(_, error) {
      throw error
    },
    ...given,
  })
  return { work, tally }
}

for (const lie of ['nxdomain', 'servfail', 'silent', 'refused'] as const) {
  test(`if resolvers answer every query with ${lie}, nothing is written, and the list continues when they recover`, async (t) => {
    const { servers, probeSystem } = await lookingAt(t)
    const path = join(folderOf(t), 'seen.jsonl')
    const destination = openObservationFile(path, null)
    const output: string[] = []
    let visits = 0
    const visit = (name: DomainName): Promise<ProbeResult> => {
      if (++visits === 6)
        for (const server of servers)
          server.override(lie === 'nxdomain' ? () => ({ A: ['192.0.2.66'] }) : answerAlways(lie))
      return probeSystem.probe(name)
    }
    const say = (news: string): void => {
      output.push(news)
      for (const server of servers) server.override(null)
    }
    const { work, tally } = crawl(NAMES, {
      probe: visit,
      runSelfCheck: probeSystem.runSelfCheck,
      destination,
      log: say,
    })
    assert.equal(await work, true)
    await destination.close()
    assert.match(output[0]!, /^crawl paused: resolver /)
    assert.equal(output.at(-1), 'crawl resumed')
    const seen = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(seen.map(({ domain }) => domain).toSorted(), NAMES.toSorted())
    for (const { dns } of seen) assert.deepEqual([dns.status, dns.MX.length, dns.A], ['ok', 1, []])
    assert.deepEqual([tally.of('ok'), tally.of('nxdomain'), tally.of('servfail')], [NAMES.length, 0, 0])
  })
}

/** A week in which one website in a hundred was missing. */
function weekBefore(now: number): OutcomeCount[] {
  return Array.from({ length: 100 }, (_, hours) => ({
    ...{ hour: now - (now % 3600) - (hours + 6) * 3600, kind: 'website' },
    ...{ probes: 2_000, servfail: 20, nxdomain: 20, noWebsite: 20 },
  }))
}

test("names with websites that fail beyond the store's baseline are not written, and the list continues when the alarm is over", async (t) => {
  const store = await openStore(`sqlite:${join(folderOf(t), 'store.db')}`, {
    access: 'write',
    ledger: 'own',
    secret: null,
  })
  t.after(() => store.close())
  const at = await store.now()
  await store.schedule.addOutcomes(weekBefore(at))
  const written: Observation[] = []
  const { history, write } = storeDestination(store, '')
  const destination: Pick<Destination, 'targetsOf' | 'write' | 'history'> = {
    targetsOf: async () => ({ ...UNKNOWN_NAME, prior: 'website' }),
    write: (batch) => {
      written.push(...batch)
      return write(batch)
    },
    history: { ...history, now: async () => at + Math.floor(clock.monotonicMs() / 1000) },
  }
  const clock = new VirtualClock()
  const output: string[] = []
  let isWell = false
  const visit = async (domain: DomainName): Promise<ProbeResult> => {
    const answer = isWell
      ? ({ outcome: 'records', records: [], aliases: [] } as const)
      : ({ outcome: 'nxdomain' } as const)
    return { domain, at, dns: { A: answer, AAAA: answer }, web: null }
  }
  const look = async (): Promise<SelfCheckOutcome> => ({ passed: true })
  const names = Array.from({ length: 600 }, (_, index) => `site-${index}.example`)
  const say = (news: string): void => {
    output.push(news)
    if (news.startsWith('crawl paused')) isWell = true
  }
  const { work } = crawl(names, { probe: visit, runSelfCheck: look, destination, clock, log: say })
  await clock.run(3_600_000, () => written.length === names.length)
  await clock.hold(work)
  assert.match(
    output[0]!,
    /^anomaly alarm, results are discarded: nxdomain is 100\.0 % of the last \d+ probes \(website\); the maximum of the last week is /,
  )
  assert.match(output[1]!, /^crawl paused: nxdomain is /)
  assert.ok(written.every(({ dns }) => dns?.status === 'ok'))
  assert.deepEqual(written.map(({ domain }) => domain).toSorted(), names.map(named).toSorted())
  const outcomes = await store.schedule.outcomes(at - 3_600)
  assert.equal(
    outcomes.reduce((sum, { probes: visits }) => sum + visits, 0),
    names.length,
    'they count for the bands of the loop',
  )
})

test('a crawl that is stopped during a pause ends, and its discarded results stay open', async () => {
  const stop = new AbortController()
  const list = nameListFromArguments(NAMES)
  const tally = createListCrawlTally('file')
  const finished: string[] = []
  let looks = 0
  const nothing = (): void => {}
  const isDone = await crawlList({
    probe: async (domain) => ({ domain, at: 1, dns: { A: { outcome: 'nxdomain' } }, web: null }),
    runSelfCheck: async () => (looks++ === 0 ? { passed: true } : { passed: false, reason: 'no resolver answers' }),
    destination: {
      targetsOf: async () => UNKNOWN_NAME,
      write: async (batch) => batch.map(() => 'written' as const),
      history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
    },
    progress: { ...openListProgress(list, ''), finishEntry: ({ name }) => void finished.push(name) },
    ...OWN,
    ...{ tally, parallel: 8, signal: stop.signal, onEntry: nothing, onProbe: nothing, onFault: nothing, clock: HASTY },
    log: (news) => (news === 'crawl paused: no resolver answers' ? stop.abort() : assert.fail(news)),
  })
  assert.deepEqual([isDone, finished, tally.of('written')], [false, [], 0])
})
