/** Short functions for probe results. */

import type {
  CertificateResult,
  ChainEnd,
  DnsProbeResult,
  ObservedRecord,
  ProbeResult,
  RedirectChain,
  RedirectHop,
  StartPage,
  StartPageLink,
  WebProbeResult,
} from '../../src/probe/probe-result.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'

export const DOMAIN = name('example.com')

export function name(text: string): DomainName {
  const parsed = parseName(text)
  if (parsed === null) throw new Error(`${text} is no name`)
  return parsed
}

export function visit(parts: {
  domain?: DomainName
  dns?: DnsProbeResult | null
  web?: WebProbeResult | null
}): ProbeResult {
  return { domain: parts.domain ?? DOMAIN, at: 1_800_000_000, dns: parts.dns ?? null, web: parts.web ?? null }
}

export function answered(...records: ObservedRecord[]) {
  return { outcome: 'records', records, aliases: [] } as const
}

/**
 * A chain in the order of its hops: `'http://a/ 301'` redirects to the next address, or to the last entry if that is
 * only an address.
 */
export function chain(end: ChainEnd, ...steps: string[]): RedirectChain {
  const asked = steps.map((step) => step.split(' '))
  const hops = asked.flatMap(([url = '', status], at): RedirectHop[] => {
    const to = asked[at + 1]?.[0] ?? null
    return status === undefined ? [] : [{ url, status: Number(status), to, by: to === null ? null : 'location' }]
  })
  return { hops, end, page: null }
}

export const SILENT: RedirectChain = { hops: [], end: 'no_response', page: null }
export const CLOSED: RedirectChain = { hops: [], end: 'not_allowed', page: null }

export function web(
  bare: RedirectChain,
  www: RedirectChain | null = null,
  certificate: CertificateResult = { kind: 'none' },
): WebProbeResult {
  return { bare, www, certificate }
}

export function page(links: readonly StartPageLink[] = [], text: readonly string[] = []): StartPage {
  return { base: 'https://example.com/', links, text }
}

export function anchor(target: string, rel = ''): StartPageLink {
  return { from: 'anchor', name: rel, target }
}
