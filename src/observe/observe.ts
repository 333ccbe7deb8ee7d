/** Derives an observation from a probe result: its DNS part, its website and its social accounts. */

import type { CertificateResult, ProbeResult, RedirectChain, StartPage, WebProbeResult } from '../probe/probe-result.ts'
import { type Certificate, readCertificate } from '../values/certificate/certificate.ts'
import { type DomainName, parseName, registrableDomain } from '../values/domain-name.ts'
import type { Ssl, WebVerdict } from '../values/web-verdict.ts'
import { toDnsPart } from './dns-part.ts'
import {
  MAX_SOCIAL_ACCOUNTS,
  MAX_WEB_TEXT_BYTES,
  type Observation,
  type SocialAccount,
  type WebPart,
} from './observation.ts'
import { NO_REDIRECT_TARGET, type RedirectTarget, redirectTargetFor } from './redirect-target.ts'
import { socialAccountAt } from './social/account-at-url.ts'
import { isBoilerplateAccount } from './social/site-builders.ts'

/** `page`: the start page, if there is a website and its page was read. */
export type WebsiteVerdict = Omit<WebVerdict, 'ssl'> & { page: StartPage | null }

/** Statuses other than 2xx that also show a website: it restricts access. */
const RESTRICTED_STATUSES = [401, 403, 429]

/** A run of white space and control characters, which becomes one space. A single space does not match. */
const WHITE_SPACE_RUN = /[\s\p{Cc}](?:[\s\p{Cc}]+|(?<! ))/gu

/** Characters that only mark where a word may be broken. */
const INVISIBLE_CHARACTERS = /[\u00ad\u200b\u2060]/g

/**
 * A part is null if it could not be probed or judged for a local reason. The web part is also null if the name does not
 * exist or its servers failed. The certificate counts even if the redirects end where domaindex does not connect, such
 * as at another port.
 */
export function observe({ domain, at, dns, web }: ProbeResult): Observation {
  const dnsPart = dns === null ? null : toDnsPart(dns)
  const resolves = dnsPart === null || dnsPart.status === 'ok'
  const webResult = web !== null && resolves ? web : null
  const ssl = webResult === null ? null : sslVerdict(webResult.certificate)
  const webPart = webResult === null || ssl === null ? null : judgeWeb(webResult, domain, ssl)
  return { domain, observed_at: at, dns: dnsPart, web: webPart, ...(webPart === null && ssl !== null && { ssl }) }
}

function judgeWeb(result: WebProbeResult, domain: DomainName, ssl: Ssl): WebPart | null {
  const webPart = judgeWebsite(result, domain)
  if (webPart === null) return null
  const { page, ...facts } = webPart
  const social_accounts = page === null ? [] : socialAccounts(page, domain)
  const text = page === null ? null : startPageText(page.text)
  const certificate = presentedCertificate(result.certificate)
  return { ...facts, ssl, social_accounts, text, ...(certificate !== undefined && { certificate }) }
}

/** Returns null if none was presented, and undefined if it is unknown or its bytes cannot be read. */
function presentedCertificate(result: CertificateResult): Certificate | null | undefined {
  if (result.kind === 'none') return null
  if (result.kind === 'unknown' || result.der === undefined) return undefined
  return readCertificate(result.der) ?? undefined
}

/** Returns null if the certificate was not probed. */
export function sslVerdict(certificate: CertificateResult): Ssl | null {
  if (certificate.kind === 'unknown') return null
  if (certificate.kind === 'none') return 'nocert'
  return certificate.error === null ? 'valid' : 'invalid'
}

/** Joins the pieces with one space, well-formed, cut at MAX_WEB_TEXT_BYTES. Returns null if nothing is left. */
export function startPageText(pieces: readonly string[]): string | null {
  const text = pieces.join(' ').replace(INVISIBLE_CHARACTERS, '').replace(WHITE_SPACE_RUN, ' ').toWellFormed()
  const cut = truncateToBytes(text.trim())
  return cut === '' ? null : cut
}

/** Returns the longest prefix of whole characters that fits. */
function truncateToBytes(text: string): string {
  if (Buffer.byteLength(text) <= MAX_WEB_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  let end = MAX_WEB_TEXT_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end).trimEnd()
}

