/** The social accounts on a start page. */

import type { StartPage } from '../../probe/probe-result.ts'
import { type DomainName, registrableDomain } from '../../values/domain-name.ts'
import type { SocialAccount } from '../observation.ts'
import { socialAccountAt } from './account-at-url.ts'
import { isBoilerplateAccount } from './site-builders.ts'

const MAX_SOCIAL_ACCOUNTS = 100

/**
 * In page order, each url once, at most 100; left out are what readers wrote (`rel=ugc`), what somebody paid for
 * (`rel=sponsored`), and the accounts of those who make sites for others.
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

/** `@name`, as twitter:site gives it, as the address of that account; an address as it is. */
function urlOfHandle(handle: string): string {
  return /^@?\w{1,15}$/.test(handle) ? `https://x.com/${handle}` : handle
}
