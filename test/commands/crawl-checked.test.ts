/** The self-check of a crawl of a list: what a lying, silent or changed world shows is not written, and the crawl goes on by itself. */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { VirtualClock } from '../../bench/simulation/clock.ts'
import { type DnsServer, startDns } from '../../lab/dns.ts'
import type { DnsTable } from '../../lab/dns-table.ts'
import { always } from '../../lab/lies.ts'
import { type Destination, storeDestination, UNKNOWN } from '../../src/commands/crawl/destination.ts'
import { openEyes } from '../../src/commands/crawl/eyes.ts'
import { listOfArguments } from '../../src/commands/crawl/list.ts'
import { openOut } from '../../src/commands/crawl/out.ts'
import { placeOf } from '../../src/commands/crawl/place.ts'
import { makeTally } from '../../src/commands/crawl/tally.ts'
import { crawlAll } from '../../src/commands/crawl/visits.ts'
import { makeGuard } from '../../src/crawl/guard.ts'
import type { Visit } from '../../src/crawl/visit.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Clock } from '../../src/schedule/bell.ts'
import type { Sight } from '../../src/schedule/crawl.ts'
import { openStore } from '../../src/store/open.ts'
import type { Outcomes } from '../../src/store/schedule.ts'
import type { Name } from '../../src/words/name.ts'
import { named } from '../crawl/internet.ts'

const NAMES = Array.from({ length: 16 }, (_, index) => `name-${index}.example`)
const TABLE: DnsTable = {
  ...Object.fromEntries(NAMES.map((name) => [name, { MX: [{ priority: 10, mail_server: 'mx.example' }] }])),
  'zone.example': { NS: ['ns.example'] },
}
/** A clock on which every wait is over at once, but for those that are for ever. */
const HASTY: Clock = { ticks: () => performance.now(), wait: () => new Promise((done) => setImmediate(done)) }

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-checked-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Two resolvers of the lab, and the eyes of a crawl that asks them. */
async function lookingAt(t: TestContext) {
  const servers = [await startDns(TABLE), await startDns(TABLE)]
  const eyes = await openEyes({
    servers: servers.map(({ address, port }) => ({ address, port })),
    guard: makeGuard(),
    userAgent: 'domaindex/test',
    plan: { zones: [], missing: 'example', ipv4only: null, addresses: [] },
    optOut: { hasName: () => false },
    now: () => Math.floor(Date.now() / 1000),
    timeout: 150,
    pause: 5,
    patience: 150,
  })
  t.after(async () => {
    await eyes.close()
    for (const each of servers) await each.close()
  })
  return { servers: servers as [DnsServer, DnsServer], eyes }
}

type Given = Pick<Parameters<typeof crawlAll>[0], 'crawler' | 'look' | 'destination'> & {
  clock?: Clock
  say?: (news: string) => void
}

function crawl(names: readonly string[], given: Given) {
  const list = listOfArguments(names)
  const tally = makeTally('store')
  const nothing = (): void => {}
  const work = crawlAll({
    ...{ place: placeOf(list, ''), tally, parallel: 8, signal: new AbortController().signal },
    ...{ onTaken: nothing, onVisit: nothing, clock: HASTY, say: nothing },
    onFault(_, error) {
      throw error
    },
    ...given,
  })
  return { work, tally }
}

for (const lie of ['nxdomain', 'servfail', 'silent', 'refused'] as const) {
  test(`resolvers that answer every question by ${lie}: nothing is written, and the list goes on when they are well`, async (t) => {
    const { servers, eyes } = await lookingAt(t)
    const path = join(folderOf(t), 'seen.jsonl')
    const destination = openOut(path, null)
    const said: string[] = []
    let visits = 0
    const visit = (name: Name): Promise<Visit> => {
      if (++visits === 6)
        for (const server of servers) server.lie(lie === 'nxdomain' ? () => ({ A: ['192.0.2.66'] }) : always(lie))
      return eyes.visit(name)
    }
    const say = (news: string): void => {
      said.push(news)
      for (const server of servers) server.lie(null)
    }
    const { work, tally } = crawl(NAMES, { crawler: { visit }, look: eyes.look, destination, say })
    assert.equal(await work, true)
    await destination.close()
    assert.match(said[0]!, /^the crawl pauses: resolver /)
    assert.equal(said.at(-1), 'the crawl goes on')
    const seen = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(seen.map(({ domain }) => domain).toSorted(), NAMES.toSorted())
    for (const { dns } of seen) assert.deepEqual([dns.status, dns.MX.length, dns.A], ['ok', 1, []])
    assert.deepEqual([tally.of('ok'), tally.of('nxdomain'), tally.of('servfail')], [NAMES.length, 0, 0])
  })
}

