/** The types of parameters, responses and errors. scripts/client-types.ts generates them. */

/** The values of `error`. */
export type ErrorKey =
  | 'query_missing'
  | 'domain_format'
  | 'date_missing'
  | 'certificate_format'
  | 'search_invalid'
  | 'brand_invalid'
  | 'date_format'
  | 'type_invalid'
  | 'followup_invalid'
  | 'cursor_invalid'
  | 'cursor_expired'
  | 'cursor_mismatch'
  | 'cursor_needs_type'
  | 'token_missing'
  | 'token_invalid'
  | 'plan_required'
  | 'premium_required'
  | 'addon_required'
  | 'no_subscription'
  | 'before_subscription'
  | 'after_subscription'
  | 'outside_subscription'
  | 'no_data'
  | 'endpoint_unknown'
  | 'rate_limited'
  | 'internal_error'
  | 'body_too_large'

export type Characteristics = {
  /** A website is hosted under the domain and it does not redirect elsewhere. */
  has_website: 'yes' | 'no'
  /** The domain redirects from http to https. */
  redirect_to_https: 'yes' | 'no'
  /** The domain redirects to `www.` plus itself. */
  redirect_to_www: 'yes' | 'no'
  /** The domain redirects to a different domain. */
  redirect_to_domain: 'yes' | 'no'
  /** Reachable only as `www.` plus itself: the bare domain does not answer. */
  only_with_www: 'yes' | 'no'
  /** DNS entries exist but no A or AAAA record. */
  only_dns_no_web: 'yes' | 'no'
  /** Whether the certificate is valid; `nocert`: the server presented none. */
  ssl: 'valid' | 'nocert' | 'invalid'
  /** The address families that resolve. Missing if resolution is not recorded yet. */
  ip?: 'v4only' | 'v6only' | 'both' | 'servfail' | 'noip' | 'nxdomain'
  /** The number of domains that redirect to this one. */
  redirect_count: string
  /** The number of rows that `/reverseip` returns for this domain. */
  reverse_ip_count: string
  /** The networks on which the domain is present. */
  social_networks: string[]
  /** The accounts that the start page names. */
  social_accounts: {
    /** The network, for example `x` or `linkedin`. */
    network: string
    /** More specific than the network, for example `facebook_page`; new values may appear. */
    type: string
    username: string
    url: string
  }[]
}

export type KnownCharacteristics = {
  /** A website is hosted under the domain and it does not redirect elsewhere. Null if that was never observed. */
  has_website: 'yes' | 'no' | null
  /** The domain redirects from http to https. Null if that was never observed. */
  redirect_to_https: 'yes' | 'no' | null
  /** The domain redirects to `www.` plus itself. Null if that was never observed. */
  redirect_to_www: 'yes' | 'no' | null
  /** The domain redirects to a different domain. Null if that was never observed. */
  redirect_to_domain: 'yes' | 'no' | null
  /** Reachable only as `www.` plus itself: the bare domain does not answer. Null if that was never observed. */
  only_with_www: 'yes' | 'no' | null
  /** DNS entries exist but no A or AAAA record. Null if that was never observed. */
  only_dns_no_web: 'yes' | 'no' | null
  /** Whether the certificate is valid; `nocert`: the server presented none. Null if that was never observed. */
  ssl: 'valid' | 'nocert' | 'invalid' | null
  /** The address families that resolve. Missing if resolution is not recorded yet. Null if that was never observed. */
  ip: 'v4only' | 'v6only' | 'both' | 'servfail' | 'noip' | 'nxdomain' | null
  /** The networks on which the domain is present. Null if that was never observed. */
  social_networks: string[] | null
  /** The accounts that the start page names. Null if that was never observed. */
  social_accounts:
    | {
        /** The network, for example `x` or `linkedin`. */
        network: string
        /** More specific than the network, for example `facebook_page`; new values may appear. */
        type: string
        username: string
        url: string
      }[]
    | null
  /** The number of domains that redirect to this one. */
  redirect_count: string
  /** The number of rows that `/reverseip` returns for this domain. */
  reverse_ip_count: string
}

