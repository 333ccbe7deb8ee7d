/** Observations as they stand in the lines of a file, short to write. */

/** When a domain was looked at where a test does not care. */
export const YESTERDAY = '2026-11-19T00:00:00Z'

type Parts = { dns?: object; web?: object }

/** One look at a domain; without parts it only makes the name known. */
export function look(domain: string, parts: Parts = {}, observed_at: string = YESTERDAY): object {
  return { domain, observed_at, ...parts }
}

/** A dns part that was answered; types left out were not asked. */
export function ok(records: Record<string, readonly unknown[]>): object {
  return { status: 'ok', ...records }
}

export const NXDOMAIN = { status: 'nxdomain' }
export const SERVFAIL = { status: 'servfail' }

/** A web part: a plain website over http, but for what is given. */
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

/** A look at a domain that redirects to another. */
export function redirecting(source: string, target: string, observed_at: string = YESTERDAY): object {
  return look(source, { web: site({ has_website: false, redirects_to: target }) }, observed_at)
}

/** A look at a domain that is on these addresses. */
export function hosted(domain: string, addresses: readonly string[], observed_at: string = YESTERDAY): object {
  const A = addresses.filter((address) => !address.includes(':'))
  const AAAA = addresses.filter((address) => address.includes(':'))
  return look(domain, { dns: ok({ A, AAAA }) }, observed_at)
}
