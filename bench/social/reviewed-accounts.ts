/**
 * Verdicts on the accounts that sample pages link and their JSON-LD does not name. Each was looked up manually in its
 * page.
 */

/**
 * `own`: the site's, in another spelling, of another edition or under another name of the same publisher. `author`: the
 * account of the author of the article. `other`: an account that the page recommends.
 */
export type ReviewVerdict = 'own' | 'author' | 'other'

const REVIEWED: Record<ReviewVerdict, string> = {
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

const VERDICT_OF = new Map(
  Object.entries(REVIEWED).flatMap(([verdict, text]) =>
    text
      .trim()
      .split(/\s+/)
      .map((url) => [url, verdict as ReviewVerdict] as const),
  ),
)

/** Returns null for an account without a verdict. */
export function reviewVerdict(url: string): ReviewVerdict | null {
  return VERDICT_OF.get(url.replace(/^https:\/\/(?:www\.)?/, '')) ?? null
}
