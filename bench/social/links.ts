/**
 * What becomes of the links that another crawler took for accounts of 6,000 sites, those of site builders among them.
 */

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { socialAccountAt } from '../../src/observe/social/account-at-url.ts'
import { isBoilerplateAccount } from '../../src/observe/social/site-builders.ts'
import { type DomainName, parseName, registrableDomain } from '../../src/values/domain-name.ts'
import { figure, type Line } from '../measure/report.ts'

/** An account on so many domains is of who made them, or of somebody above them. */
const MANY = 5

type Link = { domain: DomainName; address: string }

/** Lines for the table, and the accounts that stand on many domains and passed. */
export function judgeLinks(file: URL): { lines: Line[]; shared: string[] } {
  const links = readLinks(file)
  const counts = { refused: 0, makers: 0 }
  const domains = new Map<string, Set<DomainName>>()
  for (const { domain, address } of links) {
    const account = socialAccountAt(address, `https://${domain}/`)
    if (account === null) counts.refused++
    else if (isBoilerplateAccount(account.username, domain)) counts.makers++
    else domains.set(account.url, (domains.get(account.url) ?? new Set()).add(domain))
  }
  const shared = [...domains].filter(([, { size }]) => size >= MANY).sort((a, b) => b[1].size - a[1].size)
  const sharedLinks = shared.reduce((sum, [, { size }]) => sum + size, 0)
  const lines = [
    figure('site links', links.length, 'of facebook, vk, instagram, ok, youtube and tiktok'),
    figure('site links: of no account', counts.refused, 'sharing, posts, signing in, of other sites, without a name'),
    figure("site links: of a maker's account", counts.makers, 'refused'),
    figure(`site links: passed, on ${MANY} domains or more`, sharedLinks, `of ${shared.length} accounts`),
  ]
  return { lines, shared: shared.map(([url, { size }]) => `shared by ${size} domains: ${url}`) }
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
