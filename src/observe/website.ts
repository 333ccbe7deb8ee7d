/** Decides from the redirect chains whether there is a website, and to which domain the name redirects. */

import type { RedirectChain, StartPage, WebProbeResult } from '../probe/probe-result.ts'
import { type DomainName, parseName, registrableDomain } from '../values/domain-name.ts'
import type { WebVerdict } from './observation.ts'
import { NO_REDIRECT_TARGET, type RedirectTarget, redirectTargetFor } from './redirect-target.ts'

/** `page`: the start page, if there is a website and its page was read. */
export type WebsiteVerdict = Omit<WebVerdict, 'ssl'> & { page: StartPage | null }

/** Statuses other than 2xx that also show a website: it restricts access. */
const RESTRICTED_STATUSES = [401, 403, 429]

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
