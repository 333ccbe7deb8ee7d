/** The social account that an address stands for, by the rules of its network. */

import type { SocialAccount } from './observation.ts'
import { CREATORS_NETWORKS } from './social-creators.ts'
import { fediverseAccount, isFediverse } from './social-fediverse.ts'
import { LARGE_NETWORKS } from './social-networks.ts'
import { OTHER_NETWORKS } from './social-others.ts'
import type { Network, Rule } from './social-rules.ts'

const BY_HOST = new Map(
  [...LARGE_NETWORKS, ...OTHER_NETWORKS, ...CREATORS_NETWORKS].flatMap((network) =>
    network.hosts.map((host) => [host, network] as const),
  ),
)

/** What stands before a network's host without changing what it means: a device or a language. */
const PREFIX = /^(?:www|m|i|mobile|web|touch|mbasic|old|new|np|go|[a-z]{2}(?:-[a-z]{2,3})?)\.(.+)$/

/** An address of a network whose scheme was forgotten; a browser would take it for a path of the site itself. */
const WITHOUT_SCHEME = /^(?:\/\/)?((?:[a-z-]{1,7}\.)?[a-z]+\.[a-z.]{2,6})\//i

/** Addresses that only lead on, by host and path, and the parameter that says where to. */
const LEADS_ON = new Map([
  ['l.facebook.com/l.php', 'u'],
  ['lm.facebook.com/l.php', 'u'],
  ['l.instagram.com/', 'u'],
  ['vk.com/away.php', 'to'],
  ['www.google.com/url', 'q'],
  ['www.youtube.com/redirect', 'q'],
])

const MOST_UNITS = 2048

/** Hosts under a network that are no language of it: short addresses, of which only the network knows where they lead. */
const SHORTENERS = new Set(['on.soundcloud.com', 'vm.tiktok.com', 'vt.tiktok.com'])

/** Steps in a path, and no username anywhere. */
const DOTS = /^\.+$/

/** `isOwn`: the page says by rel=me that the address is its own, which on a host of no known network means the fediverse. */
export function accountAt(target: string, base: string, isOwn = false): SocialAccount | null {
  const url = target.length > MOST_UNITS ? null : readUrl(target, base)
  if (url === null) return null
  const host = url.hostname.replace(/\.$/, '')
  const found = networkOf(host)
  if (found === null) return isOwn || isFediverse(host) ? fediverseAccount(host, pathOf(url), isOwn) : null
  const { network, below } = found
  const path = pathOf(url)
  if (below !== null) {
    const isStart = path === '' || network.tabs?.test(path) === true
    return isStart && network.below !== undefined ? match(network, network.below, below, url) : null
  }
  return byRules(network, path, url) ?? byRules(network, withoutTab(network, path), url)
}

/** The address meant; through one address that leads on, and out of one that was written into another's path. */
function readUrl(target: string, base: string): URL | null {
  const given = target.trim()
  const [, host] = WITHOUT_SCHEME.exec(given) ?? []
  const isNetwork = host !== undefined && networkOf(host.toLowerCase())?.below === null
  const url = parseUrl(isNetwork ? `https://${given.replace(/^\/\//, '')}` : given, base)
  const parameter = url === null ? undefined : LEADS_ON.get(url.hostname + url.pathname)
  const onward = parameter === undefined ? null : (url?.searchParams.get(parameter) ?? null)
  const inner = onward ?? /^\/+(https?:\/.*)$/i.exec(url?.pathname ?? '')?.[1] ?? null
  return inner === null ? url : parseUrl(inner)
}

/** An address of the web, or a messenger's own scheme as the address of the web that says the same. */
function parseUrl(target: string, base?: string): URL | null {
  const url = URL.parse(target, base)
  if (url === null) return null
  if (url.protocol === 'whatsapp:') return URL.parse(`https://wa.me/send${url.search}`)
  if (url.protocol === 'tg:' && url.hostname === 'resolve') {
    return URL.parse(`https://t.me/${url.searchParams.get('domain') ?? ''}`)
  }
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null
}

/** The network of a host, and the label before it where the network has accounts below its host. */
function networkOf(host: string): { network: Network; below: string | null } | null {
  if (SHORTENERS.has(host)) return null
  const plain = BY_HOST.get(host)
  if (plain !== undefined) return { network: plain, below: null }
  const prefixed = BY_HOST.get(PREFIX.exec(host)?.[1] ?? '')
  if (prefixed !== undefined) return { network: prefixed, below: null }
  const dot = host.indexOf('.')
  const parent = BY_HOST.get(host.slice(dot + 1))
  return parent?.below === undefined ? null : { network: parent, below: host.slice(0, dot) }
}

/** Decoded, without slashes at its ends or doubled, and out of the fragment where the address is of the `#!` kind. */
function pathOf(url: URL): string {
  const raw =
    url.hash.startsWith('#!/') && url.pathname === '/' ? url.hash.slice(2).replace(/[?#].*$/s, '') : url.pathname
  const parts = decode(raw).split('/')
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('/')
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function withoutTab({ tabs }: Network, path: string): string {
  const slash = path.lastIndexOf('/')
  return slash > 0 && tabs?.test(path.slice(slash + 1)) ? path.slice(0, slash) : ''
}

function byRules(network: Network, path: string, url: URL): SocialAccount | null {
  if (path === '') return null
  for (const rule of network.rules) {
    const account = match(network, rule, path, url)
    if (account !== null) return account
  }
  return null
}

function match(network: Network, rule: Rule, path: string, url: URL): SocialAccount | null {
  const found = rule.path.exec(path)
  if (found === null) return null
  const given = rule.parameter === undefined ? found[1] : url.searchParams.get(rule.parameter)
  const username = rule.phone ? given?.replace(/\D/g, '') : given
  if (!username || DOTS.test(username) || !(rule.username ?? network.username).test(username)) return null
  if (network.reserved.has(username.toLowerCase())) return null
  return { network: network.network, type: rule.type, username, url: canonical(rule, username, path) }
}

/** Two spellings of one account give one address. */
function canonical(rule: Rule, username: string, path: string): string {
  const one = (text: string): string =>
    encodeURI(rule.exact ? text : text.toLowerCase()).replace(/[#?]/g, encodeURIComponent)
  return rule.url.replace(/[*~]/, (mark) => one(mark === '*' ? username : path))
}
