/** From a visit to an observation: what was seen becomes what is known of the domain. */

import type { Visit, WebSeen } from '../crawl/visit.ts'
import type { Name } from '../words/name.ts'
import { verdictOn } from './certificate.ts'
import type { Observation, Ssl, WebPart } from './observation.ts'
import { pageText } from './pagetext.ts'
import { dnsPart } from './records.ts'
import { socialAccounts } from './social.ts'
import { website } from './website.ts'

/**
 * A part that could not be looked at, or judged, for a reason of ours is null, and so is the web of a name that does not
 * exist or whose servers failed. The certificate counts also if the chain ends where we do not look: at another port, say.
 */
export function observe({ domain, at, dns, web }: Visit): Observation {
  const part = dns === null ? null : dnsPart(dns)
  const resolves = part === null || part.status === 'ok'
  const seen = web !== null && resolves ? web : null
  const ssl = seen === null ? null : verdictOn(seen.certificate)
  const judged = seen === null || ssl === null ? null : webPart(seen, domain, ssl)
  return { domain, observed_at: at, dns: part, web: judged, ...(judged === null && ssl !== null && { ssl }) }
}

function webPart(seen: WebSeen, domain: Name, ssl: Ssl): WebPart | null {
  const judged = website(seen, domain)
  if (judged === null) return null
  const { page, ...facts } = judged
  const social_accounts = page === null ? [] : socialAccounts(page, domain)
  return { ...facts, ssl, social_accounts, text: page === null ? null : pageText(page.text) }
}
