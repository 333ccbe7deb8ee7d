/**
 * A synthetic world of domains: the observation of each domain in each round, from a seed. The same seed gives the same
 * bytes.
 */

import type { DnsStatus, SocialAccount } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Ssl } from '../../src/values/web-verdict.ts'
import { hostLabelOf, startPageTextOf } from './language.ts'
import { mixBits, type RandomSource, randomChoice, randomInt, randomSkewed, seededRandom } from './random.ts'

/** `names`: the number of domains. `text`: whether start pages have about 2 KB of text. */
export type World = { seed: number; names: number; text: boolean }

/**
 * One probe of the whole world. `at`: Unix seconds of its start. It ends within `WEEK`.
 * `changedShare`: the share of domains that have moved to other addresses. Each `generation` draws them anew.
 */
export type ProbeRound = { at: number; generation: number; changedShare: number }

/** An observation as in a line of an observation file. */
export type ObservationLine = { domain: DomainName; observed_at: string; dns: DnsFields; web?: WebFields }
type DnsFields = { status: DnsStatus; A?: string[]; AAAA?: string[] } & Record<string, unknown>
type WebFields = {
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  only_with_www: boolean
  redirects_to: string | null
  ssl: Ssl
  social_accounts: SocialAccount[]
  text?: string
}

const WEEK = 604_800
/** The share of domains on the hot address, and of redirecting domains that lead to the hot target. */
const HOT_SHARE = 0.066
export const HOT_ADDRESS = '198.18.0.1'
export const HOT_TARGET = 'namebazaar.com'

const SUFFIXES = [
  'com',
  'com',
  'com',
  'com',
  'com',
  'net',
  'org',
  'de',
  'de',
  'co.uk',
  'info',
  'fr',
  'nl',
  'xyz',
  'shop',
]
const NETWORKS = ['facebook', 'instagram', 'x', 'linkedin', 'youtube', 'tiktok', 'pinterest'] as const
const SALT = { name: 1, facts: 2, move: 3, moved: 4, text: 5, time: 6 }

/** Returns the first round. */
export function firstProbeRound(): ProbeRound {
  return { at: Date.UTC(2026, 0, 1) / 1000, generation: 0, changedShare: 0 }
}

/** Returns the round one week later, in which nothing changed. */
export function nextProbeRound(round: ProbeRound): ProbeRound {
  return { ...round, at: round.at + WEEK }
}

/** Returns the name of the domain at an index. All names are distinct. */
export function domainNameAt({ seed }: World, index: number): DomainName {
  const random = seededRandom(seed, index, SALT.name)
  return `${hostLabelOf(mixBits(index), random)}.${randomChoice(random, SUFFIXES)}` as DomainName
}

/** Returns the observation of the domain at an index. */
export function observationAt(world: World, index: number, round: ProbeRound): ObservationLine {
  const random = seededRandom(world.seed, index, SALT.facts)
  const domain = domainNameAt(world, index)
  const probedAt = round.at + randomInt(seededRandom(world.seed, index, SALT.time), WEEK)
  const observed_at = new Date(probedAt * 1000).toISOString().replace('.000', '')
  const outcome = random()
  if (outcome < 0.03) return { domain, observed_at, dns: { status: 'nxdomain' } }
  if (outcome < 0.04) return { domain, observed_at, dns: { status: 'servfail' } }
  const hasMoved = seededRandom(world.seed, index, SALT.move + 16 * round.generation)() < round.changedShare
  const addressRandom = hasMoved ? seededRandom(world.seed, index, SALT.moved + 16 * round.generation) : random
  const addresses = addressesOf(addressRandom, world.names)
  const dns = {
    status: 'ok' as const,
    ...addresses,
    ...otherRecordsOf(seededRandom(world.seed, index, SALT.facts + 16), domain),
  }
  return { domain, observed_at, dns, web: webOf(world, index, domain) }
}

/** Returns the observation as a line of a file, without the line feed. */
export function observationLineAt(world: World, index: number, round: ProbeRound): string {
  return JSON.stringify(observationAt(world, index, round))
}

/**
 * One domain in 15 is on the hot address. Half of the others share servers with a probability of 1/n, and the rest have
 * servers with few names.
 */
