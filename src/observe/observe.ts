/** From a visit to an observation: what was seen becomes what is known of the domain. */

import type { ProbeResult, WebProbeResult } from '../probe/probe-result.ts'
import type { DomainName } from '../values/domain-name.ts'
import { sslVerdict } from './certificate.ts'
import { toDnsPart } from './dns-part.ts'
import type { Observation, Ssl, WebPart } from './observation.ts'
import { startPageText } from './page-text.ts'
import { socialAccounts } from './social/social-accounts.ts'
import { judgeWebsite } from './website.ts'

/**
 * A part that could not be looked at, or judged, for a reason of ours is null, and so is the web of a name that does
 * not exist or whose servers failed. The certificate counts also if the chain ends where we do not look: at another
 * port, say.
 */
export function observe({ domain, at, dns, web }: ProbeResult): Observation {
  const dnsPart = dns === null ? null : toDnsPart(dns)
  const resolves = dnsPart === null || dnsPart.status === 'ok'
  const seen = web !== null && resolves ? web : null
  const ssl = seen === null ? null : sslVerdict(seen.certificate)
  const judged = seen === null || ssl === null ? null : judgeWeb(seen, domain, ssl)
  return { domain, observed_at: at, dns: dnsPart, web: judged, ...(judged === null && ssl !== null && { ssl }) }
}

function judgeWeb(result: WebProbeResult, domain: DomainName, ssl: Ssl): WebPart | null {
  const judged = judgeWebsite(result, domain)
  if (judged === null) return null
  const { page, ...facts } = judged
  const social_accounts = page === null ? [] : socialAccounts(page, domain)
  return { ...facts, ssl, social_accounts, text: page === null ? null : startPageText(page.text) }
}
