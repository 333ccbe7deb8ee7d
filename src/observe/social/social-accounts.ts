/** Extracts the social accounts from a start page. */

import type { StartPage } from '../../probe/probe-result.ts'
import { type DomainName, registrableDomain } from '../../values/domain-name.ts'
import { MAX_SOCIAL_ACCOUNTS, type SocialAccount } from '../observation.ts'
import { socialAccountAt } from './account-at-url.ts'
import { isBoilerplateAccount } from './site-builders.ts'

/**
 * Returns the accounts in page order, each URL once, at most MAX_SOCIAL_ACCOUNTS. Leaves out links written by readers (`rel=ugc`), paid
 * links (`rel=sponsored`) and accounts of site builders.
 */
export function socialAccounts(page: StartPage, domain: DomainName): SocialAccount[] {
  const own = registrableDomain(domain)
  const accounts = new Map<string, SocialAccount>()
  for (const link of page.links) {
    if (accounts.size >= MAX_SOCIAL_ACCOUNTS) break
    if (hasToken(link.name, 'ugc') || hasToken(link.name, 'sponsored')) continue
    const target = link.name === 'twitter:site' ? urlOfHandle(link.target) : link.target
    const account = socialAccountAt(target, page.base, hasToken(link.name, 'me'))
    if (account === null || isBoilerplateAccount(account.username, own) || accounts.has(account.url)) continue
    accounts.set(account.url, account)
  }
  return [...accounts.values()]
}

function hasToken(tokens: string, token: string): boolean {
  return tokens !== '' && tokens.split(/\s+/).includes(token)
}

/** Returns the URL of a `@name` from twitter:site. Leaves a URL as it is. */
function urlOfHandle(handle: string): string {
  return /^@?\w{1,15}$/.test(handle) ? `https://x.com/${handle}` : handle
}
