/** The responses that the explorer reads. */

export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** A record: its keys depend on the type. */
export type DnsRecord = Record<string, string | number | string[]>

type SocialAccount = { network: string; type: string; username: string; url: string }

/** The result of /lookup. Null: never observed. */
export type Characteristics = {
  has_website: string | null
  redirect_to_https: string | null
  redirect_to_www: string | null
  redirect_to_domain: string | null
  only_with_www: string | null
  only_dns_no_web: string | null
  ssl: string | null
  ip: string | null
  redirect_count: string
  reverse_ip_count: string
  social_networks: string[] | null
  social_accounts: SocialAccount[] | null
}

/** `last_seen`: only as of a day; null: unknown. */
type TypeState = { since: string | null; last_seen?: string | null; records: DnsRecord[] }
export type RecordsByType = Record<RecordType, TypeState | null>

/** `requested`: the host of the address, if nothing is on record for it. `former_records`: of a name that is gone. */
export type DomainProfileBody = {
  name: string
  requested: string | null
  observed: { dns: string | null; web: string | null }
  lookup: Characteristics
  redirects_to: { target: string } | null
  records: RecordsByType
  former_records: RecordsByType | null
  address_count: number
  addresses: { ip: string; since: string; neighbours: number }[]
}

/** As of a day. Null: not on record. */
export type DomainAsOfBody = Omit<DomainProfileBody, 'lookup' | 'addresses'> & {
  at: string
  lookup: Pick<Characteristics, 'has_website' | 'redirect_to_domain' | 'ssl' | 'ip'>
  website: { since: string; last_seen: string } | null
  addresses: { ip: string; since: string | null }[]
}

export type IpProfileBody = {
  ip: string
  count: number
  domains: { target: string; since: string }[]
  next: string | null
}

export type HistoryState = { first_seen: string; records: DnsRecord[] }

export type HistoryBody = {
  meta: {
    count: number
    limit: number
    max_limit: number
    totals: Record<string, number>
    totals_capped?: string[]
    truncated?: string[]
  }
  result: Record<string, HistoryState[]>
}

/** The stay of a domain on an address: the first and the last time of an uninterrupted one. */
export type AddressTimeRow = { target: string; ip: string; first_seen: string; last_seen: string }

export type NeighbourRow = { target: string; ip: string; since: string }

/**
 * `requested`: the host that was asked for, if nothing is on record for it. `removed_before`: history from before it may
 * be missing. `ips`: of /reverseip. `certificate`: of /certificate; `logged`: when a log added it.
 */
type PageMeta = {
  next: string | null
  query?: string
  requested?: string | null
  removed_before?: string | null
  ips?: string[]
  certificate?: Certificate & { logged: string | null }
}

/** A page of rows. */
export type PagedBody<Row> = { meta: PageMeta; result: Row[] }

/** A name that a search found. Null: not observed yet. */
export type SearchRow = {
  name: string
  first_seen: string | null
  registered: string | null
  observed: string | null
  ip: string | null
  has_website: string | null
  redirects_to: string | null
}

/** A name that imitates another one. Null: not observed. `shares`: what both have. */
export type LookalikeRow = {
  name: string
  reasons: string[]
  score: number
  first_seen: string | null
  registered: string | null
  observed: string | null
  resolves: string | null
  mail: string | null
  website: string | null
  redirects_to: string | null
  similarity: number | null
  shares: string[]
}

export type SimilarBody = { result: { target: string; similarity: number }[] }

/** The use of a host or a text by a domain: the first and the last time of an uninterrupted one. */
export type UseRow = { target: string; type: string; priority: number | null; first_seen: string; last_seen: string }

/** A state of a website: the first and the last time at which it was observed. */
export type WebStateRow = {
  first_seen: string
  last_seen: string
  has_website: string
  redirect_to_https: string
  redirect_to_www: string
  redirect_to_domain: string
  only_with_www: string
  ssl: string
  redirects_to: string | null
  redirect_host: string | null
}

/** `names`: domains, and wildcards such as `*.example.com`. */
export type Certificate = {
  sha256: string
  issuer: string
  not_before: string
  not_after: string
  names: string[]
  key: string
}

/** A certificate that a domain presented, with the first and the last time. */
export type CertificateRow = Certificate & { first_seen: string; last_seen: string }

/** A certificate that has `name` among its names. */
export type NamingRow = Omit<Certificate, 'names'> & { name: string }

/** A domain that presented a certificate, with the first and the last time. */
export type PresenterRow = { target: string; first_seen: string; last_seen: string }

/** An uninterrupted time in which a domain redirected to a host. */
export type RedirectTimeRow = { target: string; redirect_host: string; first_seen: string; last_seen: string }
