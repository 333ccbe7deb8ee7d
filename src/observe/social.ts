/** The social accounts on a start page. */

import type { Page } from '../crawl/visit.ts'
import { type Name, registrable } from '../words/name.ts'
import type { SocialAccount } from './observation.ts'
import { accountAt } from './social-address.ts'
import { isMakers } from './social-makers.ts'

const MOST_ACCOUNTS = 100

/**
 * In page order, each url once, at most 100; left out are what readers wrote (`rel=ugc`), what somebody paid for
 * (`rel=sponsored`), and the accounts of those who make sites for others.
 */
export function socialAccounts(page: Page, domain: Name): SocialAccount[] {
  const own = registrable(domain)
  const accounts = new Map<string, SocialAccount>()
  for (const link of page.links) {
    if (accounts.size >= MOST_ACCOUNTS) break
    if (hasWord(link.name, 'ugc') || hasWord(link.name, 'sponsored')) continue
    const target = link.name === 'twitter:site' ? fromHandle(link.target) : link.target
    const account = accountAt(target, page.base, hasWord(link.name, 'me'))
    if (account === null || isMakers(account.username, own) || accounts.has(account.url)) continue
    accounts.set(account.url, account)
  }
  return [...accounts.values()]
}

function hasWord(words: string, word: string): boolean {
  return words !== '' && words.split(/\s+/).includes(word)
}

/** `@name`, as twitter:site gives it, as the address of that account; an address as it is. */
function fromHandle(handle: string): string {
  return /^@?\w{1,15}$/.test(handle) ? `https://x.com/${handle}` : handle
}
