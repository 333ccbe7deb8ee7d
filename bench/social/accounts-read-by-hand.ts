/**
 * What the accounts are that sample pages link and their JSON-LD does not name: each was looked up in its page by hand.
 */

/**
 * `own`: the site's, in another spelling, of another edition or by another name of the same publisher. `author`: of who
 * wrote the article. `other`: of somebody whom the page recommends.
 */
export type Reading = 'own' | 'author' | 'other'

const READ: Record<Reading, string> = {
  own: `
    facebook.com/132221913470408 youtube.com/thrnetwork youtube.com/user/skynews linkedin.com/company/9to5mac.com
    facebook.com/therealdealmedia youtube.com/therealdealmagazinenewyork youtube.com/channel/UCpwvZwUam-URkxB7g4USKpg
    facebook.com/rtvids facebook.com/cbspolitics x.com/cbspolitics x.com/cityam facebook.com/cnbcinternational x.com/cnbci
    linkedin.com/showcase/cnbc-international instagram.com/cnbcinternational youtube.com/c/9to5toys`,
  author: `
    x.com/natashaturak x.com/adamclarkestes x.com/philhelsel x.com/edcara4 x.com/pshanley88 x.com/tomgillespie1
    x.com/trevorjd14 x.com/apollozac x.com/kerisalison`,
  other: `
    facebook.com/foxandthefiddle instagram.com/landesaglobal facebook.com/landesaglobal facebook.com/arrowheadwater
    x.com/arrowheadwater instagram.com/arrowheadwtr`,
}

const READING_OF = new Map(
  Object.entries(READ).flatMap(([reading, text]) =>
    text
      .trim()
      .split(/\s+/)
      .map((url) => [url, reading as Reading] as const),
  ),
)

/** Null for an account that nobody has looked up. */
export function readingOf(url: string): Reading | null {
  return READING_OF.get(url.replace(/^https:\/\/(?:www\.)?/, '')) ?? null
}
