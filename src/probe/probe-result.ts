/** The probe result: what one probe of one domain returned, before any interpretation. */

import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'

/** Null means that a part could not be probed for a local reason. It says nothing about the domain. */
export type ProbeResult = {
  domain: DomainName
  /** When the probe started. */
  at: Instant
  dns: DnsProbeResult | null
  web: WebProbeResult | null
  /** The address at which the web probe had to wait too long. `web` is then null. */
  deferredAt?: IpAddress
}

/** The answer of each type. A missing type was not queried, or its answer was lost for a local reason. */
export type DnsProbeResult = Partial<Record<RecordType, DnsAnswer>>

/** Why a query failed (RFC 1035, section 4.1.1). `lame`: the server does not serve the zone. */
export type DnsFailure = 'servfail' | 'refused' | 'lame' | 'timeout' | 'malformed'

/**
 * The resolver's answer to one query. `records`: those at the end of the alias chain, in the form of observation files
 * (docs/data-sources.md), neither sorted nor without repeats. An empty list means that the type is absent.
 * `aliases`: the targets of the followed CNAME records, in their order. `nxdomain` concerns the name itself. An alias
 * whose target does not exist gives an answer without records.
 */
export type DnsAnswer =
  | { outcome: 'records'; records: readonly ObservedRecord[]; aliases: readonly string[] }
  | { outcome: 'nxdomain' }
  | { outcome: 'failed'; why: DnsFailure }

/** A record in the observation format: names in presentation form, TXT parts by encodeTxtPart. */
export type ObservedRecord = string | readonly string[] | { readonly [key: string]: string | number }

/** The result of the web part. */
export type WebProbeResult = {
  /** From the bare name: over http, or over https if http does not respond. */
  bare: RedirectChain
  /** The same from `www.`, if the bare name does not respond. Null if not probed. */
  www: RedirectChain | null
  certificate: CertificateResult
}

/** One redirect chain with at most MAX_REDIRECT_HOPS redirects. Without hops, the start did not respond. */
export type RedirectChain = { hops: readonly RedirectHop[]; end: ChainEnd; page: StartPage | null }

export const MAX_REDIRECT_HOPS = 10

/** One response in the chain. `url`: the absolute request URL. `to`: the absolute redirect target, or null. */
export type RedirectHop = { url: string; status: number; to: string | null; by: 'location' | 'refresh' | null }

/**
 * How a chain ended. `answered`: at its last hop. `no_response`: the last `to` or the start does not respond: no
 * address, refused, timed out, invalid HTTP, or over a limit. `too_many_redirects`: it continues after
 * MAX_REDIRECT_HOPS. `not_allowed`: the last `to` or the start is out of scope: rejected by the guard, another port or
 * scheme, or no route.
 */
export type ChainEnd = 'answered' | 'no_response' | 'too_many_redirects' | 'not_allowed'

/**
 * What port 443 presented for the served name (`www.` if only that responds). `none`: no TLS listener, or the handshake
 * ended before a certificate. `presented`: `error` is null if the system trusts it for this name and time. Otherwise it
 * is the verifier's code, such as CERT_HAS_EXPIRED. `der`: the bytes of the site's own certificate, which may be
 * hostile; absent if the handshake did not give them. `unknown`: not probed, for a local reason.
 */
export type CertificateResult =
  | { kind: 'none' }
  | { kind: 'presented'; error: string | null; der?: Uint8Array }
  | { kind: 'unknown' }

/** The content of the start page, collected while it streamed. Every part is bounded. */
export type StartPage = {
  /** The absolute base URL of relative links. */
  base: string
  /**
   * In page order, as written. `name`: the rel of an anchor or link, the name of a meta, or the key of data. In lower
   * case, '' if there is none.
   */
  links: readonly StartPageLink[]
  /** The visible text. Each piece is a run of text between elements that break a line. */
  text: readonly string[]
}

/**
 * `anchor`: a or area href; `link`: link href with rel me, author or publisher; `meta`: twitter:site, og:see_also and
 * article:publisher; `data`: sameAs and url of JSON-LD. Without repeats.
 */
export type StartPageLink = { from: 'anchor' | 'link' | 'meta' | 'data'; name: string; target: string }

/**
 * An address that the crawler may connect to, and the port there for 80 or 443. `isOwn`: the operator's own, or the
 * lab's. `connectTo`: the address for the socket, for a lab with a single address.
 */
export type VettedEndpoint = { address: IpAddress; port: number; isOwn?: true; connectTo?: IpAddress }
