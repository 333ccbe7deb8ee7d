/** Finds the social account that a URL stands for, by the rules of its network. */

import type { SocialAccount } from '../observation.ts'
import { type AccountRule, type SocialNetwork, wordSet } from './account-rules.ts'
import { CREATOR_NETWORKS } from './creator-networks.ts'
import { LARGE_NETWORKS } from './large-networks.ts'
import { OTHER_NETWORKS } from './other-networks.ts'

/** Large servers whose names do not show that they run Mastodon. */
const KNOWN_FEDIVERSE_SERVERS = wordSet(
  'fosstodon.org hachyderm.io infosec.exchange chaos.social mas.to techhub.social mamot.fr norden.social ' +
    'social.tchncs.de universeodon.com toot.community toot.cafe ohai.social indieweb.social c.im aus.social ' +
    'piaille.fr ruhr.social troet.cafe climatejustice.social journa.host newsie.social sfba.social ' +
    'kolektiva.social mathstodon.xyz octodon.social scholar.social ioc.exchange phpc.social floss.social ' +
    'social.coop social.vivaldi.net det.social bonn.social pawoo.net wandering.shop home.social ' +
    'front-end.social astrodon.social eupolicy.social tooot.im disabled.social social.bund.de ' +
    'social.network.europa.eu bildung.social literatur.social openbiblio.social ruby.social mindly.social ' +
    'hostux.social masto.ai nrw.social muenchen.social graz.social dju.social swiss.social tkz.one ' +
    'vivaldi.net',
)
const FEDIVERSE_HOST_NAME =
  /(?:^|[.-])(?:mastodon|mstdn|masto|mast|pixelfed|misskey|pleroma|akkoma|firefish|sharkey)[^.]*\./

/** `@name`, `@name@server` for an account on another server, and the older forms of both. */
const ACCOUNT_PATH =
  /^(?:(?:web|deck)\/)?(?:@|users\/)([a-z\d_][\w.-]{0,62})(?:@([a-z\d-]+(?:\.[a-z\d-]+)+))?(?:\/(?:featured|followers|following|media|with_replies))?$/i

const NETWORK_BY_HOST = new Map(
  [...LARGE_NETWORKS, ...OTHER_NETWORKS, ...CREATOR_NETWORKS].flatMap((network) =>
    network.hosts.map((host) => [host, network] as const),
  ),
)

/** A prefix of a network's host that does not change the account: a device or a language. */
const HOST_PREFIX = /^(?:www|m|i|mobile|web|touch|mbasic|old|new|np|go|[a-z]{2}(?:-[a-z]{2,3})?)\.(.+)$/

/** A network URL without a scheme. A browser would resolve it as a path of the site itself. */
const WITHOUT_SCHEME = /^(?:\/\/)?((?:[a-z-]{1,7}\.)?[a-z]+\.[a-z.]{2,6})\//i

/** URLs that only redirect, by host and path, and the parameter that holds the target. */
const REDIRECTORS = new Map([
  ['l.facebook.com/l.php', 'u'],
  ['lm.facebook.com/l.php', 'u'],
  ['l.instagram.com/', 'u'],
  ['vk.com/away.php', 'to'],
  ['www.google.com/url', 'q'],
  ['www.youtube.com/redirect', 'q'],
])

const MAX_URL_UNITS = 2048

/** Hosts of short links below a network. They match HOST_PREFIX, but only the network knows their targets. */
const SHORTENERS = new Set(['on.soundcloud.com', 'vm.tiktok.com', 'vt.tiktok.com'])

/** Relative path segments, which are never a username. */
const DOTS_ONLY = /^\.+$/

