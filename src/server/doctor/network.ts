/** Examines the network of the crawler: its resolvers, IPv4 and IPv6. */

import type { Settings } from '../../config/settings.ts'
import { type DnsServer, formatDnsServer, systemDnsServers } from '../../probe/dns/server.ts'
import { ReachabilityCheck } from '../../probe/self-check/reachability-check.ts'
import { type SurveyedResolver, surveyResolvers } from '../../probe/self-check/resolver-survey.ts'
import { selfCheckPlanOf } from '../crawl/crawl-access.ts'
import { type Finding, fault, off, ok, warning } from './finding.ts'

/** Answers that take longer, in milliseconds, slow the crawl down. */
const SLOW_MS = 200

const USE_ANOTHER = 'name another resolver with --resolver, or in the configuration of this machine'

/** Examines each resolver, and whether they agree. `resolvers`: those of the system if there are none. */
export async function examineResolvers(settings: Settings, resolvers: readonly DnsServer[]): Promise<Finding[]> {
  const servers = resolvers.length > 0 ? resolvers : systemDnsServers()
  if (servers.length === 0)
    return [fault('resolvers', 'this machine has none', 'name at least two with --resolver, of different operators')]
  const surveyed = await surveyResolvers(servers, selfCheckPlanOf(settings))
  return [...surveyed.map(resolverFinding), agreement(surveyed)]
}

function resolverFinding({ server, fault: problem, milliseconds, denied }: SurveyedResolver): Finding {
  const subject = `resolver ${formatDnsServer(server)}`
  if (problem !== null)
    return fault(subject, withoutSubject(problem, subject), `the crawler leaves it out: ${USE_ANOTHER}`)
  if (denied.length > 0)
    return warning(
      subject,
      `it denies ${denied.join(' and ')}, so it filters names`,
      `use a resolver without a filter: ${USE_ANOTHER}`,
    )
  const speed = `answers in ${Math.round(milliseconds ?? 0)} ms`
  if (milliseconds !== null && milliseconds > SLOW_MS)
    return warning(subject, speed, 'use a resolver that is closer, such as one on this machine')
  return ok(subject, speed)
}

function withoutSubject(text: string, subject: string): string {
  return text.startsWith(`${subject} `) ? text.slice(subject.length + 1) : text
}

/** Two resolvers confirm each other only if both work and list the same name servers. */
function agreement(surveyed: readonly SurveyedResolver[]): Finding {
  if (surveyed.length === 1)
    return warning(
      'resolvers',
      'there is only one, so no other one confirms its answers',
      'add one of another operator with --resolver',
    )
  const working = surveyed.filter(({ fault: problem }) => problem === null)
  if (working.length < 2)
    return warning(
      'resolvers',
      `${working.length} of ${surveyed.length} work`,
      'the crawler needs two that confirm each other',
    )
  const differing = working.find(({ differs }) => differs.length > 0)
  if (differing !== undefined)
    return warning(
      'resolvers',
      `${formatDnsServer(differing.server)} lists other name servers for ${differing.differs.join(' and ')} than the first one`,
      'find out which of them is wrong, and replace it',
    )
  return ok('resolvers', `${working.length} agree`)
}

/** Examines whether the control addresses can be reached over each address family. */
export async function examineReachability(settings: Settings): Promise<Finding[]> {
  const { addresses } = selfCheckPlanOf(settings)
  return Promise.all(([4, 6] as const).map((family) => examineFamily(new ReachabilityCheck(addresses, family), family)))
}

async function examineFamily(check: ReachabilityCheck, family: 4 | 6): Promise<Finding> {
  const subject = `IPv${family}`
  try {
    const isReachable = await check.isReachable()
    if (isReachable === null)
      return off(subject, 'not examined: set DOMAINDEX_CRAWL_CONTACT, or addresses in DOMAINDEX_CRAWL_SELF_CHECK')
    if (isReachable) return ok(subject, 'the internet is reachable')
    return family === 4
      ? fault(
          subject,
          'no control address accepts a connection',
          'let TCP to port 53 of the root servers out, or set other addresses in DOMAINDEX_CRAWL_SELF_CHECK',
        )
      : warning(
          subject,
          'no control address accepts a connection',
          'the crawler probes no host that has only IPv6 addresses: give this machine IPv6',
        )
  } finally {
    check.close()
  }
}
