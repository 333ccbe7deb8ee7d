/** A made-up world of domains: what a visit of each would see, from a seed. The same seed gives the same bytes. */

import type { DnsStatus, SocialAccount, Ssl } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { hostOf, textOf } from './language.ts'
import { below, crowded, type Dice, diceOf, mix, oneOf } from './random.ts'

/** `names`: how many domains there are. `text`: whether start pages come with about 2 KB of it. */
export type World = { seed: number; names: number; text: boolean }

/**
 * One visit of the whole world. `at`: Unix seconds of its beginning; it ends within `WEEK`.
 * `changed`: the share of domains that have moved to other addresses since the world began, drawn anew by `generation`.
 */
export type Round = { at: number; generation: number; changed: number }

/** An observation as a line of a file holds it. */
export type Seen = { domain: DomainName; observed_at: string; dns: SeenDns; web?: SeenWeb }
type SeenDns = { status: DnsStatus; A?: string[]; AAAA?: string[] } & Record<string, unknown>
type SeenWeb = {
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
/** The share of domains on the one address, and of those that redirect to the one target, that most others share. */
const HOT = 0.066
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

/** The first visit of all. */
export function firstRound(): Round {
  return { at: Date.UTC(2026, 0, 1) / 1000, generation: 0, changed: 0 }
}

/** The visit a week after another, which sees the same. */
export function nextRound(round: Round): Round {
  return { ...round, at: round.at + WEEK }
}

/** The name of the domain at a place; no two places have the same. */
export function nameOf({ seed }: World, index: number): DomainName {
  const dice = diceOf(seed, index, SALT.name)
  return `${hostOf(mix(index), dice)}.${oneOf(dice, SUFFIXES)}` as DomainName
}

/** What a visit sees of the domain at a place. */
export function seenOf(world: World, index: number, round: Round): Seen {
  const dice = diceOf(world.seed, index, SALT.facts)
  const domain = nameOf(world, index)
  const seconds = round.at + below(diceOf(world.seed, index, SALT.time), WEEK)
  const observed_at = new Date(seconds * 1000).toISOString().replace('.000', '')
  const fate = dice()
  if (fate < 0.03) return { domain, observed_at, dns: { status: 'nxdomain' } }
  if (fate < 0.04) return { domain, observed_at, dns: { status: 'servfail' } }
  const hasMoved = diceOf(world.seed, index, SALT.move + 16 * round.generation)() < round.changed
  const places = hasMoved ? diceOf(world.seed, index, SALT.moved + 16 * round.generation) : dice
  const addresses = addressesOf(places, world.names)
  const dns = { status: 'ok' as const, ...addresses, ...restOf(diceOf(world.seed, index, SALT.facts + 16), domain) }
  return { domain, observed_at, dns, web: webOf(world, index, domain) }
}

/** The same as a line of a file, without its end. */
export function lineOf(world: World, index: number, round: Round): string {
  return JSON.stringify(seenOf(world, index, round))
}

/** One address in 15 for all; for half of the rest a crowd, shared as 1/n; for the others a server of few. */
function addressesOf(dice: Dice, names: number): { A: string[]; AAAA: string[] } {
  const crowd = dice()
  const ranks: number[] = []
  if (crowd < HOT) ranks.push(-1)
  else {
    const isCrowd = crowd < 0.55
    const servers = Math.max(8, Math.floor(isCrowd ? names / 20 : names / 2))
    const count = dice() < 0.25 ? 2 : 1
    const first = isCrowd ? crowded(dice, servers) : servers + below(dice, servers)
    for (let at = 0; at < count; at++) ranks.push(first + at)
  }
  const v4 = ranks.map((rank) => (rank < 0 ? HOT_ADDRESS : quadOf(rank)))
  const v6 = dice() < 0.5 ? ranks.map(groupsOf) : []
  return { A: v4, AAAA: v6 }
}

function groupsOf(rank: number): string {
  return `2001:db8:${(mix(rank) & 0xffff).toString(16)}::${((rank + 1) >>> 16).toString(16)}:${((rank + 1) & 0xffff).toString(16)}`
}

/** The address of the server of a rank: somewhere in 20.0.0.0 to 83.255.255.255, no two ranks below 2^26 alike. */
function quadOf(rank: number): string {
  const value = 0x14000000 + (Math.imul(rank, 0x9e3779b1) & 0x3ffffff)
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
}

/** The other five record types. */
function restOf(dice: Dice, domain: DomainName): Record<string, unknown> {
  const hoster = `${hostOf(mix(crowded(dice, 3000)), () => 0)}.net`
  const NS = Array.from({ length: 2 + below(dice, 3) }, (_, at) => `ns${at + 1}.${hoster}`)
  const servers = dice() < 0.2 ? 0 : 1 + below(dice, 2)
  const MX = Array.from({ length: servers }, (_, at) => ({
    priority: 10 * (at + 1),
    mail_server: `mx${at + 1}.${hoster}`,
  }))
  const TXT = dice() < 0.7 ? [[`v=spf1 include:_spf.${hoster} -all`]] : []
  if (dice() < 0.3)
    TXT.push([`site-verification=${mix(below(dice, 2 ** 32)).toString(36)}${mix(TXT.length).toString(36)}`])
  const SOA = [
    {
      primary_nameserver: NS[0],
      admin_email: `hostmaster@${dice() < 0.7 ? hoster : domain}`,
      serial: 2_026_010_100 + below(dice, 100),
      refresh_seconds: 7200,
      retry_seconds: 3600,
      expire_seconds: 1_209_600,
      minimum_ttl_seconds: 3600,
    },
  ]
  return { NS, CNAME: dice() < 0.02 ? [`edge.${hoster}`] : [], MX, TXT, SOA }
}

function webOf(world: World, index: number, domain: DomainName): SeenWeb {
  const dice = diceOf(world.seed, index, SALT.facts + 32)
  const redirects_to = targetOf(dice, world)
  const has_website = redirects_to === null && dice() < 0.8
  const redirect_to_www = dice() < 0.3
  const web: SeenWeb = {
    has_website,
    redirect_to_https: dice() < 0.75,
    redirect_to_www,
    only_with_www: !redirect_to_www && dice() < 0.02,
    redirects_to,
    ssl: dice() < 0.8 ? 'valid' : oneOf(dice, ['nocert', 'invalid']),
    social_accounts: has_website && dice() < 0.3 ? accountsOf(dice, domain) : [],
  }
  if (world.text && has_website) web.text = textOf(diceOf(world.seed, index, SALT.text))
  return web
}

/** Another domain of the world, the hot one above all, or null. */
function targetOf(dice: Dice, world: World): string | null {
  const chance = dice()
  if (chance < HOT) return HOT_TARGET
  return chance < 0.13 ? nameOf(world, crowded(dice, world.names)) : null
}

function accountsOf(dice: Dice, domain: DomainName): SocialAccount[] {
  const username = domain.split('.', 1)[0]!
  const from = below(dice, NETWORKS.length)
  return Array.from({ length: 1 + below(dice, 4) }, (_, at) => {
    const network = NETWORKS[(from + at) % NETWORKS.length]!
    const type = network === 'facebook' ? 'facebook_page' : network === 'linkedin' ? 'linkedin_company' : network
    return { network, type, username, url: `https://${network}.com/${username}` }
  })
}