export type ARecord = {
  /** An IPv4 or IPv6 address in its shortest form. */
  ipv4_address: string
}

export type AAAARecord = {
  /** An IPv4 or IPv6 address in its shortest form. */
  ipv6_address: string
}

export type MXRecord = {
  priority: number
  /** A host name, lower-case, without a trailing dot. */
  mail_server: string
}

export type TXTRecord = {
  /** The parts joined. */
  text: string
  parts: string[]
}

export type NSRecord = {
  /** A host name, lower-case, without a trailing dot. */
  nameserver: string
}

export type SOARecord = {
  /** A host name, lower-case, without a trailing dot. */
  primary_nameserver: string
  admin_email: string
  serial: number
  refresh_seconds: number
  retry_seconds: number
  expire_seconds: number
  minimum_ttl_seconds?: number
}

export type CNAMERecord = {
  /** A host name, lower-case, without a trailing dot. */
  target: string
}

export type LookupParameters = {
  /** A domain without scheme and trailing slash; letter case is ignored. */
  query: string
}

export type LookupResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
  }
  result: Characteristics
}

export type RedirectParameters = {
  /** A domain without scheme and trailing slash; letter case is ignored. */
  query: string
  /** The maximum number of results. Free 1,000, Basic 10,000, Premium 50,000. A higher value is reduced. */
  limit?: number
  /** The `meta.next` of the previous page. */
  next?: string
}

export type RedirectResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  /** `target` is the redirect source, despite its name. */
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
  }[]
}

export type ReverseipParameters = {
  /** A domain, an IPv4 or an IPv6 address. */
  query: string
  /** The maximum number of results. Free 1,000, Basic 10,000, Premium 50,000. A higher value is reduced. */
  limit?: number
  /** The `meta.next` of the previous page. */
  next?: string
}

export type ReverseipResponse = {
  meta: {
    /** The requested domain or address. */
    query: string
    /** The addresses in the order of the rows. */
    ips: string[]
    /** The number of addresses in `ips`. */
    ip_count: number
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** An IPv4 or IPv6 address in its shortest form. */
    ip: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
    since: string
  }[]
}

export type DnshistoryParameters = {
  /** A domain without scheme and trailing slash; letter case is ignored. */
  query: string
  /** The record type; letter case is ignored. */
  type?: 'A' | 'AAAA' | 'MX' | 'TXT' | 'NS' | 'SOA' | 'CNAME'
  /** The maximum number of results. States per record type: Basic 10, Premium 100. A higher value is reduced. */
  limit?: number
  /** The `meta.next` of the previous page, or with `type` a bare `first_seen` value. */
  next?: string
}

