/** The settings of crawls: a part of the table of all settings. */

import { isContact, type Listener, readListener, readRate, readSpan, readWhole, type Setting } from './config-read.ts'
import { type ControlPlan, parsePlan } from './crawl/control-plan.ts'
import { KINDS, type Kind, type Shares } from './schedule/turns.ts'

export type CrawlSettings = {
  /** Who crawls: what stands in the User-Agent. Null: nobody has said. */
  crawlContact: string | null
  /** The file of the opt-out list. Null: there is none. */
  crawlOptOut: string | null
  crawlControls: ControlPlan
  /** Visits a second. Null: as many as may be. */
  crawlRate: number | null
  crawlShares: Shares
  /** Seconds. */
  crawlSoonest: number
  crawlLatest: number
  /** Names an account and day; 0: none. */
  crawlAsked: number
  /** Null: no admin listener. */
  crawlAdmin: Listener | null
}

export const CRAWL_SETTINGS: { readonly [Key in keyof CrawlSettings]: Setting<CrawlSettings[Key]> } = {
  crawlContact: {
    name: 'DOMAINDEX_CRAWL_CONTACT',
    fallback: '',
    meaning:
      'Where the owner of a site reaches whoever crawls it. It stands in the User-Agent of every request; unset, nothing public is crawled.',
    may: 'the address of a page (https://example.com/crawler), without a user and a password, or a mailbox (crawler@example.com): 3 to 200 printable ASCII characters, no blank, ( ) or \\ among them',
    read: (text) => (text === '' ? null : isContact(text) ? text : undefined),
  },
  crawlOptOut: {
    name: 'DOMAINDEX_CRAWL_OPT_OUT',
    fallback: '',
    meaning:
      'The list of names and addresses that are not visited: a text file with a name, suffix or range a line, read anew when it changes.',
    may: 'the path of a file',
    read: (text) => (text === '' ? null : text),
  },
  crawlControls: {
    name: 'DOMAINDEX_CRAWL_CONTROLS',
    fallback: '',
    meaning:
      'What a crawl asks to know whether it sees: zones whose SOA every resolver must give, a suffix under which made-up names must not exist, a name without IPv6, addresses that must take a TCP connection. What is left out is as by default: the root and five top-level domains, com, ipv4only.arpa, the root servers.',
    may: 'parts separated by spaces, such as zones=.,com missing=com ipv4only=ipv4only.arpa addresses=198.41.0.4:53,[2001:503:ba3e::2:30]:53, each of them none for nothing, zones and addresses 32 at most',
    read: parsePlan,
  },
  crawlRate: {
    name: 'DOMAINDEX_CRAWL_RATE',
    fallback: '20',
    meaning: 'How many visits a second the crawlers of an installation begin, all of them together.',
    may: 'a number from 0.001 to 100000, of three decimals at most, such as 50 or 0.5, or off for as many as may be',
    read: (text) => (text === 'off' ? null : readRate(text)),
  },
  crawlShares: {
    name: 'DOMAINDEX_CRAWL_SHARES',
    fallback: 'asked=10,fresh=30,followup=20,due=40',
    meaning:
      'The parts of the rate: of names that callers looked up in vain, of those that were never visited, of those that a file of the night needs, and of those whose time has come again. What one leaves is lent to the others.',
    may: 'asked, fresh, followup and due, all four, separated by commas, each with a whole number from 0 to 1000, not all of them 0',
    read: readShares,
  },
  crawlSoonest: {
    name: 'DOMAINDEX_CRAWL_SOONEST',
    fallback: '1d',
    meaning: 'The least time between two visits of a name, also after an import.',
    may: 'a whole number of minutes, hours or days, 3650d at most, as 90m, 12h or 1d',
    read: readSpan,
  },
  crawlLatest: {
    name: 'DOMAINDEX_CRAWL_LATEST',
    fallback: '30d',
    meaning:
      'The most time between two visits of a name, also after an import; at least DOMAINDEX_CRAWL_SOONEST. A change counts for each name from its next visit or import on: times that were set before stay.',
    may: 'a whole number of minutes, hours or days, 3650d at most, as 12h or 30d',
    read: readSpan,
  },
  crawlAsked: {
    name: 'DOMAINDEX_CRAWL_ASKED',
    fallback: '0',
    meaning:
      'How many names an account may have visited a day by looking them up while they are not known; 0 for none.',
    may: 'a whole number from 0 to 100000',
    read: (text) => readWhole(text, 0, 100_000),
  },
  crawlAdmin: {
    name: 'DOMAINDEX_CRAWL_ADMIN',
    fallback: '127.0.0.1:9091',
    meaning:
      'Where the admin listener (metrics, readiness) of a crawl that goes on and on listens. It asks for no token: keep it off the internet.',
    may: 'HOST:PORT, [IPV6]:PORT, or off',
    read: (text) => (text === 'off' ? null : readListener(text)),
  },
}

const MOST_SHARE = 1_000

function readShares(text: string): Shares | undefined {
  const parts = text.split(',').map((part) => part.trim().split('='))
  const shares = new Map(parts.map(([kind, share = '']) => [kind as Kind, readWhole(share, 0, MOST_SHARE)]))
  const isWhole = parts.length === KINDS.length && KINDS.every((kind) => shares.get(kind) !== undefined)
  const some = [...shares.values()].some((share) => share !== 0)
  return isWhole && some ? (Object.fromEntries(shares) as Shares) : undefined
}
