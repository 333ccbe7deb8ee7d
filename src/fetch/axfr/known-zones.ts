/** The zones that their registries hand to everyone by zone transfer, one row each. */

/**
 * `servers`: host names, tried in this order. `key`: the public TSIG key, as in a file of `--tsig-file`; null for none.
 * `names`: about how many delegations. `terms`: of use, from `source`.
 */
type KnownZone = {
  servers: readonly string[]
  key: string | null
  names: number
  terms: string
  source: string
}

const ICANN_SERVERS = ['lax.xfr.dns.icann.org', 'iad.xfr.dns.icann.org']
const ICANN = { servers: ICANN_SERVERS, key: null, terms: 'public', source: 'https://www.dns.icann.org/services/axfr/' }
const SWEDEN = {
  servers: ['zonedata.iis.se'],
  key: null,
  terms: 'CC BY 4.0',
  source: 'https://zonedata.iis.se/',
}
const SWITZERLAND = {
  servers: ['zonedata.switch.ch'],
  terms: 'against cybercrime, for research or other public interest; one transfer a day',
  source: 'https://www.switch.ch/open-data/',
}

/** By zone, in lower case. The registries publish the keys of ch and li, so they are no secrets. */
export const KNOWN_ZONES: Readonly<Record<string, KnownZone>> = {
  ch: {
    ...SWITZERLAND,
    names: 2_500_000,
    key: 'hmac-sha512:tsig-zonedata-ch-public-21-01:stZwEGApYumtXkh73qMLPqfbIDozWKZLkqRvcjKSpRnsor6A6MxixRL6C2HeSVBQNfMW4wer+qjS0ZSfiWiJ3Q==',
  },
  ee: {
    servers: ['zone.internet.ee'],
    key: null,
    names: 160_000,
    terms: 'CC BY 4.0; ask the registry before you share the zone',
    source: 'https://www.internet.ee/domains/ee-zone-file',
  },
  li: {
    ...SWITZERLAND,
    names: 70_000,
    key: 'hmac-sha512:tsig-zonedata-li-public-21-01:t8GgeCn+fhPaj+cRy1epox2Vj4hZ45ax6v3rQCkkfIQNg5fsxuU23QM5mzz+BxJ4kgF/jiQyBDBvL+XWPE6oCQ==',
  },
  nu: { ...SWEDEN, names: 220_000 },
  se: { ...SWEDEN, names: 1_400_000 },
  arpa: { ...ICANN, names: 10 },
}

/**
 * The root is handed out too (`ICANN_SERVERS`), but it delegates top-level domains only, and a top-level domain is no
 * domain name for domaindex.
 */
export const ROOT_ZONE_MESSAGE =
  'the root zone has only top-level domains, which domaindex does not store: name a zone below it'
