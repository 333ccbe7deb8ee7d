/** The observation: the facts about one domain at one time, in the form that every later stage reads. */

import type { Certificate } from '../values/certificate/certificate.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { RecordsByType, RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Ssl, WebVerdict } from '../values/web-verdict.ts'

/** The maximum number of bytes of `web.text`, in UTF-8. */
export const MAX_WEB_TEXT_BYTES = 65_536
export const MAX_SOCIAL_ACCOUNTS = 100

/** The status of the name. `servfail`: both A and AAAA failed. */
export type DnsStatus = 'ok' | 'nxdomain' | 'servfail'

/**
 * One social account found on the start page.
 * `network` is the value of the specification (`x`, `facebook`). `type` is finer (`facebook_page`).
 */
export type SocialAccount = { network: string; type: string; username: string; url: string }

/**
 * The result of the DNS queries. A type without a key in `records` was not queried. `[]` means queried and absent.
 * `interrupted` has queried types whose records were not observed continuously before, even if the last known records
 * are the same. Files say this of separate time ranges; a probe never does.
 */
export type DnsPart = { status: DnsStatus; records: Partial<RecordsByType>; interrupted?: readonly RecordType[] }

/**
 * The result of the HTTP requests. `redirects_to` is a registrable domain other than the domain's own, or null.
 * `redirect_host` is the final host of the redirects. Its registrable domain can change with a later public suffix
 * list. It is absent if the redirects ended at the domain itself or its `www.` host.
 * If `redirects_to` is set or there is no website, accounts and text are empty (contract, /lookup).
 * `certificate`: what port 443 presented, null if it presented none. Absent if that was not looked at.
 */
export type WebPart = WebVerdict & {
  social_accounts: readonly SocialAccount[]
  text: string | null
  certificate?: Certificate | null
}

/**
 * One observation. A null part was not probed and leaves the known state as it is. `observed_at` is in whole seconds
 * UTC. `ssl` is the certificate verdict if no other part of the web could be judged. Observation files have no field
 * for it. `presented` is what port 443 presented, null for nothing, if nothing is said of the website.
 */
export type Observation = {
  domain: DomainName
  observed_at: Instant
  dns: DnsPart | null
  web: WebPart | null
  ssl?: Ssl
  presented?: Certificate | null
}
