/** Visits for the tests of observers, in few words. */

import type {
  Certificate,
  Chain,
  DnsSeen,
  End,
  GivenRecord,
  Hop,
  Page,
  PageLink,
  Visit,
  WebSeen,
} from '../../src/crawl/visit.ts'
import { type Name, parseName } from '../../src/words/name.ts'

export const DOMAIN = name('example.com')

export function name(text: string): Name {
  const parsed = parseName(text)
  if (parsed === null) throw new Error(`${text} is no name`)
  return parsed
}

export function visit(parts: { domain?: Name; dns?: DnsSeen | null; web?: WebSeen | null }): Visit {
  return { domain: parts.domain ?? DOMAIN, at: 1_800_000_000, dns: parts.dns ?? null, web: parts.web ?? null }
}

export function answered(...records: GivenRecord[]) {
  return { outcome: 'records', records, aliases: [] } as const
}

/**
 * A chain in the order of its hops: `'http://a/ 301'` goes on to the next address, or to the last entry where that is
 * an address alone.
 */
export function chain(end: End, ...steps: string[]): Chain {
  const asked = steps.map((step) => step.split(' '))
  const hops = asked.flatMap(([url = '', status], at): Hop[] => {
    const to = asked[at + 1]?.[0] ?? null
    return status === undefined ? [] : [{ url, status: Number(status), to, by: to === null ? null : 'location' }]
  })
  return { hops, end, page: null }
}

export const SILENT: Chain = { hops: [], end: 'silent', page: null }
export const CLOSED: Chain = { hops: [], end: 'closed', page: null }

export function web(bare: Chain, www: Chain | null = null, certificate: Certificate = { kind: 'none' }): WebSeen {
  return { bare, www, certificate }
}

export function page(links: readonly PageLink[] = [], text: readonly string[] = []): Page {
  return { base: 'https://example.com/', links, text }
}

export function anchor(target: string, rel = ''): PageLink {
  return { from: 'anchor', name: rel, target }
}
