/** The settings of the crawler. */

import { type KindShares, PROBE_KINDS, type ProbeKind } from '../crawler/queue/kind-selector.ts'
import { REVEALING_SOURCES, type RevealingSource } from '../observe/revealed-domains.ts'
import { parseSelfCheckPlan, type SelfCheckPlan } from '../probe/self-check/plan.ts'
import {
  isContact,
  type ListenAddress,
  parseDuration,
  parseListener,
  parseRate,
  parseWholeNumber,
  type Setting,
} from './parse.ts'

export type CrawlSettings = {
  /** The contact in the User-Agent. Null: unset. */
  crawlContact: string | null
  /** The path of the opt-out list. Null: there is none. */
  crawlOptOut: string | null
  crawlSelfCheck: SelfCheckPlan
  /** Probes per second. Null: no limit. */
  crawlRate: number | null
  crawlShares: KindShares
  /** What reveals further domains to the crawler. */
  crawlDiscover: readonly RevealingSource[]
  /** Seconds. */
  crawlMinInterval: number
  crawlMaxInterval: number
  /** Names per account and day; 0: none. */
  crawlLookupRequests: number
  /** Null: no admin listener. */
  crawlAdmin: ListenAddress | null
}

export const CRAWL_SETTINGS: { readonly [Key in keyof CrawlSettings]: Setting<CrawlSettings[Key]> } = {
  crawlContact: {
    name: 'DOMAINDEX_CRAWL_CONTACT',
    defaultText: '',
    meaning:
      'How owners of sites can contact the operator of the crawler. ' +
      'It is part of the User-Agent of every request. Without it, the crawler connects to no public address.',
    allowed:
      'the URL of a page (https://example.com/crawler) without user and password, or an email address ' +
      '(crawler@example.com): 3 to 200 printable ASCII characters without blanks, ( ) and \\',
    parse: (text) => (text === '' ? null : isContact(text) ? text : undefined),
  },
  crawlOptOut: {
    name: 'DOMAINDEX_CRAWL_OPT_OUT',
    defaultText: '',
    meaning:
      'The list of names and addresses that are never probed: a text file with one name, suffix or range per ' +
      'line. Imports and built files leave its names out too. It is reloaded when it changes.',
    allowed: 'a file path',
    parse: (text) => (text === '' ? null : text),
  },
  crawlSelfCheck: {
    name: 'DOMAINDEX_CRAWL_SELF_CHECK',
    defaultText: '',
    meaning:
      'The control questions of the self-check. zones: every resolver must return their SOA. missing: made-up ' +
      'names under this suffix must not exist. ipv4only: this name must have no IPv6 addresses. unfiltered: ' +
      '`domaindex doctor` reports resolvers that deny these names, which filters block. addresses: they ' +
      'must accept a TCP connection. ' +
      'The defaults of the five parts are: the root and five top-level domains, com, ipv4only.arpa, three names ' +
      'by which filters are tested, the root servers.',
    allowed:
      'parts separated by spaces, such as zones=.,com missing=com ipv4only=ipv4only.arpa ' +
      'unfiltered=isitblocked.org addresses=198.41.0.4:53,[2001:503:ba3e::2:30]:53; the value none turns a part ' +
      'off; zones, unfiltered and addresses: 32 at most each',
    parse: parseSelfCheckPlan,
  },
  crawlRate: {
    name: 'DOMAINDEX_CRAWL_RATE',
    defaultText: '20',
    meaning: 'How many probes all crawlers of an installation together start per second.',
    allowed: 'a number from 0.001 to 100000 with at most three decimals, such as 50 or 0.5, or off for no limit',
    parse: (text) => (text === 'off' ? null : parseRate(text)),
  },
  crawlShares: {
    name: 'DOMAINDEX_CRAWL_SHARES',
    defaultText: 'lookup=10,new=30,followup=20,due=40',
    meaning:
      'How DOMAINDEX_CRAWL_RATE is divided. lookup: unknown names that a call looked up. new: names that were ' +
      'never probed. followup: names that a follow-up file needs. due: names that are due again. ' +
      'If one kind uses less than its share, the others get the rest.',
    allowed:
      'lookup, new, followup and due, all four, separated by commas, each with a whole number from 0 to 1000, ' +
      'not all 0',
    parse: parseShares,
  },
  crawlDiscover: {
    name: 'DOMAINDEX_CRAWL_DISCOVER',
    defaultText: '',
    meaning:
      'Which parts of a probe reveal further domains, which the store then adds as never probed. redirects: hosts ' +
      'of redirects. ns, mx: name servers and mail servers. cname: aliases. links: links of the start page. ' +
      'certificates: names in the certificate. ' +
      'A probe adds at most 32 domains of each.',
    allowed: 'any of redirects, ns, mx, cname, links and certificates, separated by commas',
    parse: parseSources,
  },
  crawlMinInterval: {
    name: 'DOMAINDEX_CRAWL_MIN_INTERVAL',
    defaultText: '1d',
    meaning: 'The minimum time between two probes of a name, also after an import.',
    allowed: 'a whole number of minutes, hours or days (3650d at most), such as 90m, 12h or 1d',
    parse: parseDuration,
  },
  crawlMaxInterval: {
    name: 'DOMAINDEX_CRAWL_MAX_INTERVAL',
    defaultText: '30d',
    meaning:
      'The maximum time between two probes of a name, also after an import. ' +
      'It must be at least DOMAINDEX_CRAWL_MIN_INTERVAL. ' +
      'A change applies to each name from its next probe or import on. Times that are already set stay.',
    allowed: 'a whole number of minutes, hours or days (3650d at most), such as 12h or 30d',
    parse: parseDuration,
  },
  crawlLookupRequests: {
    name: 'DOMAINDEX_CRAWL_LOOKUP_REQUESTS',
    defaultText: '0',
    meaning: 'How many crawl requests an account may cause per day by looking up unknown names; 0 for none.',
    allowed: 'a whole number from 0 to 100000',
    parse: (text) => parseWholeNumber(text, 0, 100_000),
  },
  crawlAdmin: {
    name: 'DOMAINDEX_CRAWL_ADMIN',
    defaultText: '127.0.0.1:9091',
    meaning:
      'The address of the admin listener (metrics, readiness) of a continuous crawl. ' +
      'It requires no token, so keep it off the internet.',
    allowed: 'HOST:PORT, [IPV6]:PORT, or off',
    parse: (text) => (text === 'off' ? null : parseListener(text)),
  },
}

/** Each source once, in the order of REVEALING_SOURCES. */
function parseSources(text: string): readonly RevealingSource[] | undefined {
  const listed = text === '' ? [] : text.split(',').map((source) => source.trim())
  const isKnown = listed.every((source) => REVEALING_SOURCES.some((known) => known === source))
  return isKnown ? REVEALING_SOURCES.filter((source) => listed.includes(source)) : undefined
}

const MAX_SHARE = 1_000

function parseShares(text: string): KindShares | undefined {
  const parts = text.split(',').map((part) => part.trim().split('='))
  const shares = new Map(parts.map(([kind, share = '']) => [kind as ProbeKind, parseWholeNumber(share, 0, MAX_SHARE)]))
  const isComplete = parts.length === PROBE_KINDS.length && PROBE_KINDS.every((kind) => shares.get(kind) !== undefined)
  const hasShare = [...shares.values()].some((share) => share !== 0)
  return isComplete && hasShare ? (Object.fromEntries(shares) as KindShares) : undefined
}
