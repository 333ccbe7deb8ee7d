/** The survey of the resolvers: their faults, their speed, whether they filter, and whether they agree. For operators. */

import type { DnsServer } from '../dns/server.ts'
import { DnsServerPaths } from '../dns/server-path.ts'
import type { SelfCheckPlan } from './plan.ts'
import { CONTROL_QUERY_TIMEOUT_MS, ResolverCheck } from './resolver-check.ts'

/**
 * What was found about one resolver. `fault`: as of the self-check; null if there is none. `milliseconds`: the median
 * time of its answers; null if there were none. `denied`: hosts of the plan that exist and that it denies. `differs`:
 * zones whose name servers it lists differently from the first resolver that lists any.
 */
export type SurveyedResolver = {
  server: DnsServer
  fault: string | null
  milliseconds: number | null
  denied: string[]
  differs: string[]
}

/** The addresses by which a filter denies a host. */
const SINK_ADDRESS = /^(?:0\.|127\.|::1?$)/

/** Asks every resolver the control questions and those of filters. Takes up to 5 s. Never rejects. */
export async function surveyResolvers(
  servers: readonly DnsServer[],
  plan: SelfCheckPlan,
  timeoutMs = CONTROL_QUERY_TIMEOUT_MS,
): Promise<SurveyedResolver[]> {
  const paths = new DnsServerPaths()
  const checks = servers.map((server) => new ResolverCheck(server, plan, timeoutMs, paths))
  try {
    const answers = await Promise.all(checks.map((check) => readAnswers(check, plan)))
    return answers.map(({ check, fault, milliseconds, denied, zones }) => {
      const differs = plan.zones.filter((_, index) => {
        const reference = answers.find((each) => each.zones[index] !== null)?.zones[index]
        return zones[index] !== null && zones[index] !== reference
      })
      return { server: check.server, fault, milliseconds, denied, differs }
    })
  } finally {
    for (const check of checks) check.close()
  }
}

async function readAnswers(check: ResolverCheck, plan: SelfCheckPlan) {
  const times: number[] = []
  const ask = async (host: string, type: 'NS' | 'A') => {
    const startedAt = performance.now()
    const reply = await check.ask(host, type)
    if (reply !== null) times.push(performance.now() - startedAt)
    return reply
  }
  const [fault, nameServers, addresses, root] = await Promise.all([
    check.findFault(),
    Promise.all(plan.zones.map((zone) => ask(zone, 'NS'))),
    Promise.all(plan.unfiltered.map((host) => ask(host, 'A'))),
    ask('.', 'NS'),
  ])
  const denied = plan.unfiltered.filter((_, index) => isDenial(addresses[index] ?? null))
  const zones = nameServers.map((reply) =>
    reply?.outcome === 'records' && reply.records.length > 0 ? JSON.stringify(reply.records.map(String).sort()) : null,
  )
  const isSilent = fault === null && times.length === 0 && root === null
  return { check, fault: isSilent ? check.silence : fault, milliseconds: median(times), denied, zones }
}

function isDenial(reply: Awaited<ReturnType<ResolverCheck['ask']>>): boolean {
  if (reply === null) return false
  return reply.outcome === 'nxdomain' || reply.records.every((record) => SINK_ADDRESS.test(String(record)))
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? null
}