/** `isOwn`: the page marks the link with rel=me. On a host of no known network, this means the fediverse. */
export function socialAccountAt(target: string, base: string, isOwn = false): SocialAccount | null {
  const url = target.length > MAX_URL_UNITS ? null : parseTargetUrl(target, base)
  if (url === null) return null
  const host = url.hostname.replace(/\.$/, '')
  const networkAtHost = networkOf(host)
  if (networkAtHost === null)
    return isOwn || isFediverseHost(host) ? fediverseAccount(host, decodedPath(url), isOwn) : null
  const { network, below } = networkAtHost
  const path = decodedPath(url)
  if (below !== null) {
    const isStart = path === '' || network.tabs?.test(path) === true
    return isStart && network.below !== undefined ? accountByRule(network, network.below, below, url) : null
  }
  return accountByRules(network, path, url) ?? accountByRules(network, pathWithoutTab(network, path), url)
}

/** Resolves the target URL: follows one redirector, and extracts a URL from the path of another one. */
function parseTargetUrl(target: string, base: string): URL | null {
  const text = target.trim()
  const [, host] = WITHOUT_SCHEME.exec(text) ?? []
  const isNetwork = host !== undefined && networkOf(host.toLowerCase())?.below === null
  const url = parseWebUrl(isNetwork ? `https://${text.replace(/^\/\//, '')}` : text, base)
  const parameter = url === null ? undefined : REDIRECTORS.get(url.hostname + url.pathname)
  const onward = parameter === undefined ? null : (url?.searchParams.get(parameter) ?? null)
  const inner = onward ?? /^\/+(https?:\/.*)$/i.exec(url?.pathname ?? '')?.[1] ?? null
  return inner === null ? url : parseWebUrl(inner)
}

/** Parses a web URL. The scheme of a messenger becomes the web URL of the same account. */
function parseWebUrl(target: string, base?: string): URL | null {
  const url = URL.parse(target, base)
  if (url === null) return null
  if (url.protocol === 'whatsapp:') return URL.parse(`https://wa.me/send${url.search}`)
  if (url.protocol === 'tg:' && url.hostname === 'resolve') {
    return URL.parse(`https://t.me/${url.searchParams.get('domain') ?? ''}`)
  }
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null
}

/** Returns the network of a host, and the label below it if the network has accounts at such hosts. */
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

/** Returns the decoded path without leading, trailing or double slashes. For a `#!` URL, it comes from the fragment. */
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
  const match = rule.path.exec(path)
  if (match === null) return null
  const text = rule.parameter === undefined ? match[1] : url.searchParams.get(rule.parameter)
  const username = rule.phone ? text?.replace(/\D/g, '') : text
  if (!username || DOTS_ONLY.test(username) || !(rule.username ?? network.username).test(username)) return null
  if (network.reserved.has(username.toLowerCase())) return null
  return { network: network.network, type: rule.type, username, url: canonicalAccountUrl(rule, username, path) }
}

/** Two spellings of one account give one URL. */
function canonicalAccountUrl(rule: AccountRule, username: string, path: string): string {
  const one = (text: string): string =>
    encodeURI(rule.exact ? text : text.toLowerCase()).replace(/[#?]/g, encodeURIComponent)
  return rule.url.replace(/[*~]/, (mark) => one(mark === '*' ? username : path))
}

/** Returns whether a host is a known server or is named like one. */
function isFediverseHost(host: string): boolean {
  return KNOWN_FEDIVERSE_SERVERS.has(host) || FEDIVERSE_HOST_NAME.test(host)
}

/** Returns the account at a path of a server. The username is `name@server`. `isOwn`: the page marks it as its own. */
function fediverseAccount(host: string, path: string, isOwn: boolean): SocialAccount | null {
  const [, name, elsewhere] = ACCOUNT_PATH.exec(path) ?? []
  if (name === undefined || (isOwn && !path.startsWith('@'))) return null
  const server = (elsewhere ?? host).toLowerCase()
  const url = `https://${server}/@${name.toLowerCase()}`
  return { network: 'mastodon', type: 'mastodon', username: `${name}@${server}`, url }
}
