/** The made-up world of the demo: a few hundred domains over a year and a half, the same at every start. */

import type { Observation } from '../../observe/observation.ts'
import { parseObservation } from '../../observe/parse.ts'

/** The domain that has something of everything, and the one that many redirect to. */
export const SHOWN = 'harbor-bakery.example'

const TRADES = [
  'bakery',
  'books',
  'cafe',
  'ceramics',
  'cycles',
  'florist',
  'garden',
  'guitars',
  'hotel',
  'kitchen',
  'library',
  'museum',
  'optics',
  'records',
  'studio',
  'tailor',
  'travel',
  'watches',
]
const PLACES = [
  'harbor',
  'amber',
  'bridge',
  'cedar',
  'delta',
  'elm',
  'forest',
  'granite',
  'hill',
  'island',
  'juniper',
  'lake',
  'meadow',
  'north',
  'ocean',
  'pine',
  'river',
  'stone',
]
const VISITS = ['2025-02-11T04:20:00Z', '2025-07-03T04:25:00Z', '2025-12-19T04:30:00Z', '2026-05-08T04:35:00Z']
const NETWORKS = [
  ['facebook', 'facebook_page', 'https://www.facebook.com/'],
  ['instagram', 'instagram', 'https://www.instagram.com/'],
  ['x', 'x', 'https://x.com/'],
  ['linkedin', 'linkedin_company', 'https://www.linkedin.com/company/'],
  ['youtube', 'youtube', 'https://www.youtube.com/@'],
] as const

/** Every visit of every domain, in the order of time. */
export function makeWorld(): Observation[] {
  const names = PLACES.flatMap((place) => TRADES.map((trade) => ({ place, trade })))
  return VISITS.flatMap((_, visit) => names.map((name, index) => made(observe(name, index, visit))))
}

/** What is made here fits the format of observation files, and comes in by the same door. */
function made(given: object): Observation {
  const observation = parseObservation(JSON.stringify(given))
  if (typeof observation === 'string') throw new Error(observation)
  return observation
}

type Made = { place: string; trade: string }

function observe({ place, trade }: Made, index: number, visit: number): object {
  const domain = `${place}-${trade}.example`
  const status = index % 37 === 36 && visit === 3 ? 'nxdomain' : index % 41 === 40 && visit === 3 ? 'servfail' : 'ok'
  const dns = status === 'ok' ? { status, ...records(domain, index, visit) } : { status }
  return {
    domain,
    observed_at: VISITS[visit],
    dns,
    ...(status === 'ok' && { web: website(place, trade, index, visit) }),
  }
}

/** Moves to another host at some visit, so that most have a history. */
function hostOf(index: number, visit: number): number {
  return (index * 7 + (index % 4 < visit ? 5 : 0)) % 12
}

function records(domain: string, index: number, visit: number): object {
  const host = hostOf(index, visit)
  const provider = `host-${'abc'[host % 3]}.example`
  const mail = index % 3 === 0 ? domain : 'post-service.example'
  const isAlias = visit === 0 && index % 9 === 0
  const hasNoAddress = index % 29 === 28
  return {
    A: hasNoAddress || index % 23 === 22 ? [] : addresses(index, host),
    AAAA: hasNoAddress || index % 5 === 4 ? [] : [`2001:db8:${host}::${index % 2 === 0 ? 10 : index + 100}`],
    NS: [`ns1.${provider}`, `ns2.${provider}`],
    CNAME: isAlias ? [`sites.${provider}`] : [],
    MX: [
      { priority: 10, mail_server: `mx1.${mail}` },
      { priority: 20 + visit, mail_server: `mx2.${mail}` },
    ],
    TXT: [[`v=spf1 include:${mail} -all`], ...(visit > 1 ? [[`verification=${index * 7919 + visit}`]] : [])],
    SOA: [
      {
        primary_nameserver: `ns1.${provider}`,
        admin_email: `hostmaster@${provider}`,
        serial: Number(VISITS[visit]!.slice(0, 10).replaceAll('-', '')) * 100 + (index % 100),
        refresh_seconds: 7200,
        retry_seconds: 3600,
        expire_seconds: 1_209_600,
        minimum_ttl_seconds: 300,
      },
    ],
  }
}

/** Most share a host's address, some have one of their own, a few have both. */
function addresses(index: number, host: number): string[] {
  const shared = `192.0.2.${10 + host}`
  const own = `198.51.100.${1 + (index % 254)}`
  return index % 6 === 5 ? [own] : index % 11 === 0 ? [shared, own] : [shared]
}

function website(place: string, trade: string, index: number, visit: number): object {
  const redirects_to = place !== 'harbor' && index % 8 === 3 && visit > 0 ? `www.harbor-${trade}.example` : null
  const goes = place !== 'harbor' && trade === 'bakery' && visit > 1 ? SHOWN : redirects_to
  return {
    has_website: index % 17 !== 16,
    redirect_to_https: index % 7 !== 6,
    redirect_to_www: index % 4 === 1,
    only_with_www: index % 31 === 30,
    redirects_to: goes,
    ssl: index % 13 === 12 ? 'invalid' : index % 7 === 6 ? 'nocert' : 'valid',
    social_accounts: NETWORKS.slice(0, (index * 5) % 4 === 0 ? 1 + (index % 5) : 0).map(([network, type, start]) => ({
      network,
      type,
      username: `${place}${trade}`,
      url: `${start}${place}${trade}`,
    })),
    text: `${place} ${trade}: opening hours, directions and news of our ${trade} at the ${place}. Visit ${visit + 1}.`,
  }
}
