/** What the right answers about a made-up world are, worked out from the world alone and in the plainest way. */

import type { SocialAccount } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { parseAddress } from '../../src/values/ip-address.ts'
import { firstRound, seenOf, type World } from './world.ts'

/** The result of /lookup without its two counts, and what they are counted by. */
export type Expected = {
  result: Record<string, unknown> & { social_networks: string[]; social_accounts: SocialAccount[] }
  /** In the order of answers. */
  addresses: string[]
  target: string | null
  /** When it was seen, as answers say it. */
  since: string
}

/** What is expected of the domain at a place, after the first visit. */
export function expectedOf(world: World, index: number): Expected & { domain: DomainName } {
  const { domain, observed_at, dns, web } = seenOf(world, index, firstRound())
  const v4 = [...(dns.A ?? [])].sort((a, b) => quad(a) - quad(b))
  const v6 = (dns.AAAA ?? []).map((address) => parseAddress(address) as string).sort(byGroups)
  const accounts = web?.social_accounts ?? []
  return {
    domain,
    result: {
      has_website: yes(web?.has_website),
      redirect_to_https: yes(web?.redirect_to_https),
      redirect_to_www: yes(web?.redirect_to_www),
      redirect_to_domain: yes(typeof web?.redirects_to === 'string'),
      only_with_www: yes(web?.only_with_www),
      only_dns_no_web: 'no',
      ssl: web?.ssl ?? 'nocert',
      ip: dns.status === 'ok' ? families(v4.length > 0, v6.length > 0) : dns.status,
      social_networks: [...new Set(accounts.map(({ network }) => network))].sort(),
      social_accounts: accounts,
    },
    addresses: [...v4, ...v6],
    target: web?.redirects_to ?? null,
    since: observed_at.replace('Z', ''),
  }
}

/** How many domains are on each of the addresses, and redirect to each of the targets, in the whole world. */
export function counts(
  world: World,
  addresses: ReadonlySet<string>,
  targets: ReadonlySet<string>,
): { onAddress: Map<string, number>; toTarget: Map<string, number> } {
  const onAddress = new Map<string, number>()
  const toTarget = new Map<string, number>()
  for (let index = 0; index < world.names; index++) {
    const each = expectedOf(world, index)
    for (const address of each.addresses) {
      if (addresses.has(address)) onAddress.set(address, (onAddress.get(address) ?? 0) + 1)
    }
    if (each.target !== null && targets.has(each.target))
      toTarget.set(each.target, (toTarget.get(each.target) ?? 0) + 1)
  }
  return { onAddress, toTarget }
}

function yes(given: boolean | undefined): 'yes' | 'no' {
  return given ? 'yes' : 'no'
}

function families(v4: boolean, v6: boolean): string {
  if (v4 && v6) return 'both'
  if (v4) return 'v4only'
  return v6 ? 'v6only' : 'noip'
}

function quad(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

/** Addresses of the made-up world have their zeros in one place, so that groups compare one by one. */
function byGroups(a: string, b: string): number {
  const [left, right] = [expanded(a), expanded(b)]
  return left < right ? -1 : Number(left > right)
}

function expanded(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head.split(':').filter(Boolean), tail.split(':').filter(Boolean)]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(':')
}