function addressesOf(random: RandomSource, names: number): { A: string[]; AAAA: string[] } {
  const popularity = random()
  const ranks: number[] = []
  if (popularity < HOT_SHARE) ranks.push(-1)
  else {
    const isShared = popularity < 0.55
    const servers = Math.max(8, Math.floor(isShared ? names / 20 : names / 2))
    const count = random() < 0.25 ? 2 : 1
    const first = isShared ? randomSkewed(random, servers) : servers + randomInt(random, servers)
    for (let at = 0; at < count; at++) ranks.push(first + at)
  }
  const v4 = ranks.map((rank) => (rank < 0 ? HOT_ADDRESS : ipv4Of(rank)))
  const v6 = random() < 0.5 ? ranks.map(ipv6Of) : []
  return { A: v4, AAAA: v6 }
}

function ipv6Of(rank: number): string {
  return `2001:db8:${(mixBits(rank) & 0xffff).toString(16)}::${((rank + 1) >>> 16).toString(16)}:${((rank + 1) & 0xffff).toString(16)}`
}

/**
 * Returns the IPv4 address of the server with a rank, from 20.0.0.0 to 83.255.255.255. Ranks below 2^26 have distinct
 * addresses.
 */
function ipv4Of(rank: number): string {
  const value = 0x14000000 + (Math.imul(rank, 0x9e3779b1) & 0x3ffffff)
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
}

/** The other five record types. */
function otherRecordsOf(random: RandomSource, domain: DomainName): Record<string, unknown> {
  const hostingCompany = `${hostLabelOf(mixBits(randomSkewed(random, 3000)), () => 0)}.net`
  const NS = Array.from({ length: 2 + randomInt(random, 3) }, (_, at) => `ns${at + 1}.${hostingCompany}`)
  const servers = random() < 0.2 ? 0 : 1 + randomInt(random, 2)
  const MX = Array.from({ length: servers }, (_, at) => ({
    priority: 10 * (at + 1),
    mail_server: `mx${at + 1}.${hostingCompany}`,
  }))
  const TXT = random() < 0.7 ? [[`v=spf1 include:_spf.${hostingCompany} -all`]] : []
  if (random() < 0.3)
    TXT.push([
      `site-verification=${mixBits(randomInt(random, 2 ** 32)).toString(36)}${mixBits(TXT.length).toString(36)}`,
    ])
  const SOA = [
    {
      primary_nameserver: NS[0],
      admin_email: `hostmaster@${random() < 0.7 ? hostingCompany : domain}`,
      serial: 2_026_010_100 + randomInt(random, 100),
      refresh_seconds: 7200,
      retry_seconds: 3600,
      expire_seconds: 1_209_600,
      minimum_ttl_seconds: 3600,
    },
  ]
  return { NS, CNAME: random() < 0.02 ? [`edge.${hostingCompany}`] : [], MX, TXT, SOA }
}

function webOf(world: World, index: number, domain: DomainName): WebFields {
  const random = seededRandom(world.seed, index, SALT.facts + 32)
  const redirects_to = targetOf(random, world)
  const has_website = redirects_to === null && random() < 0.8
  const redirect_to_www = random() < 0.3
  const web: WebFields = {
    has_website,
    redirect_to_https: random() < 0.75,
    redirect_to_www,
    only_with_www: !redirect_to_www && random() < 0.02,
    redirects_to,
    ssl: random() < 0.8 ? 'valid' : randomChoice(random, ['nocert', 'invalid']),
    social_accounts: has_website && random() < 0.3 ? accountsOf(random, domain) : [],
  }
  if (world.text && has_website) web.text = startPageTextOf(seededRandom(world.seed, index, SALT.text))
  return web
}

/** Returns another domain of the world, most often the hot target, or null. */
function targetOf(random: RandomSource, world: World): string | null {
  const chance = random()
  if (chance < HOT_SHARE) return HOT_TARGET
  return chance < 0.13 ? domainNameAt(world, randomSkewed(random, world.names)) : null
}

function accountsOf(random: RandomSource, domain: DomainName): SocialAccount[] {
  const username = domain.split('.', 1)[0]!
  const from = randomInt(random, NETWORKS.length)
  return Array.from({ length: 1 + randomInt(random, 4) }, (_, at) => {
    const network = NETWORKS[(from + at) % NETWORKS.length]!
    const type = network === 'facebook' ? 'facebook_page' : network === 'linkedin' ? 'linkedin_company' : network
    return { network, type, username, url: `https://${network}.com/${username}` }
  })
}