export type DnshistoryResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The status code. */
    rcode: 200
    /** The number of states in this response. */
    count: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The limit that was applied. */
    limit: number
    /** The number of states of each record type. */
    totals: {
      A?: number
      AAAA?: number
      MX?: number
      TXT?: number
      NS?: number
      SOA?: number
      CNAME?: number
    }
    /** The types whose total means "at least". */
    totals_capped?: ('A' | 'AAAA' | 'MX' | 'TXT' | 'NS' | 'SOA' | 'CNAME')[]
    /** The types with older states beyond this page. */
    truncated?: ('A' | 'AAAA' | 'MX' | 'TXT' | 'NS' | 'SOA' | 'CNAME')[]
    /** The cursor of the next page, if one record type has one. */
    next?: string
  }
  /** States. */
  result: {
    A?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: ARecord[]
    }[]
    AAAA?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: AAAARecord[]
    }[]
    MX?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: MXRecord[]
    }[]
    TXT?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: TXTRecord[]
    }[]
    NS?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: NSRecord[]
    }[]
    SOA?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: SOARecord[]
    }[]
    CNAME?: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ss`. */
      first_seen: string
      records: CNAMERecord[]
    }[]
  }
}

export type DailyParameters = {
  /** The day of registration. */
  date: string
  /** The follow-up file of that day. Premium only. */
  followup?: 7 | 30
}

export type SnapshotParameters = {
  /** Sends the file instead of the report. */
  download?: '1'
  /** The enriched edition. */
  enriched?: '1'
}

export type SnapshotResponse = {
  meta: {
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** When the snapshot was built. */
    generated: string
    /** The number of names in the file. */
    domains: number
    /** Its compressed size in bytes. */
    size: number
    /** The file name of the download. */
    filename: string
    /** The edition of the report. */
    format: 'names' | 'enriched'
    /** Whether the account may download the enriched edition. */
    enriched_available: boolean
  }
  result: never[]
}

export type SimilarParameters = {
  /** A domain without scheme and trailing slash; letter case is ignored. */
  query: string
  /** The maximum number of results. At most 100. A higher value is reduced. */
  limit?: number
}

export type SimilarResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The number of rows in this response. */
    count: number
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** Four decimals. */
    similarity: number
  }[]
}

export type SearchParameters = {
  /** A text, a pattern, or a regular expression between slashes. */
  q: string
  /** Only names below this suffix. */
  tld?: string
  /** Only names that were first seen at or after this moment. A day (its first second, UTC) or an RFC 3339 date and time, not in the future. */
  first_seen_from?: string
  /** Only names that were first seen at or before this moment. A day (its last second, UTC) or an RFC 3339 date and time, not in the future. */
  first_seen_to?: string
  /** Only names that a zone or a list reported as registered on this day or later. */
  registered_from?: string
  /** Only names that a zone or a list reported as registered on this day or earlier. */
  registered_to?: string
  /** Only names with a website, or only those whose probe found none. */
  has_website?: 'yes' | 'no'
  /** Only names that are now on this address or in this network. */
  ip?: string
  /** Only names that now have this name server, or one below it. */
  ns?: string
  /** Only names that now have this mail host, or one below it. */
  mx?: string
  /** The maximum number of results. Free 1,000, Basic 10,000, Premium 50,000. A higher value is reduced. */
  limit?: number
  /** The `meta.next` of the previous page. */
  next?: string
}

export type DayNamesParameters = {
  /** The day. */
  date: string
  /** A text, a pattern, or a regular expression between slashes. */
  q?: string
  /** The maximum number of results. Free 1,000, Basic 10,000, Premium 50,000. A higher value is reduced. */
  limit?: number
  /** The `meta.next` of the previous page. */
  next?: string
}

export type DomainResponse = {
  /** A domain name: lower-case A-labels without a trailing dot. */
  name: string
  /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
  requested: string | null
  observed: {
    /** When DNS was last observed. */
    dns: string | null
    /** When the website was last observed. */
    web: string | null
  }
  lookup: KnownCharacteristics
  /** Where the domain redirects to. */
  redirects_to: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
  } | null
  records: {
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    A: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: ARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    AAAA: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: AAAARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    MX: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: MXRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    TXT: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: TXTRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    NS: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: NSRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    SOA: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: SOARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    CNAME: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: CNAMERecord[]
    } | null
  }
  /** The last records of a name that does not exist now (`ip` is `nxdomain`). */
  former_records: {
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    A: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: ARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    AAAA: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: AAAARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    MX: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: MXRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    TXT: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: TXTRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    NS: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: NSRecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    SOA: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: SOARecord[]
    } | null
    /** Null if there are none: no records of this type were ever observed, or the name does not exist now. */
    CNAME: {
      /** When these records were first observed; null if the plan has no /dnshistory. */
      since: string | null
      records: CNAMERecord[]
    } | null
  } | null
  /** The number of addresses. */
  address_count: number
  /** The first 100 addresses, in the order of `/reverseip`. */
  addresses: {
    /** An IPv4 or IPv6 address in its shortest form. */
    ip: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    since: string
    /** The number of other domains on this address. */
    neighbours: number
  }[]
  /** The units that this response cost. */
  cost: 1
}

export type DomainAsOfResponse = {
  /** A domain name: lower-case A-labels without a trailing dot. */
  name: string
  /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
  requested: string | null
  /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
  at: string
  observed: {
    /** When DNS was last observed; null if it was also observed after `at`. */
    dns: string | null
    /** When the website was last observed; null if that was after `at`, or never. */
    web: string | null
  }
  lookup: {
    /** A website is hosted under the domain and it does not redirect elsewhere. Null if that was never observed. */
    has_website: 'yes' | 'no' | null
    /** The domain redirects from http to https. Null if that was never observed. */
    redirect_to_https: 'yes' | 'no' | null
    /** The domain redirects to `www.` plus itself. Null if that was never observed. */
    redirect_to_www: 'yes' | 'no' | null
    /** The domain redirects to a different domain. Null if that was never observed. */
    redirect_to_domain: 'yes' | 'no' | null
    /** Reachable only as `www.` plus itself: the bare domain does not answer. Null if that was never observed. */
    only_with_www: 'yes' | 'no' | null
    /** DNS entries exist but no A or AAAA record. Null if that was never observed. */
    only_dns_no_web: 'yes' | 'no' | null
    /** Whether the certificate is valid; `nocert`: the server presented none. Null if that was never observed. */
    ssl: 'valid' | 'nocert' | 'invalid' | null
    /** The address families that resolve. Missing if resolution is not recorded yet. Null if that was never observed. */
    ip: 'v4only' | 'v6only' | 'both' | 'servfail' | 'noip' | 'nxdomain' | null
    /** The networks on which the domain is present. Null if that was never observed. */
    social_networks: string[] | null
    /** The accounts that the start page names. Null if that was never observed. */
    social_accounts:
      | {
          /** The network, for example `x` or `linkedin`. */
          network: string
          /** More specific than the network, for example `facebook_page`; new values may appear. */
          type: string
          username: string
          url: string
        }[]
      | null
    /** Not kept of the past. */
    redirect_count: null
    /** Not kept of the past. */
    reverse_ip_count: null
  }
  /** Where the domain redirected to. */
  redirects_to: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
  } | null
  /** When what `lookup` and `redirects_to` say of the website was observed; null if nothing was by `at`. */
  website: {
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    since: string
    /** When this was last observed. After `at`: it was observed before and after it. */
    last_seen: string
  } | null
  records: {
    /** The newest records that were first observed by `at`; null if there are none. */
    A: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: ARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    AAAA: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: AAAARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    MX: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: MXRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    TXT: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: TXTRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    NS: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: NSRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    SOA: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: SOARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    CNAME: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: CNAMERecord[]
    } | null
  }
  /** The last records of a name that did not exist (`ip` is `nxdomain`). */
  former_records: {
    /** The newest records that were first observed by `at`; null if there are none. */
    A: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: ARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    AAAA: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: AAAARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    MX: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: MXRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    TXT: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: TXTRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    NS: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: NSRecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    SOA: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: SOARecord[]
    } | null
    /** The newest records that were first observed by `at`; null if there are none. */
    CNAME: {
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      since: string
      /** When they were last observed, without an interruption. After `at`: they were observed before and after it. */
      last_seen: string | null
      records: CNAMERecord[]
    } | null
  } | null
  /** The number of addresses. */
  address_count: number
  /** The first 100 addresses in `records`, in the order of `/reverseip`. */
  addresses: {
    /** An IPv4 or IPv6 address in its shortest form. */
    ip: string
    /** Null if more than 1,000 states would have to be read. */
    since: string | null
    /** Not counted for the past: `/ip/ADDRESS?at=` lists them. */
    neighbours: null
  }[]
  /** The units that this response cost. */
  cost: 1
}

export type WebhistoryResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
    requested: string | null
    /** The number of states; 1,001: more than 1,000. */
    total: number
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    first_seen: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_seen: string
    /** A website is hosted under the domain and it does not redirect elsewhere. */
    has_website: 'yes' | 'no'
    /** The domain redirects from http to https. */
    redirect_to_https: 'yes' | 'no'
    /** The domain redirects to `www.` plus itself. */
    redirect_to_www: 'yes' | 'no'
    /** The domain redirects to a different domain. */
    redirect_to_domain: 'yes' | 'no'
    /** Reachable only as `www.` plus itself: the bare domain does not answer. */
    only_with_www: 'yes' | 'no'
    /** Whether the certificate is valid; `nocert`: the server presented none. */
    ssl: 'valid' | 'nocert' | 'invalid'
    /** The other domain to which it redirects. */
    redirects_to: string | null
    /** The final host of the redirects; null if it is the domain itself or unknown. */
    redirect_host: string | null
  }[]
}

export type CertificatehistoryResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
    requested: string | null
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    first_seen: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_seen: string
    /** The SHA-256 of its bytes in hex. */
    sha256: string
    /** Its issuer as RFC 4514 writes it. */
    issuer: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    not_before: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    not_after: string
    /** Its DNS names in byte order, the first 100. */
    names: string[]
    /** The type of its key, such as `rsa-2048` or `ec-p256`. */
    key: string
  }[]
}

export type NamedcertificatesResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
    requested: string | null
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** The name in the certificate. */
    name: string
    /** The SHA-256 of its bytes in hex. */
    sha256: string
    /** Its issuer as RFC 4514 writes it. */
    issuer: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    not_before: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    not_after: string
    /** The type of its key, such as `rsa-2048` or `ec-p256`. */
    key: string
  }[]
}

export type CertificateResponse = {
  meta: {
    /** The SHA-256 of its bytes in hex. */
    query: string
    certificate: {
      /** The SHA-256 of its bytes in hex. */
      sha256: string
      /** Its issuer as RFC 4514 writes it. */
      issuer: string
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      not_before: string
      /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
      not_after: string
      /** Its DNS names in byte order, the first 100. */
      names: string[]
      /** The type of its key, such as `rsa-2048` or `ec-p256`. */
      key: string
      /** When a certificate log added it; null if no log was read that has it. */
      logged: string | null
    }
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    first_seen: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_seen: string
  }[]
}

export type RedirecthistoryResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** The host that was requested, if nothing is on record for it and the response is about its registrable domain. */
    requested: string | null
    /** The moment; null without `at`. */
    at: string | null
    /** The start of the time; null without `from`. */
    from: string | null
    /** The end of the time; null without `to`. */
    to: string | null
    /** The operator keeps history for a limited time: rows from before this moment may be missing, or begin later than they did. Null if nothing was removed, or if the time asked for begins later. */
    removed_before: string | null
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** The host to which it redirected; its domain if the host is not known. */
    redirect_host: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    first_seen: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_seen: string
  }[]
}

export type IpResponse = {
  /** An IPv4 or IPv6 address in its shortest form. */
  ip: string
  /** The number of domains on the address. */
  count: number
  domains: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    since: string
  }[]
  /** The `next` for `/reverseip`; null if all domains are listed. */
  next: string | null
  /** The units that this response cost. */
  cost: 1
}

export type AddressTimesResponse = {
  meta: {
    /** The address, or the network with its first address. */
    query: string
    /** The moment; null without `at`. */
    at: string | null
    /** The start of the time; null without `from`. */
    from: string | null
    /** The end of the time; null without `to`. */
    to: string | null
    /** The operator keeps history for a limited time: rows from before this moment may be missing, or begin later than they did. Null if nothing was removed, or if the time asked for begins later. */
    removed_before: string | null
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  /** One row for each domain, address and uninterrupted time. A page may be short before the last. */
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    target: string
    /** An IPv4 or IPv6 address in its shortest form. */
    ip: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    first_seen: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_seen: string
  }[]
}

export type SearchResponse = {
  meta: {
    /** The `q` of the request. */
    query: string
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    name: string
    /** The first observation of a record or a website; null: none yet. */
    first_seen: string | null
    /** The newest day on which a zone or a list reported that it was registered; null: none did. */
    registered: string | null
    /** The newest observation of its DNS; null: none yet. */
    observed: string | null
    /** As in `/lookup`; null: not known. */
    ip: string | null
    /** Whether it has a website; null: not observed. */
    has_website: 'yes' | 'no' | null
    /** The other domain to which it redirects. */
    redirects_to: string | null
  }[]
}

export type DayNamesResponse = {
  meta: {
    /** The day of the request. */
    date: string
    /** The `q` of the request. */
    query: string | null
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    name: string
  }[]
}

export type LookalikesResponse = {
  meta: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    query: string
    /** False if so many names have a candidate label that only a part of them was read. */
    complete: boolean
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The cursor of the next page; null on the last page. */
    next: string | null
  }
  result: {
    /** A domain name: lower-case A-labels without a trailing dot. */
    name: string
    /** Why it is listed, the most telling first. */
    reasons: (
      | 'confusable'
      | 'diacritic'
      | 'homoglyph'
      | 'subdomain_merged'
      | 'suffix_merged'
      | 'hyphen'
      | 'dot'
      | 'transposition'
      | 'repetition'
      | 'combined'
      | 'plural'
      | 'keyboard'
      | 'phonetic'
      | 'homoglyphs'
      | 'omission'
      | 'vowel'
      | 'bit_flip'
      | 'insertion'
      | 'replacement'
      | 'distance_2'
      | 'suffix'
      | 'subdomain'
      | 'contains'
    )[]
    /** How easily it is taken for the brand, by its name. */
    score: number
    /** The first observation of a record or a website; null: none yet. */
    first_seen: string | null
    /** The newest day on which a zone or a list reported that it was registered; null: none did. */
    registered: string | null
    /** The newest observation of its DNS; null: none yet. */
    observed: string | null
    /** Whether it has addresses. Null: it was not observed. */
    resolves: 'yes' | 'no' | null
    /** Whether it has mail hosts. Null: it was not observed. */
    mail: 'yes' | 'no' | null
    /** Whether it has a website. Null: it was not observed. */
    website: 'yes' | 'no' | null
    /** The other domain to which it redirects. */
    redirects_to: string | null
    /** The similarity of its start page to the brand's, as in `/similar`; null if one of both is not on record. */
    similarity: number | null
    /** What it has in common with the brand: it then probably belongs to the same owner. */
    shares: ('address' | 'certificate')[]
  }[]
}

export type WatchesResponse = {
  watches: {
    id: number
    /** What the changes have in common. */
    kind:
      | 'name'
      | 'suffix'
      | 'pattern'
      | 'address'
      | 'nameserver'
      | 'mailserver'
      | 'redirect'
      | 'certificate'
      | 'text'
      | 'lookalikes'
    /** In canonical form. */
    value: string
    /** Null for the other kinds. */
    threshold: number | null
    /** Null: all. */
    types: ('new' | 'status' | 'records' | 'website' | 'redirect' | 'certificate' | 'text')[] | null
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    created: string
    /** Since when it matches nothing; null: it matches. */
    muted: string | null
  }[]
  /** The number of watches. One of lookalikes counts as 10. */
  used: number
  /** The maximum number of watches of the plan. */
  max: number
}

export type PreviewResponse = {
  meta: {
    /** What the changes have in common. */
    kind:
      | 'name'
      | 'suffix'
      | 'pattern'
      | 'address'
      | 'nameserver'
      | 'mailserver'
      | 'redirect'
      | 'certificate'
      | 'text'
      | 'lookalikes'
    /** In canonical form. */
    value: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    from: string
    /** The differences that were looked for. */
    types: ('new' | 'status' | 'records' | 'website' | 'redirect' | 'certificate' | 'text')[]
    /** Whether there are no further rows of these types. */
    complete: boolean
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
  }
  result: {
    /** The name that changed; null for a certificate that a log published. */
    name: string | null
    /** When the change was observed; of what disappeared, its last observation; null for a name that a list added. */
    observed_at: string | null
    /** What changed. */
    type: 'new' | 'status' | 'records' | 'website' | 'redirect' | 'certificate' | 'text'
  }[]
}

export type EventsResponse = {
  meta: {
    /** The limit that was applied. */
    limit: number
    /** The highest limit of the plan. */
    max_limit: number
    /** The status code. */
    rcode: 200
    /** The message. */
    msg: 'ok'
    /** The `after` or `before` of the next page; 0 after the oldest event. */
    next: number
  }
  result: {
    /** The number of the event. Later events have higher numbers. */
    id: number
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    time: string
    /** The watch; null: about the account. */
    watch: number | null
    /** The name that changed; null for a certificate that a log published. */
    name: string | null
    /** When the change was observed; null for a name that a list added. */
    observed_at: string | null
    differences: {
      type: 'new' | 'status' | 'records' | 'website' | 'redirect' | 'certificate' | 'text' | 'limit'
    }[]
  }[]
}

export type FeedResponse = {
  /** When the link was created; null: there is none. */
  created: string | null
}

export type DigestResponse = {
  /** How often mail comes, if there are events. */
  period: 'off' | 'hourly' | 'daily'
  /** Where the mail goes: the address of the account. */
  email: string
  /** When the next mail is written, if there are events; null: never. */
  next: string | null
  /** When the last mail was sent; null: there was none. */
  last: string | null
}

export type WebhooksResponse = {
  webhooks: {
    id: number
    /** Where messages are sent. Public, with https:// and without a port, unless the operator allows others. */
    url: string
    /** The IDs of the watches whose events are sent; null: all. */
    watches: number[] | null
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    created: string
    /** `failing`: the last attempt failed. `disabled`: nothing is sent, until a test succeeds. */
    state: 'active' | 'failing' | 'disabled'
    /** The first failed attempt since the last success. */
    failing_since: string | null
    /** Until when nothing is sent, because the receiver is down; null: no pause. */
    next_attempt: string | null
    /** The last attempt that succeeded. */
    last_success: string | null
    /** Why the last failed attempt failed. */
    last_error: string | null
    /** Since when nothing is sent. */
    disabled: string | null
    /** Events that failed and are tried again. */
    waiting: number
    /** Events that failed and are not tried again. */
    dead: number
  }[]
  /** The maximum number of webhooks of the plan. */
  max: number
}

export type DeliveriesResponse = {
  webhook: {
    id: number
    /** Where messages are sent. Public, with https:// and without a port, unless the operator allows others. */
    url: string
    /** The IDs of the watches whose events are sent; null: all. */
    watches: number[] | null
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    created: string
    /** `failing`: the last attempt failed. `disabled`: nothing is sent, until a test succeeds. */
    state: 'active' | 'failing' | 'disabled'
    /** The first failed attempt since the last success. */
    failing_since: string | null
    /** Until when nothing is sent, because the receiver is down; null: no pause. */
    next_attempt: string | null
    /** The last attempt that succeeded. */
    last_success: string | null
    /** Why the last failed attempt failed. */
    last_error: string | null
    /** Since when nothing is sent. */
    disabled: string | null
    /** Events that failed and are tried again. */
    waiting: number
    /** Events that failed and are not tried again. */
    dead: number
  }
  /** Events whose first attempt failed, the newest first, until they are delivered. */
  deliveries: {
    /** The `id` of an event. */
    event: number
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    time: string
    /** `dead`: it is not tried again. */
    state: 'waiting' | 'dead'
    attempts: number
    /** Null: it was too old to be tried. */
    last_attempt: string | null
    /** Null: there is none, because it is dead or the webhook is disabled. */
    next_attempt: string | null
    /** Why the last attempt failed. */
    error: string
  }[]
}

export type WebhookTestResponse = {
  delivered: boolean
  /** Null: no response came. */
  status: number | null
  /** Null if it was delivered. */
  error: string | null
  milliseconds: number
}

export type FilesResponse = {
  files: {
    name: string
    kind:
      | 'daily'
      | 'dropped'
      | 'followup-7'
      | 'followup-30'
      | 'snapshot'
      | 'enriched'
      | 'snapshot-parquet'
      | 'enriched-parquet'
    date: string
    /** Lines, without a header. */
    rows: number
    /** The size of the download. */
    bytes: number
    /** The entity tag of the download. */
    etag: string
    /** An instant, UTC: `YYYY-MM-DDThh:mm:ssZ`. */
    last_modified: string
  }[]
  /** Null on the last page. */
  next: string | null
}

export type QuotaResponse = {
  /** Calls per day; null: no limit. */
  limit: number | null
  /** Calls charged today. */
  used: number
  /** Calls left today; null: no limit. */
  remaining: number | null
  /** When the next day starts, UTC. */
  reset: string
}
