/** The settings of crawls: a part of the table of all settings. */

import { type KindShares, PROBE_KINDS, type ProbeKind } from '../crawler/queue/kind-selector.ts'
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
  /** Who crawls: what stands in the User-Agent. Null: nobody has said. */
  crawlContact: string | null
  /** The file of the opt-out list. Null: there is none. */
  crawlOptOut: string | null
  crawlSelfCheck: SelfCheckPlan
  /** Visits a second. Null: as many as may be. */
  crawlRate: number | null
  crawlShares: KindShares
  /** Seconds. */
  crawlMinInterval: number
  crawlMaxInterval: number
  /** Names an account and day; 0: none. */
  crawlLookupRequests: number
  /** Null: no admin listener. */
  crawlAdmin: ListenAddress | null
}

export const CRAWL_SETTINGS: { readonly [Key in keyof CrawlSettings]: Setting<CrawlSettings[Key]> } = {
  crawlContact: {
    name: 'DOMAINDEX_CRAWL_CONTACT',
    defaultText: '',
    meaning:
      'Where the owner of a site reaches whoever crawls it. It stands in the User-Agent of every request; unset, nothing public is crawled.',
    allowed:
      'the address of a page (https://example.com/crawler), without a user and a password, or a mailbox (crawler@example.com): 3 to 200 printable ASCII characters, no blank, ( ) or \\ among them',
    parse: (text) => (text === '' ? null : isContact(text) ? text : undefined),
  },
  crawlOptOut: {
    name: 'DOMAINDEX_CRAWL_OPT_OUT',
    defaultText: '',
    meaning:
      'The list of names and addresses that are not visited: a text file with a name, suffix or range a line, read anew when it changes.',
    allowed: 'the path of a file',
    parse: (text) => (text === '' ? null : text),
  },
  crawlSelfCheck: {
    name: 'DOMAINDEX_CRAWL_SELF_CHECK',
    defaultText: '',
    meaning:
      'What a crawl asks to know whether it sees: zones whose SOA every resolver must give, a suffix under which made-up names must not exist, a name without IPv6, addresses that must take a TCP connection. What is left out is as by default: the root and five top-level domains, com, ipv4only.arpa, the root servers.',
    allowed:
      'parts separated by spaces, such as zones=.,com missing=com ipv4only=ipv4only.arpa addresses=198.41.0.4:53,[2001:503:ba3e::2:30]:53, each of them none for nothing, zones and addresses 32 at most',
    parse: parseSelfCheckPlan,
  },
  crawlRate: {
    name: 'DOMAINDEX_CRAWL_RATE',
    defaultText: '20',
    meaning: 'How many visits a second the crawlers of an installation begin, all of them together.',
    allowed:
      'a number from 0.001 to 100000, of three decimals at most, such as 50 or 0.5, or off for as many as may be',
    parse: (text) => (text === 'off' ? null : parseRate(text)),
  },
  crawlShares: {
    name: 'DOMAINDEX_CRAWL_SHARES',
    defaultText: 'lookup=10,new=30,followup=20,due=40',
    meaning:
      'The parts of the rate: of names that callers looked up in vain, of those that were never visited, of those that a file of the night needs, and of those whose time has come again. What one leaves is lent to the others.',
    allowed:
      'lookup, new, followup and due, all four, separated by commas, each with a whole number from 0 to 1000, not all of them 0',
    parse: readShares,
  },
  crawlMinInterval: {
    name: 'DOMAINDEX_CRAWL_MIN_INTERVAL',
    defaultText: '1d',
    meaning: 'The least time between two visits of a name, also after an import.',
    allowed: 'a whole number of minutes, hours or days, 3650d at most, as 90m, 12h or 1d',
    parse: parseDuration,
  },
  crawlMaxInterval: {
    name: 'DOMAINDEX_CRAWL_MAX_INTERVAL',
    defaultText: '30d',
    meaning:
      'The most time between two visits of a name, also after an import; at least DOMAINDEX_CRAWL_MIN_INTERVAL. A change counts for each name from its next visit or import on: times that were set before stay.',
    allowed: 'a whole number of minutes, hours or days, 3650d at most, as 12h or 30d',
    parse: parseDuration,
  },
  crawlLookupRequests: {
    name: 'DOMAINDEX_CRAWL_LOOKUP_REQUESTS',
    defaultText: '0',
    meaning:
      'How many names an account may have visited a day by looking them up while they are not known; 0 for none.',
    allowed: 'a whole number from 0 to 100000',
    parse: (text) => parseWholeNumber(text, 0, 100_000),
  },
  crawlAdmin: {
    name: 'DOMAINDEX_CRAWL_ADMIN',
    defaultText: '127.0.0.1:9091',
    meaning:
      'Where the admin listener (metrics, readiness) of a crawl that goes on and on listens. It asks for no token: keep it off the internet.',
    allowed: 'HOST:PORT, [IPV6]:PORT, or off',
    parse: (text) => (text === 'off' ? null : parseListener(text)),
  },
}

const MAX_SHARE = 1_000

function readShares(text: string): KindShares | undefined {
  const parts = text.split(',').map((part) => part.trim().split('='))
  const shares = new Map(parts.map(([kind, share = '']) => [kind as ProbeKind, parseWholeNumber(share, 0, MAX_SHARE)]))
  const isWhole = parts.length === PROBE_KINDS.length && PROBE_KINDS.every((kind) => shares.get(kind) !== undefined)
  const some = [...shares.values()].some((share) => share !== 0)
  return isWhole && some ? (Object.fromEntries(shares) as KindShares) : undefined
}
