/** What the chains of redirects say of a website: whether there is one, and where the name sends its readers. */

import type { RedirectChain, StartPage, WebProbeResult } from '../probe/probe-result.ts'
import { type DomainName, parseName, registrableDomain } from '../values/domain-name.ts'
import type { WebPart } from './observation.ts'
import { NO_REDIRECT_TARGET, type RedirectTarget, redirectTargetFor } from './redirect-target.ts'

/** `page`: the start page, where there is a website and its page was read. */
export type WebsiteVerdict = Pick<
  WebPart,
  'has_website' | 'redirect_to_https' | 'redirect_to_www' | 'only_with_www' | 'redirects_to' | 'redirect_host'
> & { page: StartPage | null }

/** Beside 2xx: somebody is at home who does not let us in. */
const RESTRICTED_STATUSES = [401, 403, 429]

/**
 * Null where the web cannot be judged for a reason of ours: nothing answered and a start is closed to us, or the chain
 * ends on a host of the domain's own that is closed to us. The chain of `www.` counts where the bare name answers
 * nothing.
 */
export function judgeWebsite(result: WebProbeResult, domain: DomainName): WebsiteVerdict | null {
  const { bare, www } = result
  const chain = bare.hops.length > 0 || www === null ? bare : www
  const hosts = hostsOf(chain)
  const last = hosts.at(-1)
  const own = registrableDomain(domain)
  const isOwn = (host: string): boolean => registrableDomainOf(host) === own
  if (chain.end === 'not_allowed' && (last === undefined || isOwn(last))) return null
  if (chain.hops.length === 0 && [bare, www].some((each) => each?.end === 'not_allowed')) return null
  const has_website = hosts.every(isOwn) && endsSuccessfully(chain)
  return {
    has_website,
    redirect_to_https: upgradesToHttps(chain, isOwn),
    redirect_to_www: bare.hops.some(({ to }) => to !== null && hostOf(to) === `www.${domain}`),
    only_with_www: bare.hops.length === 0 && bare.end === 'no_response' && chain.hops.length > 0,
    ...(chain.end === 'too_many_redirects' ? NO_REDIRECT_TARGET : redirectTargetOf(last, domain)),
    page: has_website ? chain.page : null,
  }
}

function endsSuccessfully({ end, hops }: RedirectChain): boolean {
  const status = hops.at(-1)?.status ?? 0
  return end === 'answered' && ((status >= 200 && status <= 299) || RESTRICTED_STATUSES.includes(status))
}

/** Only a chain that began with http can pass to https. */
function upgradesToHttps({ hops }: RedirectChain, isOwn: (host: string) => boolean): boolean {
  const startsPlain = hops[0]?.url.startsWith('http:') === true
  return startsPlain && hops.some(({ to }) => to?.startsWith('https:') === true && isOwn(hostOf(to)))
}

/** Every host on the way in its order, the one that a chain was sent to last included. */
function hostsOf({ hops }: RedirectChain): string[] {
  return hops.flatMap(({ url, to }) => (to === null ? [hostOf(url)] : [hostOf(url), hostOf(to)]))
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/\.$/, '') ?? ''
}

/** A host that is an address is no target. */
function redirectTargetOf(host: string | undefined, domain: DomainName): RedirectTarget {
  const name = parseName(host ?? '')
  return name === null ? NO_REDIRECT_TARGET : redirectTargetFor(name, domain)
}

/** The registrable domain of a host; an address and what is no name have none. */
function registrableDomainOf(host: string): DomainName | null {
  const name = parseName(host)
  return name === null ? null : registrableDomain(name)
}
