/** Derives an observation from a probe result. */

import type { ProbeResult, WebProbeResult } from '../probe/probe-result.ts'
import type { DomainName } from '../values/domain-name.ts'
import { sslVerdict } from './certificate.ts'
import { toDnsPart } from './dns-part.ts'
import type { Observation, Ssl, WebPart } from './observation.ts'
import { startPageText } from './page-text.ts'
import { socialAccounts } from './social/social-accounts.ts'
import { judgeWebsite } from './website.ts'

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
  return { ...facts, ssl, social_accounts, text: page === null ? null : startPageText(page.text) }
}
