/** A world for tests of the scheduler: a real store with some names, a simulated clock, and recorded probes. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { VirtualClock } from '../../bench/crawl-simulation/clock.ts'
import { type CrawlerOptions, type RunningCrawler, startCrawler } from '../../bench/crawl-simulation/crawler.ts'
import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import { CRAWL_TIMINGS } from '../../src/crawler/continuous/crawler-dependencies.ts'
import type { DnsPart, Observation } from '../../src/observe/observation.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Instant } from '../../src/values/time.ts'
import { named } from '../probe/internet.ts'

export const BEGIN: Instant = 1_800_000_000
export const DAY = 86_400
const MINUTE_MILLISECONDS = 60_000
const VISIT_MILLISECONDS = 1_500

/** One probe: by which crawler, of which name, and when, in seconds from the start. */
export type Noted = { crawler: string; name: DomainName; at: number }

export type World = Awaited<ReturnType<typeof makeWorld>>

/** A world that is removed after the test, or when it is closed. */
export async function makeWorld(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-schedule-'))
  const clock = new VirtualClock()
  const now = (): Instant => BEGIN + Math.floor(clock.monotonicMs() / 1000)
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, {
    access: 'write',
    ledger: 'own',
    secret: null,
    now,
  })
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await store.close()
    rmSync(folder, { recursive: true })
  }
  test.after(close)
  const visits: Noted[] = []
  const together: DomainName[] = []
  const under = new Map<DomainName, string>()

  const visit = async (name: DomainName, crawler: string): Promise<ProbeResult> => {
    visits.push({ crawler, name, at: clock.monotonicMs() / 1000 })
    if (under.has(name) && under.get(name) !== crawler) together.push(name)
    under.set(name, crawler)
    const at = now()
    await clock.wait(VISIT_MILLISECONDS)
    if (under.get(name) === crawler) under.delete(name)
    return seen(name, at)
  }
  return {
    clock,
    now,
    store,
    visit,
    visits,
    /** Names that two crawlers probed at once. */
    together,
    close,
    /** Starts a crawler. Options that are not given are those of `bench/crawl-simulation`. */
    start(holder: string, options: Partial<CrawlerOptions> = {}): RunningCrawler {
      return startCrawler({
        holder,
        store,
        clock,
        random: () => 0.5,
        timings: CRAWL_TIMINGS,
        rate: null,
        probe: visit,
        ...options,
      })
    },
    /** Kills it: its probes in flight end without a result. */
    bury(holder: string, { process: life }: RunningCrawler): void {
      life.kill()
      for (const [name, who] of under) if (who === holder) under.delete(name)
    },
    minutes: (count: number) => clock.run(clock.monotonicMs() + count * MINUTE_MILLISECONDS),
  }
}

/** The result of a probe in the simulated network: a different address for each name. */
export function seen(name: DomainName, at: Instant): ProbeResult {
  const records = [`20.${name.length}.0.${1 + (name.charCodeAt(0) % 250)}`]
  return {
    domain: name,
    at,
    dns: { A: { outcome: 'records', records, aliases: [] }, AAAA: { outcome: 'records', records: [], aliases: [] } },
    web: null,
  }
}

/** Adds names as known from a list, never probed. */
export async function know(store: Store, names: readonly string[], at: Instant = BEGIN - DAY): Promise<void> {
  await ingest(
    store,
    names.map((name): Observation => ({ domain: named(name), observed_at: at, dns: null, web: null })),
  )
}

/** Adds names that were first probed this many seconds before the start. */
export async function visited(store: Store, names: readonly string[], before: number): Promise<void> {
  const dns: DnsPart = { status: 'ok', records: { A: [], AAAA: [] } }
  await ingest(
    store,
    names.map((name): Observation => ({ domain: named(name), observed_at: BEGIN - before, dns, web: null })),
    { intervals: DEFAULT_PROBE_INTERVALS },
  )
}
