/** The responses that the explorer reads, and the paths that return them. */

export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** A record: its keys depend on the type. */
export type DnsRecord = Record<string, string | number | string[]>

type SocialAccount = { network: string; type: string; username: string; url: string }

/** The result of /lookup. */
export type Characteristics = {
  has_website: string
  redirect_to_https: string
  redirect_to_www: string
  redirect_to_domain: string
  only_with_www: string
  only_dns_no_web: string
  ssl: string
  ip?: string
  redirect_count: string
  reverse_ip_count: string
  social_networks: string[]
  social_accounts: SocialAccount[]
}

export type DomainProfileBody = {
  name: string
  observed: { dns: string | null; web: string | null }
  lookup: Characteristics
  redirects_to: { target: string } | null
  records: Record<RecordType, { since: string | null; records: DnsRecord[] } | null>
  address_count: number
  addresses: { ip: string; since: string; neighbours: number }[]
}

export type IpProfileBody = {
  ip: string
  count: number
  domains: { target: string; since: string }[]
  next: string | null
}

export type HistoryState = { first_seen: string; records: DnsRecord[] }

export type HistoryBody = {
  meta: { count: number; limit: number; max_limit: number; totals: Record<string, number>; truncated?: string[] }
  result: Record<string, HistoryState[]>
}

export type NeighbourRow = { target: string; ip: string; since: string }

/** A page of /redirect or /reverseip. */
export type PagedBody<Row> = { meta: { next: string | null; ips?: string[] }; result: Row[] }

export type SimilarBody = { result: { target: string; similarity: number }[] }

export function profilePath(name: string): string {
  return `/domain/${encodeURIComponent(name)}`
}

export function ipPath(address: string): string {
  return `/ip/${address}`
}

/** The path of an endpoint for sessions. */
export function endpointPath(endpoint: string, parameters: Record<string, string>): string {
  return `/app/api/${endpoint}?${new URLSearchParams(parameters)}`
}
