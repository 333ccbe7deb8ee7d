/** The visit: what one crawl of one domain saw, before anybody judges it. */

import type { RecordType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'

/** A part that is null could not be looked at for a reason of ours, and says nothing about the domain. */
export type ProbeResult = {
  domain: DomainName
  /** When the visit began. */
  at: Instant
  dns: DnsProbeResult | null
  web: WebProbeResult | null
  /** Where the web had to wait too long for its turn; `web` is then null. */
  deferredAt?: IpAddress
}

/** What became of each question. A type that is not a key was not asked, or its answer was lost for a reason of ours. */
export type DnsProbeResult = Partial<Record<RecordType, DnsAnswer>>

/** Why a question stayed without an answer (RFC 1035, chapter 4.1.1; `lame`: the server does not answer for the zone). */
export type DnsFailure = 'servfail' | 'refused' | 'lame' | 'timeout' | 'malformed'

/**
 * What the resolver said to one question. `records` are those at the end of the alias chain, in the form of observation
 * files (docs/data-sources.md), as they came: not sorted, repeats included; none: the type is absent.
 * `aliases` are the targets of the CNAME records that were followed, in their order. `nxdomain` is the name itself; an alias
 * whose target does not exist is an answer without records.
 */
export type DnsAnswer =
  | { outcome: 'records'; records: readonly ObservedRecord[]; aliases: readonly string[] }
  | { outcome: 'nxdomain' }
  | { outcome: 'failed'; why: DnsFailure }

/** A record as an observation file writes it: names in presentation form, TXT parts by textPart. */
export type ObservedRecord = string | readonly string[] | { readonly [key: string]: string | number }

/** What the web servers showed. */
export type WebProbeResult = {
  /** From the bare name: by http, and where that answers nothing by https. */
  bare: RedirectChain
  /** The same from `www.`, where the bare name answers nothing at all; null where it was not looked at. */
  www: RedirectChain | null
  certificate: CertificateResult
}

/** One walk along redirects, at most MOST_HOPS of them. No hop: nothing answered at the start. */
export type RedirectChain = { hops: readonly RedirectHop[]; end: ChainEnd; page: StartPage | null }

export const MAX_REDIRECT_HOPS = 10

/** One answer on the way. `url`: what was asked, absolute; `to`: where it sends the reader, absolute; null for nowhere. */
export type RedirectHop = { url: string; status: number; to: string | null; by: 'location' | 'refresh' | null }

/**
 * How a chain ended. `answered`: at its last hop. `no_response`: the last `to` (or the start) does not answer: no address,
 * refused, timed out, not HTTP, over a bound. `too_many_redirects`: after MOST_HOPS it still goes on. `not_allowed`: the last `to` (or the
 * start) is nothing that we look at: refused by the guard, another port or scheme, or no route from here.
 */
export type ChainEnd = 'answered' | 'no_response' | 'too_many_redirects' | 'not_allowed'

/**
 * What port 443 showed to the name that is served (`www.` where only that answers). `none`: no TLS listener, or a handshake
 * that ended before a certificate came. `presented`: `error` is null where the system trusts it for this name at this time,
 * otherwise the verifier's code, such as CERT_HAS_EXPIRED. `unknown`: not probed, for a local reason.
 */
export type CertificateResult = { kind: 'none' } | { kind: 'presented'; error: string | null } | { kind: 'unknown' }

/** What the start page holds, gathered as it streamed by; every part is bounded. */
export type StartPage = {
  /** The address that relative links count from, absolute. */
  base: string
  /** In page order, as written. `name`: the rel of an anchor or link, the name of a meta, the key of data; lower case, '' for none. */
  links: readonly StartPageLink[]
  /** What a reader sees, in pieces: one for each run of text between elements that break a line. */
  text: readonly string[]
}

/**
 * `anchor`: a or area href; `link`: link href with rel me, author or publisher; `meta`: twitter:site, og:see_also and
 * article:publisher; `data`: sameAs and url of JSON-LD. Repeats are left out.
 */
export type StartPageLink = { from: 'anchor' | 'link' | 'meta' | 'data'; name: string; target: string }

/**
 * An address that may be connected to, and the port there that stands for 80 or 443. `own`: the operator's own, or the lab's.
 * `at`: where the socket connects to instead, for a lab that has one address.
 */
export type VettedEndpoint = { address: IpAddress; port: number; isOwn?: true; connectTo?: IpAddress }
