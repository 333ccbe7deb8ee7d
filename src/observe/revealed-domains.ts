/**
 * The registrable domains that a probe reveals beside its own: where it redirects, who serves it, what it links to,
 * which names its certificate has.
 */

import type { ProbeResult, RedirectChain, WebProbeResult } from '../probe/probe-result.ts'
import { type DomainName, parseName, registrableDomain, registrableDomainOrNull } from '../values/domain-name.ts'
import type { Observation } from './observation.ts'

/**
 * What reveals a domain: hosts of redirects, name servers, mail servers, aliases (CNAME), links of the start page, names
 * in the certificate.
 */
export const REVEALING_SOURCES = ['redirects', 'ns', 'mx', 'cname', 'links', 'certificates'] as const
export type RevealingSource = (typeof REVEALING_SOURCES)[number]

/** Maximum of domains that one source of one probe reveals, in its order. */
export const MAX_REVEALED_DOMAINS = 32
/** Maximum of hosts that are examined for them. */
const MAX_EXAMINED_HOSTS = 2_000

/** Returns each domain once, at most MAX_REVEALED_DOMAINS per source. A public suffix is no domain. */
export function revealedDomains(
  result: ProbeResult,
  { dns, web }: Observation,
  sources: readonly RevealingSource[],
): DomainName[] {
  const own = registrableDomain(result.domain)
  const found = new Set<DomainName>()
  const hosts: Record<RevealingSource, () => Iterable<string>> = {
    redirects: () => hostsOfRedirects(result.web),
    ns: () => (dns?.records.NS ?? []).map(({ nameserver }) => nameserver),
    mx: () => (dns?.records.MX ?? []).map(({ mail_server }) => mail_server),
    cname: () => Object.values(result.dns ?? {}).flatMap((answer) => ('aliases' in answer ? answer.aliases : [])),
    links: () => hostsOfLinks(result.web),
    certificates: () => (web?.certificate?.names ?? []).map((name) => name.replace('*.', '')),
  }
  for (const source of sources) for (const domain of domainsOf(hosts[source](), own)) found.add(domain)
  return [...found]
}

function domainsOf(hosts: Iterable<string>, own: DomainName): Set<DomainName> {
  const domains = new Set<DomainName>()
  let examined = 0
  for (const host of hosts) {
    if (domains.size === MAX_REVEALED_DOMAINS || examined++ === MAX_EXAMINED_HOSTS) break
    const name = parseName(host)
    const domain = name === null ? null : registrableDomainOrNull(name)
    if (domain !== null && domain !== own) domains.add(domain)
  }
  return domains
}

function* hostsOfRedirects(web: WebProbeResult | null): Generator<string> {
  for (const chain of chainsOf(web))
    for (const { url, to } of chain.hops) for (const each of [url, to]) if (each !== null) yield hostOf(each)
}

function* hostsOfLinks(web: WebProbeResult | null): Generator<string> {
  for (const { page } of chainsOf(web))
    for (const { target } of page?.links ?? []) if (/^(https?:)?\/\//i.test(target)) yield hostOf(target, page!.base)
}

function chainsOf(web: WebProbeResult | null): RedirectChain[] {
  return web === null ? [] : [web.bare, web.www].filter((chain) => chain !== null)
}

/** The host of a URL, or '' if it is none. */
function hostOf(target: string, base?: string): string {
  return URL.parse(target, base)?.hostname ?? ''
}
