/** The verdict of a website: what its history keeps, and the stored text of it. */

import type { DomainName } from './domain-name.ts'

/** The verdict on the certificate at port 443. */
export type Ssl = 'valid' | 'nocert' | 'invalid'

/** The part of the web facts that the store keeps exactly as it was observed. */
export type WebVerdict = {
  has_website: boolean
  redirect_to_https: boolean
  redirect_to_www: boolean
  only_with_www: boolean
  redirects_to: DomainName | null
  redirect_host?: DomainName
  ssl: Ssl
}

/** The stored values of a verdict. Stores depend on the order: never change it, and add new values at the end. */
type StoredVerdict = [
  has_website: 0 | 1,
  redirect_to_https: 0 | 1,
  redirect_to_www: 0 | 1,
  only_with_www: 0 | 1,
  redirects_to: DomainName | null,
  redirect_host: DomainName | null,
  ssl: Ssl,
]

/** The stored text of a verdict: JSON, a list of one. Two verdicts are equal if their texts are equal. */
export function encodeVerdict(verdict: WebVerdict): string {
  const { has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, redirect_host, ssl } = verdict
  const answers = [has_website, redirect_to_https, redirect_to_www, only_with_www].map((answer) => (answer ? 1 : 0))
  return JSON.stringify([[...answers, redirects_to, redirect_host ?? null, ssl]])
}

/** The inverse of encodeVerdict. */
export function decodeVerdict(text: string): WebVerdict {
  return verdictOfValues((JSON.parse(text) as unknown[])[0])
}

/** The verdict of its stored values. */
export function verdictOfValues(values: unknown): WebVerdict {
  const [has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, redirect_host, ssl] =
    values as StoredVerdict
  return {
    has_website: has_website === 1,
    redirect_to_https: redirect_to_https === 1,
    redirect_to_www: redirect_to_www === 1,
    only_with_www: only_with_www === 1,
    redirects_to,
    ...(redirect_host !== null && { redirect_host }),
    ssl,
  }
}

/** The host to which a website redirects, if that belongs to another domain. Rows of older releases lack the host. */
export function finalHostOf({ redirects_to, redirect_host }: WebVerdict): DomainName | null {
  return redirects_to === null ? null : (redirect_host ?? redirects_to)
}