/**
 * Returns null if the web cannot be judged for a local reason. Either nothing answered and a start URL may not be
 * probed, or the chain ends at a host of the same domain that may not be probed. The `www.` chain counts if the bare
 * name does not answer.
 */
export function judgeWebsite(result: WebProbeResult, domain: DomainName): WebsiteVerdict | null {
  const { bare, www } = result
  const chain = bare.hops.length > 0 || www === null ? bare : www
  const hosts = hostsOf(chain)
  const finalHost = hosts.at(-1)
  const ownDomain = registrableDomain(domain)
  const isOwn = (host: string): boolean => registrableDomainOf(host) === ownDomain
  if (chain.end === 'not_allowed' && (finalHost === undefined || isOwn(finalHost))) return null
  if (chain.hops.length === 0 && [bare, www].some((each) => each?.end === 'not_allowed')) return null
  const has_website = hosts.every(isOwn) && endsSuccessfully(chain)
  return {
    has_website,
    redirect_to_https: upgradesToHttps(chain, isOwn),
    redirect_to_www: bare.hops.some(({ to }) => to !== null && hostOf(to) === `www.${domain}`),
    only_with_www: bare.hops.length === 0 && bare.end === 'no_response' && chain.hops.length > 0,
    ...(chain.end === 'too_many_redirects' ? NO_REDIRECT_TARGET : redirectTargetOf(finalHost, domain)),
    page: has_website ? chain.page : null,
  }
}

function endsSuccessfully({ end, hops }: RedirectChain): boolean {
  const status = hops.at(-1)?.status ?? 0
  return end === 'answered' && ((status >= 200 && status <= 299) || RESTRICTED_STATUSES.includes(status))
}

/** Only a chain that started with http can upgrade to https. */
function upgradesToHttps({ hops }: RedirectChain, isOwn: (host: string) => boolean): boolean {
  const startsPlain = hops[0]?.url.startsWith('http:') === true
  return startsPlain && hops.some(({ to }) => to?.startsWith('https:') === true && isOwn(hostOf(to)))
}

/** Returns every host of the chain in order, including the last redirect target. */
function hostsOf({ hops }: RedirectChain): string[] {
  return hops.flatMap(({ url, to }) => (to === null ? [hostOf(url)] : [hostOf(url), hostOf(to)]))
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/\.$/, '') ?? ''
}

/** A host that is an IP address is not a target. */
function redirectTargetOf(host: string | undefined, domain: DomainName): RedirectTarget {
  const name = parseName(host ?? '')
  return name === null ? NO_REDIRECT_TARGET : redirectTargetFor(name, domain)
}

/** Returns the registrable domain of a host, or null for an IP address or an invalid name. */
function registrableDomainOf(host: string): DomainName | null {
  const name = parseName(host)
  return name === null ? null : registrableDomain(name)
}

/**
 * Returns the accounts in page order, each URL once, at most MAX_SOCIAL_ACCOUNTS. Leaves out links written by readers (`rel=ugc`), paid
 * links (`rel=sponsored`) and accounts of site builders.
 */
export function socialAccounts(page: StartPage, domain: DomainName): SocialAccount[] {
  const own = registrableDomain(domain)
  const accounts = new Map<string, SocialAccount>()
  for (const link of page.links) {
    if (accounts.size >= MAX_SOCIAL_ACCOUNTS) break
    if (hasToken(link.name, 'ugc') || hasToken(link.name, 'sponsored')) continue
    const target = link.name === 'twitter:site' ? urlOfHandle(link.target) : link.target
    const account = socialAccountAt(target, page.base, hasToken(link.name, 'me'))
    if (account === null || isBoilerplateAccount(account.username, own) || accounts.has(account.url)) continue
    accounts.set(account.url, account)
  }
  return [...accounts.values()]
}

function hasToken(tokens: string, token: string): boolean {
  return tokens !== '' && tokens.split(/\s+/).includes(token)
}

/** Returns the URL of a `@name` from twitter:site. Leaves a URL as it is. */
function urlOfHandle(handle: string): string {
  return /^@?\w{1,15}$/.test(handle) ? `https://x.com/${handle}` : handle
}
