/** The social account that an address stands for, by the rules of its network. */

import type { SocialAccount } from '../observation.ts'
import type { AccountRule, SocialNetwork } from './account-rules.ts'
import { CREATOR_NETWORKS } from './creator-networks.ts'
import { fediverseAccount, isFediverseHost } from './fediverse.ts'
import { LARGE_NETWORKS } from './large-networks.ts'
import { OTHER_NETWORKS } from './other-networks.ts'

const NETWORK_BY_HOST = new Map(
  [...LARGE_NETWORKS, ...OTHER_NETWORKS, ...CREATOR_NETWORKS].flatMap((network) =>
    network.hosts.map((host) => [host, network] as const),
  ),
)

/** What stands before a network's host without changing what it means: a device or a language. */
const HOST_PREFIX = /^(?:www|m|i|mobile|web|touch|mbasic|old|new|np|go|[a-z]{2}(?:-[a-z]{2,3})?)\.(.+)$/

/** An address of a network whose scheme was forgotten; a browser would take it for a path of the site itself. */
const WITHOUT_SCHEME = /^(?:\/\/)?((?:[a-z-]{1,7}\.)?[a-z]+\.[a-z.]{2,6})\//i

/** Addresses that only lead on, by host and path, and the parameter that says where to. */
const REDIRECTORS = new Map([
  ['l.facebook.com/l.php', 'u'],
  ['lm.facebook.com/l.php', 'u'],
  ['l.instagram.com/', 'u'],
  ['vk.com/away.php', 'to'],
  ['www.google.com/url', 'q'],
  ['www.youtube.com/redirect', 'q'],
])

const MAX_URL_UNITS = 2048

/**
 * Hosts under a network that are no language of it: short addresses, of which only the network knows where they lead.
 */
const SHORTENERS = new Set(['on.soundcloud.com', 'vm.tiktok.com', 'vt.tiktok.com'])

/** Steps in a path, and no username anywhere. */
const DOTS_ONLY = /^\.+$/

/**
 * `isOwn`: the page says by rel=me that the address is its own, which on a host of no known network means the
 * fediverse.
 */
export function socialAccountAt(target: string, base: string, isOwn = false): SocialAccount | null {
  const url = target.length > MAX_URL_UNITS ? null : parseTargetUrl(target, base)
  if (url === null) return null
  const host = url.hostname.replace(/\.$/, '')
  const found = networkOf(host)
  if (found === null) return isOwn || isFediverseHost(host) ? fediverseAccount(host, decodedPath(url), isOwn) : null
  const { network, below } = found
  const path = decodedPath(url)
  if (below !== null) {
    const isStart = path === '' || network.tabs?.test(path) === true
    return isStart && network.below !== undefined ? accountByRule(network, network.below, below, url) : null
  }
  return accountByRules(network, path, url) ?? accountByRules(network, pathWithoutTab(network, path), url)
}

/** The address meant; through one address that leads on, and out of one that was written into another's path. */
function parseTargetUrl(target: string, base: string): URL | null {
  const given = target.trim()
  const [, host] = WITHOUT_SCHEME.exec(given) ?? []
  const isNetwork = host !== undefined && networkOf(host.toLowerCase())?.below === null
  const url = parseWebUrl(isNetwork ? `https://${given.replace(/^\/\//, '')}` : given, base)
  const parameter = url === null ? undefined : REDIRECTORS.get(url.hostname + url.pathname)
  const onward = parameter === undefined ? null : (url?.searchParams.get(parameter) ?? null)
  const inner = onward ?? /^\/+(https?:\/.*)$/i.exec(url?.pathname ?? '')?.[1] ?? null
  return inner === null ? url : parseWebUrl(inner)
}

/** An address of the web, or a messenger's own scheme as the address of the web that says the same. */
function parseWebUrl(target: string, base?: string): URL | null {
  const url = URL.parse(target, base)
  if (url === null) return null
  if (url.protocol === 'whatsapp:') return URL.parse(`https://wa.me/send${url.search}`)
  if (url.protocol === 'tg:' && url.hostname === 'resolve') {
    return URL.parse(`https://t.me/${url.searchParams.get('domain') ?? ''}`)
  }
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null
}

/** The network of a host, and the label before it where the network has accounts below its host. */
function networkOf(host: string): { network: SocialNetwork; below: string | null } | null {
  if (SHORTENERS.has(host)) return null
  const plain = NETWORK_BY_HOST.get(host)
  if (plain !== undefined) return { network: plain, below: null }
  const prefixed = NETWORK_BY_HOST.get(HOST_PREFIX.exec(host)?.[1] ?? '')
  if (prefixed !== undefined) return { network: prefixed, below: null }
  const dot = host.indexOf('.')
  const parent = NETWORK_BY_HOST.get(host.slice(dot + 1))
  return parent?.below === undefined ? null : { network: parent, below: host.slice(0, dot) }
}

/** Decoded, without slashes at its ends or doubled, and out of the fragment where the address is of the `#!` kind. */
function decodedPath(url: URL): string {
  const raw =
    url.hash.startsWith('#!/') && url.pathname === '/' ? url.hash.slice(2).replace(/[?#].*$/s, '') : url.pathname
  const parts = decodePath(raw).split('/')
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('/')
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function pathWithoutTab({ tabs }: SocialNetwork, path: string): string {
  const slash = path.lastIndexOf('/')
  return slash > 0 && tabs?.test(path.slice(slash + 1)) ? path.slice(0, slash) : ''
}

function accountByRules(network: SocialNetwork, path: string, url: URL): SocialAccount | null {
  if (path === '') return null
  for (const rule of network.rules) {
    const account = accountByRule(network, rule, path, url)
    if (account !== null) return account
  }
  return null
}

function accountByRule(network: SocialNetwork, rule: AccountRule, path: string, url: URL): SocialAccount | null {
  const found = rule.path.exec(path)
  if (found === null) return null
  const given = rule.parameter === undefined ? found[1] : url.searchParams.get(rule.parameter)
  const username = rule.phone ? given?.replace(/\D/g, '') : given
  if (!username || DOTS_ONLY.test(username) || !(rule.username ?? network.username).test(username)) return null
  if (network.reserved.has(username.toLowerCase())) return null
  return { network: network.network, type: rule.type, username, url: canonicalAccountUrl(rule, username, path) }
}

/** Two spellings of one account give one address. */
function canonicalAccountUrl(rule: AccountRule, username: string, path: string): string {
  const one = (text: string): string =>
    encodeURI(rule.exact ? text : text.toLowerCase()).replace(/[#?]/g, encodeURIComponent)
  return rule.url.replace(/[*~]/, (mark) => one(mark === '*' ? username : path))
}
