/** The observation: what one visit saw of one domain, in the shape every later stage reads. */

import type { RecordsByType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'

/** How the domain's name servers answered. `servfail`: neither A nor AAAA was answered. */
export type DnsStatus = 'ok' | 'nxdomain' | 'servfail'

/** The verdict on the certificate at port 443. */
export type Ssl = 'valid' | 'nocert' | 'invalid'

/**
 * One social account found on the start page.
 * `network` is the specification's word (`x`, `facebook`), `type` is finer (`facebook_page`).
 */
export type SocialAccount = { network: string; type: string; username: string; url: string }

/** What DNS said. A record type that is not a key of `records` was not asked; `[]` was asked and is absent. */
export type DnsPart = { status: DnsStatus; records: Partial<RecordsByType> }

/**
 * What the web server showed. `redirects_to` is a registrable domain other than the domain's own, or null.
 * `redirect_host` is the host at which the redirects ended, whether or not it is the domain's own: the public suffix
 * list says later what its registrable domain is. It is left out if they ended at the domain itself or at its `www.`.
 * Where it is set, or where there is no website, accounts and text are empty (contract, /lookup).
 */
export type WebPart = {
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  only_with_www: boolean
  redirects_to: DomainName | null
  redirect_host?: DomainName
  ssl: Ssl
  social_accounts: readonly SocialAccount[]
  text: string | null
}

/**
 * One visit. A part that is null was not looked at and keeps what is known. `observed_at` in whole seconds UTC. `ssl`
 * is the verdict on a certificate where nothing else of the web could be judged; observation files have no place for
 * it.
 */
export type Observation = {
  domain: DomainName
  observed_at: Instant
  dns: DnsPart | null
  web: WebPart | null
  ssl?: Ssl
}
