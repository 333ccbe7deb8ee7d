/** Builds the web facts of a name from the web part of an observation, and compares them. Pure. */

import type { SocialAccount, WebPart } from '../observe/observation.ts'
import { textDigest } from '../similar/text/terms.ts'
import { compareBytewise } from '../values/bytewise-order.ts'
import type { WebFacts } from './crawl-state.ts'

/** Returns whether two web facts differ at most in the redirect host and the text digest. */
export function isSameWebsite(before: WebFacts | null, after: WebFacts | null): boolean {
  if (before === after) return true
  const ignored = { redirect_host: null, digest: null }
  return JSON.stringify({ ...before, ...ignored }) === JSON.stringify({ ...after, ...ignored })
}

/** Returns the web facts of an observed web part. */
export function websiteFromPart(web: WebPart): WebFacts {
  const { has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, ssl, social_accounts } = web
  const { redirect_host } = web
  const social_networks = [...new Set(social_accounts.map(({ network }) => network))].sort(compareBytewise)
  const accounts: SocialAccount[] = social_accounts.map(({ network, type, username, url }) => ({
    network,
    type,
    username,
    url,
  }))
  return {
    has_website,
    redirect_to_https,
    redirect_to_www,
    only_with_www,
    redirects_to,
    ...(redirect_host !== undefined && { redirect_host }),
    ssl,
    social_networks,
    social_accounts: accounts,
    digest: web.text ? textDigest(web.text) : null,
  }
}
