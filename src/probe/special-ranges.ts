/**
 * Address ranges that the crawler must not probe. They are the IANA special-purpose address registries of IPv4 and IPv6
 * as of 2025-10-09, and what the IANA address space registries exclude from global unicast.
 */

/**
 * RFC 6890: https://www.iana.org/assignments/iana-ipv4-special-registry. Includes its globally reachable rows (AS112,
 * PCP and TURN anycast), because no website is there.
 */
export const SPECIAL_IPV4_RANGES = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private use
  '100.64.0.0/10', // shared address space
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private use
  '192.0.0.0/24', // IETF protocol assignments, including DS-Lite, PCP, TURN, NAT64 discovery and the dummy address
  '192.0.2.0/24', // documentation (TEST-NET-1)
  '192.31.196.0/24', // AS112-v4
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relay anycast, deprecated, and 6a44 relay anycast
  '192.168.0.0/16', // private use
  '192.175.48.0/24', // direct delegation AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation (TEST-NET-2)
  '203.0.113.0/24', // documentation (TEST-NET-3)
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved, including the limited broadcast
] as const

/**
 * RFC 6890: https://www.iana.org/assignments/iana-ipv6-special-registry, and everything outside global unicast,
 * 2000::/3 (https://www.iana.org/assignments/ipv6-address-space). That is loopback, unspecified, mapped,
 * IPv4-compatible, NAT64, discard-only, segment routing, unique-local, link-local, site-local and multicast. For
 * 64:ff9b::/96, the embedded address counts.
 */
export const SPECIAL_IPV6_RANGES = [
  '::/3',
  '2001::/23', // IETF protocol assignments, including Teredo, PCP, TURN, benchmarking, AMT, AS112-v6, ORCHID, DRIP
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // direct delegation AS112
  '3ffe::/16', // 6bone, returned (RFC 3701)
  '3fff::/20', // documentation (RFC 9637)
  '4000::/2',
  '8000::/1',
] as const

/**
 * Ranges that no setting allows: link-local, the metadata addresses of clouds (AWS, Google, Alibaba, Azure), this
 * network, multicast and broadcast. Also the unspecified addresses, which mean the machine itself, and the operator's
 * NAT64 (RFC 8215), which can embed an address at several offsets.
 */
export const NEVER_ALLOWED_RANGES = [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '64:ff9b:1::/48',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fe80::/10',
  'ff00::/8',
] as const
