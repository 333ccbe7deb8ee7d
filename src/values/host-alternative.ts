/** The registrable domain for which a URL or a `www.` host stands if nothing is known of the host itself. */

import { type DomainName, parseName, registrableDomain } from './domain-name.ts'
import { parsePastedQuery } from './pasted/pasted-query.ts'

/** A host as it was asked, and its registrable domain. */
export type HostAlternative = { host: DomainName; domain: DomainName }

/** Returns null if the text is no URL and no `www.` host, or if its host is its registrable domain. */
export function hostAlternative(text: string): HostAlternative | null {
  const pasted = parsePastedQuery(text)
  const host = pasted?.kind === 'domain' ? parseName(pasted.value) : null
  if (host === null || !(isUrl(text) || host.startsWith('www.'))) return null
  const domain = registrableDomain(host)
  return domain === host ? null : { host, domain }
}

/** The host of a URL as it is; null for a text that is no URL with the name of a host. */
export function hostOfUrl(text: string): DomainName | null {
  const pasted = isUrl(text) ? parsePastedQuery(text) : null
  return pasted?.kind === 'domain' ? parseName(pasted.value) : null
}

function isUrl(text: string): boolean {
  return text.includes('/')
}

/** The sentence that tells whoever asked for the host. */
export function alternativeNote({ host, domain }: HostAlternative): string {
  return `Nothing is on record for ${host}: these are the facts about ${domain}.`
}