/** A week in which one website in a hundred was gone. */
function weekBefore(now: number): Outcomes[] {
  return Array.from({ length: 100 }, (_, hours) => ({
    ...{ hour: now - (now % 3600) - (hours + 6) * 3600, kind: 'website' },
    ...{ visits: 2_000, servfail: 20, nxdomain: 20, none: 20 },
  }))
}

test('names that had a website and fail beyond the bands of the store are not written; the list goes on when the world is well', async (t) => {
  const store = await openStore(`sqlite:${join(folderOf(t), 'store.db')}`, {
    access: 'write',
    ledger: 'own',
    secret: null,
  })
  t.after(() => store.close())
  const at = await store.now()
  await store.schedule.add(weekBefore(at))
  const written: Observation[] = []
  const { history, write } = storeDestination(store, '')
  const destination: Pick<Destination, 'known' | 'write' | 'history'> = {
    known: async () => ({ ...UNKNOWN, past: 'website' }),
    write: (batch) => {
      written.push(...batch)
      return write(batch)
    },
    history: { ...history, now: async () => at + Math.floor(clock.ticks() / 1000) },
  }
  const clock = new VirtualClock()
  const said: string[] = []
  let isWell = false
  const visit = async (domain: Name): Promise<Visit> => {
    const answer = isWell
      ? ({ outcome: 'records', records: [], aliases: [] } as const)
      : ({ outcome: 'nxdomain' } as const)
    return { domain, at, dns: { A: answer, AAAA: answer }, web: null }
  }
  const look = async (): Promise<Sight> => ({ sees: true })
  const names = Array.from({ length: 600 }, (_, index) => `site-${index}.example`)
  const say = (news: string): void => {
    said.push(news)
    if (news.startsWith('the crawl pauses')) isWell = true
  }
  const { work } = crawl(names, { crawler: { visit }, look, destination, clock, say })
  await clock.run(3_600_000, () => written.length === names.length)
  await clock.hold(work)
  assert.match(
    said[0]!,
    /^nothing is saved for now: nxdomain is 100\.0 % of the last \d+ visits \(website\), where the week had /,
  )
  assert.match(said[1]!, /^the crawl pauses: nxdomain is /)
  assert.ok(written.every(({ dns }) => dns?.status === 'ok'))
  assert.deepEqual(written.map(({ domain }) => domain).toSorted(), names.map(named).toSorted())
  const outcomes = await store.schedule.outcomes(at - 3_600)
  assert.equal(
    outcomes.reduce((sum, { visits }) => sum + visits, 0),
    names.length,
    'they count for the bands of the loop',
  )
})

test('a crawl that is stopped while it pauses ends, and what it threw away stays undone', async () => {
  const stop = new AbortController()
  const list = listOfArguments(NAMES)
  const tally = makeTally('file')
  const finished: string[] = []
  let looks = 0
  const nothing = (): void => {}
  const isDone = await crawlAll({
    crawler: { visit: async (domain) => ({ domain, at: 1, dns: { A: { outcome: 'nxdomain' } }, web: null }) },
    look: async () => (looks++ === 0 ? { sees: true } : { sees: false, why: 'no resolver answers' }),
    destination: {
      known: async () => UNKNOWN,
      write: async (batch) => batch.map(() => 'written' as const),
      history: { history: async () => [], now: async () => 1, add: async () => {} },
    },
    place: { ...placeOf(list, ''), finish: ({ name }) => void finished.push(name) },
    ...{ tally, parallel: 8, signal: stop.signal, onTaken: nothing, onVisit: nothing, onFault: nothing, clock: HASTY },
    say: (news) => (news === 'the crawl pauses: no resolver answers' ? stop.abort() : assert.fail(news)),
  })
  assert.deepEqual([isDone, finished, tally.of('written')], [false, [], 0])
})
