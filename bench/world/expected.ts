/** The right responses about a synthetic world, computed from the world alone and in the simplest way. */

import type { SocialAccount } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { parseAddress } from '../../src/values/ip-address.ts'
import { firstProbeRound, observationAt, type World } from './world.ts'

/** The result of /lookup without its two counts, and the facts that the counts depend on. */
export type ExpectedFacts = {
  result: Record<string, unknown> & { social_networks: string[]; social_accounts: SocialAccount[] }
  /** In the order of responses. */
  addresses: string[]
  target: string | null
  /** The time of the probe, in the format of responses. */
  since: string
}

/** Returns the expected facts of the domain at an index, after the first round. */
export function expectedFactsAt(world: World, index: number): ExpectedFacts & { domain: DomainName } {
  const { domain, observed_at, dns, web } = observationAt(world, index, firstProbeRound())
  const v4 = [...(dns.A ?? [])].sort((a, b) => ipv4Number(a) - ipv4Number(b))
  const v6 = (dns.AAAA ?? []).map((address) => parseAddress(address) as string).sort(compareIpv6)
  const accounts = web?.social_accounts ?? []
  return {
    domain,
    result: {
      has_website: yesOrNo(web?.has_website),
      redirect_to_https: yesOrNo(web?.redirect_to_https),
      redirect_to_www: yesOrNo(web?.redirect_to_www),
      redirect_to_domain: yesOrNo(typeof web?.redirects_to === 'string'),
      only_with_www: yesOrNo(web?.only_with_www),
      only_dns_no_web: 'no',
      ssl: web?.ssl ?? 'nocert',
      ip: dns.status === 'ok' ? ipFamilies(v4.length > 0, v6.length > 0) : dns.status,
      social_networks: [...new Set(accounts.map(({ network }) => network))].sort(),
      social_accounts: accounts,
    },
    addresses: [...v4, ...v6],
    target: web?.redirects_to ?? null,
    since: observed_at.replace('Z', ''),
  }
}

/** Counts the domains on each of the addresses, and those that redirect to each of the targets, in the whole world. */
export function countSharing(
  world: World,
  addresses: ReadonlySet<string>,
  targets: ReadonlySet<string>,
): { onAddress: Map<string, number>; toTarget: Map<string, number> } {
  const onAddress = new Map<string, number>()
  const toTarget = new Map<string, number>()
  for (let index = 0; index < world.names; index++) {
    const each = expectedFactsAt(world, index)
    for (const address of each.addresses) {
      if (addresses.has(address)) onAddress.set(address, (onAddress.get(address) ?? 0) + 1)
    }
    if (each.target !== null && targets.has(each.target))
      toTarget.set(each.target, (toTarget.get(each.target) ?? 0) + 1)
  }
  return { onAddress, toTarget }
}

function yesOrNo(value: boolean | undefined): 'yes' | 'no' {
  return value ? 'yes' : 'no'
}

function ipFamilies(v4: boolean, v6: boolean): string {
  if (v4 && v6) return 'both'
  if (v4) return 'v4only'
  return v6 ? 'v6only' : 'noip'
}

function ipv4Number(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

/** Addresses of the synthetic world have their zeros in one place, so groups can be compared one by one. */
function compareIpv6(a: string, b: string): number {
  const [left, right] = [expandIpv6(a), expandIpv6(b)]
  return left < right ? -1 : Number(left > right)
}

function expandIpv6(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head.split(':').filter(Boolean), tail.split(':').filter(Boolean)]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(':')
}
