/** The lists of popular domains that `domaindex fetch list` knows by name. */

/**
 * `urls`: the parts of the list, the most popular names first. `column`: the header of the column with the names, null
 * for one name or RANK,NAME per line. `names`: about how many. `terms`: of use, from `source`. `hasToken`: the server
 * requires the token of the user (DOMAINDEX_RADAR_TOKEN).
 */
export type KnownList = {
  urls: readonly string[]
  column: string | null
  names: number
  terms: string
  source: string
  hasToken: boolean
}

/** Cloudflare publishes no order within a part, so the smaller parts come first. */
const RADAR_PARTS = [200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]

export const KNOWN_LISTS: Readonly<Record<string, KnownList>> = {
  tranco: {
    urls: ['https://tranco-list.eu/top-1m.csv.zip'],
    column: null,
    names: 1_000_000,
    terms: 'free; the terms of the lists that it combines apply',
    source: 'https://tranco-list.eu/',
    hasToken: false,
  },
  umbrella: {
    urls: ['https://s3-us-west-1.amazonaws.com/umbrella-static/top-1m.csv.zip'],
    column: null,
    names: 1_000_000,
    terms: 'free of charge; the names are host names, and several of them share a domain',
    source: 'https://s3-us-west-1.amazonaws.com/umbrella-static/index.html',
    hasToken: false,
  },
  majestic: {
    urls: ['https://downloads.majestic.com/majestic_million.csv'],
    column: 'Domain',
    names: 1_000_000,
    terms: 'CC BY 3.0',
    source: 'https://majestic.com/reports/majestic-million',
    hasToken: false,
  },
  radar: {
    urls: RADAR_PARTS.map((size) => `https://api.cloudflare.com/client/v4/radar/datasets/ranking_top_${size}`),
    column: 'domain',
    names: 1_000_000,
    terms: 'CC BY-NC 4.0; a free account at Cloudflare',
    source: 'https://radar.cloudflare.com/domains',
    hasToken: true,
  },
}
