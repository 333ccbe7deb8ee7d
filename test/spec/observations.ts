/** Short functions for observations as they are in the lines of a file. */

/** The default time of an observation. */
export const YESTERDAY = '2026-11-19T00:00:00Z'

type Parts = { dns?: object; web?: object }

/** One observation of a domain. Without parts it only adds the name. */
export function look(domain: string, parts: Parts = {}, observed_at: string = YESTERDAY): object {
  return { domain, observed_at, ...parts }
}

/** An answered dns part. Omitted types were not queried. */
export function ok(records: Record<string, readonly unknown[]>): object {
  return { status: 'ok', ...records }
}

export const NXDOMAIN = { status: 'nxdomain' }
export const SERVFAIL = { status: 'servfail' }

/** A web part: a plain website over http, with the given differences. */
export function site(given: object = {}): object {
  return {
    has_website: true,
    redirect_to_https: false,
    redirect_to_www: false,
    only_with_www: false,
    redirects_to: null,
    ssl: 'nocert',
    social_accounts: [],
    ...given,
  }
}

/** An observation of a domain that redirects to another. */
export function redirecting(source: string, target: string, observed_at: string = YESTERDAY): object {
  return look(source, { web: site({ has_website: false, redirects_to: target }) }, observed_at)
}

/** An observation of a domain on these addresses. */
export function hosted(domain: string, addresses: readonly string[], observed_at: string = YESTERDAY): object {
  const A = addresses.filter((address) => !address.includes(':'))
  const AAAA = addresses.filter((address) => address.includes(':'))
  return look(domain, { dns: ok({ A, AAAA }) }, observed_at)
}
