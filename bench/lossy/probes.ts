/** The measured process of bench:lossy: visits names in a network that loses packets, and prints every wrong answer. */

import { isDeepStrictEqual } from 'node:util'
import type { Observation } from '../../src/observe/observation.ts'
import { observe } from '../../src/observe/observe.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { createProber, type Prober } from '../../src/probe/probe.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { createWebProber } from '../../src/probe/web.ts'
import { end, hears, start } from '../measure/process.ts'
import { below, diceOf } from '../world/random.ts'
import { BLACK_HOLE, droppedBy, type Way } from './network.ts'
import { makeRelays, type Relays } from './relay.ts'
import type { Place } from './servers.ts'
import { namesIn, type Visited } from './world.ts'

export type Task = { way: Way; percent: number; seed: number; visits: number; parallel: number; minutes: number }
/** `chains`: how those of the bare name and of `www.` ended. `at`: seconds since the first visit began. */
export type Wrong = { name: string; kind: string; what: string; chains: string[]; at: number }
export type Taken = {
  /** By what the servers of the names do. */
  visits: Record<string, number>
  wrong: Wrong[]
  dropped: number
  seconds: number
  cpuSeconds: number
}

const SIXTH_ONLY = 'ipv6-only.example'
const SERVERS_CORE = 1

const task = JSON.parse(process.argv[2]!) as Task
const hole = task.way === 'relay' ? null : BLACK_HOLE
const servers = start([process.execPath, `${import.meta.dirname}/servers.ts`, hole ?? ''], { core: SERVERS_CORE })
const [found] = await hears(servers, /^\{.*\}$/m)
const place = JSON.parse(found) as Place
const relays = task.way === 'relay' ? makeRelays(task.percent / 100, diceOf(task.seed, 0, 1)) : null
console.log(JSON.stringify(await measure(await openWorld(place, relays))))
relays?.close()
await end(servers)
process.exit(0)

async function openWorld({ servers, stands, root }: Place, relays: Relays | null): Promise<Prober> {
  const given = relays === null ? servers : await Promise.all(servers.map(relays.server))
  const doors = relays === null ? stands : await Promise.all(stands.map(relays.stand))
  const resolver = await openResolver({ servers: given })
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: doors }),
    roots: [root],
    userAgent: 'domaindex/bench (+https://example.com/bench)',
    limits: { maxRobotsCached: 0 }, // asked at every visit, as of names that are new
  })
  return createProber({ resolver, web, now: () => Math.floor(Date.now() / 1000) })
}

async function measure(crawler: Prober): Promise<Taken> {
  const hasSixth = place.stands.some(({ address }) => address === '::1')
  const names = namesIn(hole).filter(({ name }) => hasSixth || name !== SIXTH_ONLY)
  const visits: Taken['visits'] = {}
  const wrong: Wrong[] = []
  const begun = performance.now()
  const until = begun + task.minutes * 60_000
  let next = 0
  let order: Visited[] = []
  const take = async (): Promise<void> => {
    while (next < task.visits && performance.now() < until) {
      if (next % names.length === 0) order = shuffled(names, Math.floor(next / names.length))
      const { name, kind, gives } = order[next++ % names.length]!
      const visit = await crawler.probe(name)
      const observation = observe(visit)
      const what = differences(observation, gives(observation.observed_at))
      visits[kind] = (visits[kind] ?? 0) + 1
      if (what.length === 0) continue
      const at = Math.round((performance.now() - begun) / 1000)
      wrong.push({ name, kind, what: what.join(', '), chains: chainsOf(visit), at })
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: task.parallel }, take))
  const { user, system } = process.cpuUsage(before)
  const dropped = task.way === 'relay' ? relays!.dropped() : droppedBy(task.way)
  const seconds = (performance.now() - begun) / 1000
  await crawler.close()
  return { visits, wrong, dropped, seconds, cpuSeconds: (user + system) / 1e6 }
}

function chainsOf({ web }: ProbeResult): string[] {
  return [web?.bare, web?.www].flatMap((chain) => (chain ? [`${chain.hops.length} hops, ${chain.end}`] : []))
}

/** Each pass in an order of its own. */
function shuffled(names: readonly Visited[], pass: number): Visited[] {
  const dice = diceOf(task.seed, pass, 2)
  const order = [...names]
  for (let left = order.length; left > 1; left--) {
    const at = below(dice, left)
    ;[order[at], order[left - 1]] = [order[left - 1]!, order[at]!]
  }
  return order
}

/** What is not as it must be, a part or a field each. */
function differences(seen: Observation, expected: Observation): string[] {
  if (isDeepStrictEqual(seen, expected)) return []
  return [
    ...(seen.dns?.status === expected.dns?.status
      ? []
      : [`dns ${said(expected.dns?.status)} -> ${said(seen.dns?.status)}`]),
    ...fieldsOf('', seen.dns?.records, expected.dns?.records),
    ...(said(seen.web && 'seen') === said(expected.web && 'seen')
      ? fieldsOf('web ', seen.web, expected.web)
      : [seen.web === null ? 'web left out' : 'web looked at']),
  ]
}

function fieldsOf(prefix: string, seen: object | null | undefined, expected: object | null | undefined): string[] {
  const [ours, theirs] = [seen, expected].map((each) => (each ?? {}) as Record<string, unknown>)
  const keys = new Set([...Object.keys(ours!), ...Object.keys(theirs!)])
  return [...keys]
    .filter((key) => !isDeepStrictEqual(ours![key], theirs![key]))
    .map((key) => (ours![key] === undefined ? `${prefix}${key} left out` : `${prefix}${key} wrong`))
}

function said(value: string | null | undefined): string {
  return value ?? 'left out'
}
