/**
 * Classifies the links that another crawler considered accounts of 6,000 sites, including accounts of site builders.
 */

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { socialAccountAt } from '../../src/observe/social/account-at-url.ts'
import { isBoilerplateAccount } from '../../src/observe/social/site-builders.ts'
import { type DomainName, parseName, registrableDomain } from '../../src/values/domain-name.ts'
import { type Metric, metric } from '../measure/report.ts'

/** An account on this many domains belongs to their site builder or to a parent organization. */
const MANY_DOMAINS = 5

type Link = { domain: DomainName; address: string }

/** Returns the metrics, and the accepted accounts that occur on many domains. */
export function judgeLinks(file: URL): { metrics: Metric[]; shared: string[] } {
  const links = readLinks(file)
  const counts = { rejected: 0, builders: 0 }
  const domains = new Map<string, Set<DomainName>>()
  for (const { domain, address } of links) {
    const account = socialAccountAt(address, `https://${domain}/`)
    if (account === null) counts.rejected++
    else if (isBoilerplateAccount(account.username, domain)) counts.builders++
    else domains.set(account.url, (domains.get(account.url) ?? new Set()).add(domain))
  }
  const shared = [...domains].filter(([, { size }]) => size >= MANY_DOMAINS).sort((a, b) => b[1].size - a[1].size)
  const sharedLinks = shared.reduce((sum, [, { size }]) => sum + size, 0)
  const metrics = [
    metric('site links', links.length, 'of facebook, vk, instagram, ok, youtube and tiktok'),
    metric('site links: of no account', counts.rejected, 'sharing, posts, sign-in, other sites, without a name'),
    metric("site links: of a site builder's account", counts.builders, 'rejected'),
    metric(`site links: passed, on ${MANY_DOMAINS} domains or more`, sharedLinks, `of ${shared.length} accounts`),
  ]
  return { metrics, shared: shared.map(([url, { size }]) => `shared by ${size} domains: ${url}`) }
}

function readLinks(file: URL): Link[] {
  const [, ...rows] = gunzipSync(readFileSync(file)).toString().split(/\r?\n/)
  return rows.flatMap((row) => {
    const [site = '', ...cells] = row.split(',')
    const domain = parseName(URL.parse(site)?.hostname ?? '')
    const addresses = cells.filter((cell) => cell !== '')
    return domain === null ? [] : addresses.map((address) => ({ domain: registrableDomain(domain), address }))
  })
}
