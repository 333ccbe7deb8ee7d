/** Examples of responses for the OpenAPI document: what the store of docs/example.jsonl answers. */

export const LOOKUP_EXAMPLE = {
  meta: { query: 'example.com', rcode: 200, msg: 'ok' },
  result: {
    has_website: 'yes',
    redirect_to_https: 'yes',
    redirect_to_www: 'no',
    redirect_to_domain: 'no',
    only_with_www: 'no',
    only_dns_no_web: 'no',
    ssl: 'valid',
    ip: 'both',
    redirect_count: '3',
    reverse_ip_count: '3',
    social_networks: ['linkedin', 'x'],
    social_accounts: [
      { network: 'x', type: 'x', username: 'example', url: 'https://x.com/example' },
      {
        network: 'linkedin',
        type: 'linkedin_company',
        username: 'example',
        url: 'https://www.linkedin.com/company/example',
      },
    ],
  },
}

export const REDIRECT_EXAMPLE = {
  meta: { query: 'example.com', limit: 2, max_limit: 50000, rcode: 200, msg: 'ok', next: null },
  result: [{ target: 'old.example.org' }],
}

export const REVERSEIP_EXAMPLE = {
  meta: {
    query: 'example.com',
    ips: ['198.51.100.7', '2001:db8::7'],
    ip_count: 2,
    limit: 1000,
    max_limit: 50000,
    rcode: 200,
    msg: 'ok',
    next: null,
  },
  result: [
    { target: 'neighbour.example', ip: '198.51.100.7', since: '2024-05-06T07:08:09' },
    { target: 'old.example.org', ip: '198.51.100.7', since: '2026-11-18T10:00:00' },
    { target: 'neighbour.example', ip: '2001:db8::7', since: '2024-05-06T07:08:09' },
  ],
}

export const DNSHISTORY_EXAMPLE = {
  meta: { query: 'example.com', rcode: 200, count: 1, max_limit: 100, limit: 10, totals: { A: 3 } },
  result: { A: [{ first_seen: '2025-03-01T04:20:00', records: [{ ipv4_address: '192.0.2.10' }] }] },
}

export const SIMILAR_EXAMPLE = {
  meta: { query: 'example.com', rcode: 200, msg: 'ok', count: 2, limit: 100, max_limit: 100 },
  result: [
    { target: 'copy.example', similarity: 1.0 },
    { target: 'manual.example', similarity: 0.1922 },
  ],
}

export const SNAPSHOT_EXAMPLE = {
  meta: {
    rcode: 200,
    msg: 'ok',
    generated: '2026-11-20T12:00:00+00:00',
    domains: 8,
    size: 91,
    filename: 'domains-2026-11-20.txt.gz',
    format: 'names',
    enriched_available: false,
  },
  result: [],
}

export const DOMAIN_EXAMPLE = {
  name: 'example.com',
  requested: null,
  observed: { dns: '2026-11-19T03:04:05Z', web: '2026-11-19T03:04:05Z' },
  lookup: LOOKUP_EXAMPLE.result,
  redirects_to: null,
  records: {
    A: { since: '2026-11-19T03:04:05Z', records: [{ ipv4_address: '198.51.100.7' }] },
    AAAA: { since: '2026-11-19T03:04:05Z', records: [{ ipv6_address: '2001:db8::7' }] },
    MX: { since: '2025-03-01T04:20:00Z', records: [{ priority: 10, mail_server: 'mx.example.net' }] },
    TXT: { since: '2025-03-01T04:20:00Z', records: [{ text: 'v=spf1 mx -all', parts: ['v=spf1 mx -all'] }] },
    NS: {
      since: '2025-03-01T04:20:00Z',
      records: [{ nameserver: 'ns1.example.net' }, { nameserver: 'ns2.example.net' }],
    },
    SOA: {
      since: '2025-03-01T04:20:00Z',
      records: [
        {
          primary_nameserver: 'ns1.example.net',
          admin_email: 'hostmaster@example.net',
          serial: 2025030101,
          refresh_seconds: 7200,
          retry_seconds: 3600,
          expire_seconds: 1209600,
          minimum_ttl_seconds: 300,
        },
      ],
    },
    CNAME: null,
  },
  former_records: null,
  address_count: 2,
  addresses: [
    { ip: '198.51.100.7', since: '2025-09-12T04:20:00Z', neighbours: 2 },
    { ip: '2001:db8::7', since: '2026-11-19T03:04:05Z', neighbours: 1 },
  ],
  cost: 1,
}

export const IP_EXAMPLE = {
  ip: '2001:db8::7',
  count: 2,
  domains: [
    { target: 'example.com', since: '2026-11-19T03:04:05Z' },
    { target: 'neighbour.example', since: '2024-05-06T07:08:09Z' },
  ],
  next: null,
  cost: 1,
}
