/** The paths of the server that the page loads, and the addresses of its views. */

import type { PastedQuery } from '../../src/values/pasted/pasted-query.ts'
import type { RecordType } from '../views/explorer/data/responses.ts'

/** The pages of operators, each with its title. Further ones are those of accounts. */
export const OPERATOR_TABS = [
  ['/operator', 'Accounts'],
  ['/operator/crawl', 'Crawl and jobs'],
  ['/operator/usage', 'Usage'],
  ['/operator/audit', 'Audit log'],
] as const

/** The number of the account that a page of operators is about; null for another page. */
export function operatedAccount(path: string): string | null {
  return /^\/operator\/accounts\/(\d+)$/.exec(path)?.[1] ?? null
}

export function profilePath(name: string): string {
  return `/domain/${encodeURIComponent(name)}`
}

/** `day`: `YYYY-MM-DD`. */
export function domainAsOfPath(name: string, day: string): string {
  return `${profilePath(name)}?at=${encodeURIComponent(day)}`
}

export function webHistoryPath(name: string, next: string | null): string {
  return pagePath(`${profilePath(name)}/web`, next)
}

export function certificatesPath(name: string, next: string | null): string {
  return pagePath(`${profilePath(name)}/certificates`, next)
}

export function namedCertificatesPath(name: string, next: string | null): string {
  return `${profilePath(name)}/named-certificates${next === null ? '' : `?${new URLSearchParams({ next })}`}`
}

export function redirectTimesPath(name: string, next: string | null): string {
  return pagePath(`${profilePath(name)}/redirects`, next)
}

export function lookalikesPath(name: string, next: string | null): string {
  return `/lookalikes?${new URLSearchParams({ of: name, ...(next !== null && { next }) })}`
}

/** `text`: the parts of a TXT record as JSON; null: who uses the host. */
export function usesPath(host: string, text: string | null, next: string | null = null): string {
  return endpointPath('uses', { ...(text === null ? { host } : { text }), ...(next !== null && { next }) })
}

/** The largest page of any plan. The server reduces it to that of the account. */
const HISTORY_LIMIT = '100'

/** The path of the history of all types, or of the states of one type that are older than `before`. */
export function historyPath(name: string, older: { type: RecordType; before: string } | null): string {
  const rest = older === null ? {} : { type: older.type, next: older.before }
  return endpointPath('dnshistory', { query: name, limit: HISTORY_LIMIT, ...rest })
}

/** /domain/NAME/neighbours: the other domains on each of its addresses. */
export function neighboursPath(name: string, next: string | null = null): string {
  return endpointPath('reverseip', { query: name, ...(next !== null && { next }) })
}

export function redirectsPath(name: string, next: string | null = null): string {
  return endpointPath('redirect', { query: name, ...(next !== null && { next }) })
}

export function similarPath(name: string): string {
  return endpointPath('similar', { query: name })
}

export function ipPath(address: string): string {
  return `/ip/${address}`
}

/** `addresses`: an address or a network. `day` null: present and past. */
export function addressTimesPath(addresses: string, day: string | null, next: string | null): string {
  const isProfile = day === null && !addresses.includes('/')
  const network = isProfile ? `${addresses}/${addresses.includes(':') ? 128 : 32}` : addresses
  const query = new URLSearchParams({ ...(day !== null && { at: day }), ...(next !== null && { next }) }).toString()
  return query === '' ? ipPath(network) : `${ipPath(network)}?${query}`
}

export function certificatePath(sha256: string, next: string | null = null): string {
  return pagePath(`/certificate/${encodeURIComponent(sha256)}`, next)
}

/** The path of a search, which is also its address. Empty parameters are left out. */
export function searchPath(parameters: Readonly<Record<string, string>>): string {
  return `/search?${new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''))}`
}

/** The address of the view of a query. */
export function explorerAddress({ kind, value }: PastedQuery): string {
  return `/${kind}/${encodeURIComponent(value).replaceAll('%3A', ':')}`
}

/** The path of an endpoint for sessions. */
export function endpointPath(endpoint: string, parameters: Record<string, string>): string {
  return `/app/api/${endpoint}?${new URLSearchParams(parameters)}`
}

function pagePath(path: string, next: string | null): string {
  return next === null ? path : `${path}?${new URLSearchParams({ next })}`
}

/** The call of each view of a domain, by the last segment of its address. */
export const DOMAIN_CALLS: Readonly<Record<string, (name: string) => string>> = {
  '': profilePath,
  history: (name) => historyPath(name, null),
  web: (name) => webHistoryPath(name, null),
  certificates: (name) => certificatesPath(name, null),
  neighbours: neighboursPath,
  redirects: redirectsPath,
  uses: (name) => usesPath(name, null),
  similar: similarPath,
  lookalikes: (name) => lookalikesPath(name, null),
}

/** The calls that are left today. */
export function usageOfTodayPath(): string {
  const today = new Date().toISOString().slice(0, 10)
  return `/app/usage?from=${today}&to=${today}`
}
