/** Examples of profiles for the OpenAPI document: what the store of docs/example.jsonl answers. */

import { LOOKUP_EXAMPLE } from '../endpoints/examples.ts'

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
