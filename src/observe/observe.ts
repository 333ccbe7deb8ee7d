/** From a visit to an observation: what was seen becomes what is known of the domain. */

import type { Visit, WebSeen } from '../crawl/visit.ts'
import type { Name } from '../words/name.ts'
import { verdictOn } from './certificate.ts'
import type { Observation, WebPart } from './observation.ts'
import { pageText } from './pagetext.ts'
import { dnsPart } from './records.ts'
import { socialAccounts } from './social.ts'
import { website } from './website.ts'

/**
 * A part that could not be looked at, or judged, for a reason of ours is null, and so is the web of a name that does not
 * exist or whose servers failed.
 */
export function observe({ domain, at, dns, web }: Visit): Observation {
  const part = dns === null ? null : dnsPart(dns)
  const resolves = part === null || part.status === 'ok'
  return { domain, observed_at: at, dns: part, web: web !== null && resolves ? webPart(web, domain) : null }
}

function webPart(seen: WebSeen, domain: Name): WebPart | null {
  const judged = website(seen, domain)
  const ssl = verdictOn(seen.certificate)
  if (judged === null || ssl === null) return null
  const { page, ...facts } = judged
  const social_accounts = page === null ? [] : socialAccounts(page, domain)
  return { ...facts, ssl, social_accounts, text: page === null ? null : pageText(page.text) }
}
