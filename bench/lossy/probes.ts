/**
 * The measured process of bench:lossy: probes names in a network that loses packets and prints every wrong observation.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Observation } from '../../src/observe/observation.ts'
import { observe } from '../../src/observe/observe.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { createProber, type Prober } from '../../src/probe/probe.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import { createWebProber } from '../../src/probe/web.ts'
import { startProcess, stopProcess, waitForOutput } from '../measure/process.ts'
import { randomInt, seededRandom } from '../world/random.ts'
import { BLACK_HOLE, countDroppedPackets, type LossMethod } from './network.ts'
import { makeRelays, type Relays } from './relay.ts'
import type { LossyAddresses } from './servers.ts'
import { namesIn, type ProbedName } from './world.ts'

export type LossyTask = {
  method: LossMethod
  percent: number
  seed: number
  probes: number
  parallel: number
  minutes: number
}
/**
 * `chains`: how the redirect chains of the bare name and of `www.` ended. `at`: seconds since the first probe started.
 */
export type WrongAnswer = { name: string; serverState: string; differences: string; chains: string[]; at: number }
export type LossyResult = {
  /** Counts by the state of the servers of a name. */
  probes: Record<string, number>
  wrong: WrongAnswer[]
  dropped: number
  seconds: number
  cpuSeconds: number
}

const IPV6_ONLY = 'ipv6-only.example'
const SERVERS_CORE = 1

const task = JSON.parse(process.argv[2]!) as LossyTask
const blackHole = task.method === 'relay' ? null : BLACK_HOLE
const servers = startProcess([process.execPath, `${import.meta.dirname}/servers.ts`, blackHole ?? ''], {
  core: SERVERS_CORE,
})
const [firstLine] = await waitForOutput(servers, /^\{.*\}$/m)
const addresses = JSON.parse(firstLine) as LossyAddresses
const relays = task.method === 'relay' ? makeRelays(task.percent / 100, seededRandom(task.seed, 0, 1)) : null
console.log(JSON.stringify(await measure(await openProber(addresses, relays))))
relays?.close()
await stopProcess(servers)
process.exit(0)

async function openProber(
  { servers, portMappings: mappings, root }: LossyAddresses,
  relays: Relays | null,
): Promise<Prober> {
  const resolvers = relays === null ? servers : await Promise.all(servers.map(relays.relayServer))
  const portMappings = relays === null ? mappings : await Promise.all(mappings.map(relays.relayPort))
  const resolver = await openResolver({ servers: resolvers })
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings }),
    roots: [root],
    userAgent: 'domaindex/bench (+https://example.com/bench)',
    limits: { maxRobotsCached: 0 }, // requested at every probe, as for names that are new
  })
  return createProber({ resolver, web, now: () => Math.floor(Date.now() / 1000) })
}

async function measure(prober: Prober): Promise<LossyResult> {
  const hasIpv6 = addresses.portMappings.some(({ address }) => address === '::1')
  const names = namesIn(blackHole).filter(({ name }) => hasIpv6 || name !== IPV6_ONLY)
  const probes: LossyResult['probes'] = {}
  const wrong: WrongAnswer[] = []
  const startedAt = performance.now()
  const deadline = startedAt + task.minutes * 60_000
  let next = 0
  let order: ProbedName[] = []
  const probeNames = async (): Promise<void> => {
    while (next < task.probes && performance.now() < deadline) {
      if (next % names.length === 0) order = shuffled(names, Math.floor(next / names.length))
      const { name, serverState, expectedAt } = order[next++ % names.length]!
      const result = await prober.probe(name)
      const observation = observe(result)
      const found = differences(observation, expectedAt(observation.observed_at))
      probes[serverState] = (probes[serverState] ?? 0) + 1
      if (found.length === 0) continue
      const at = Math.round((performance.now() - startedAt) / 1000)
      wrong.push({ name, serverState, differences: found.join(', '), chains: chainsOf(result), at })
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: task.parallel }, probeNames))
  const { user, system } = process.cpuUsage(before)
  const dropped = task.method === 'relay' ? relays!.dropped() : countDroppedPackets(task.method)
  const seconds = (performance.now() - startedAt) / 1000
  await prober.close()
  return { probes, wrong, dropped, seconds, cpuSeconds: (user + system) / 1e6 }
}

function chainsOf({ web }: ProbeResult): string[] {
  return [web?.bare, web?.www].flatMap((chain) => (chain ? [`${chain.hops.length} hops, ${chain.end}`] : []))
}

/** Each pass has its own order. */
function shuffled(names: readonly ProbedName[], pass: number): ProbedName[] {
  const random = seededRandom(task.seed, pass, 2)
  const order = [...names]
  for (let left = order.length; left > 1; left--) {
    const at = randomInt(random, left)
    ;[order[at], order[left - 1]] = [order[left - 1]!, order[at]!]
  }
  return order
}

/** Lists the parts and fields that differ from the expected observation. */
function differences(actual: Observation, expected: Observation): string[] {
  if (isDeepStrictEqual(actual, expected)) return []
  return [
    ...(actual.dns?.status === expected.dns?.status
      ? []
      : [`dns ${textOrMissing(expected.dns?.status)} -> ${textOrMissing(actual.dns?.status)}`]),
    ...differingFields('', actual.dns?.records, expected.dns?.records),
    ...(textOrMissing(actual.web && 'present') === textOrMissing(expected.web && 'present')
      ? differingFields('web ', actual.web, expected.web)
      : [actual.web === null ? 'web left out' : 'web not left out']),
  ]
}

function differingFields(
  prefix: string,
  actual: object | null | undefined,
  expected: object | null | undefined,
): string[] {
  const [actualFields, expectedFields] = [actual, expected].map((each) => (each ?? {}) as Record<string, unknown>)
  const keys = new Set([...Object.keys(actualFields!), ...Object.keys(expectedFields!)])
  return [...keys]
    .filter((key) => !isDeepStrictEqual(actualFields![key], expectedFields![key]))
    .map((key) => (actualFields![key] === undefined ? `${prefix}${key} left out` : `${prefix}${key} wrong`))
}

function textOrMissing(value: string | null | undefined): string {
  return value ?? 'left out'
}
