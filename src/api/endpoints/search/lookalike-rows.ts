/** The rows of lookalikes: what is known of each name, and what it has in common with the brand. */

import { OBSERVED_PARTS } from '../../../apply/crawl-state.ts'
import type { Lookalike } from '../../../lookalikes/lookalikes.ts'
import type { NameSummary } from '../../../store/port/store.ts'
import { yieldToEventLoop } from '../../../store/shared/event-loop.ts'
import { presentedFingerprint } from '../../../values/certificate/presented.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { answerJson } from '../answer-json.ts'
import type { EndpointCall } from '../endpoint.ts'
import { instantJson } from '../profiles/moment.ts'

/** What a lookalike and the brand may both have now. */
export const SHARED = ['address', 'certificate'] as const

/** The place of the MX records in the clocks, and the stored text of no records. */
const MX_PART = OBSERVED_PARTS.indexOf('MX')
const NO_RECORDS = '[]'

/** Names whose facts are read at once. */
const NAMES_PER_READ = 100

/** What a brand has: addresses and certificates of its domain and of the host that was asked for. */
type BrandFacts = { addresses: ReadonlySet<string>; certificates: ReadonlySet<string> }

/** Reads the facts of the lookalikes. `brand`: the host that was asked for, and its domain. A forgotten name has no row. */
export async function readLookalikeRows(
  { facts, similarSearch }: EndpointCall,
  brand: readonly DomainName[],
  lookalikes: readonly Lookalike[],
): Promise<string[]> {
  const summariesOfBrand = await facts.summaries(brand)
  const own = factsOfBrand(summariesOfBrand)
  const ownPage = brand[summariesOfBrand.findIndex((each) => each !== null && hasPage(each))]
  const rows: string[] = []
  for (let from = 0; from < lookalikes.length; from += NAMES_PER_READ) {
    const group = lookalikes.slice(from, from + NAMES_PER_READ)
    const names = group.map(({ name }) => name)
    const [summaries, clocks] = [await facts.summaries(names), await facts.partClocks(names)]
    const withPage = names.filter((_, at) => ownPage !== undefined && summaries[at] && hasPage(summaries[at]))
    const similarities = ownPage === undefined ? [] : await similarSearch.similarities(ownPage, withPage)
    const similarityOf = new Map(withPage.map((name, at) => [name, similarities[at]!]))
    for (const [at, lookalike] of group.entries()) {
      const summary = summaries[at] ?? null
      if (summary === null) continue
      const isMailKnown = clocks[at]![MX_PART]! > 0
      rows.push(rowJson(lookalike, { summary, isMailKnown, similarity: similarityOf.get(lookalike.name) ?? null }, own))
    }
    await yieldToEventLoop()
  }
  return rows
}

function hasPage({ facts: { web } }: NameSummary): boolean {
  return web !== null && web.digest !== null
}

function factsOfBrand(summaries: readonly (NameSummary | null)[]): BrandFacts {
  const known = summaries.filter((each) => each !== null)
  return {
    addresses: new Set(known.flatMap(({ facts }) => facts.addresses)),
    certificates: new Set(known.flatMap((each) => certificateOf(each) ?? [])),
  }
}

function certificateOf({ facts: { states } }: NameSummary): string | null {
  return states.certificate === undefined ? null : presentedFingerprint(states.certificate.records)
}

function rowJson(
  { name, reasons, score }: Lookalike,
  { summary, isMailKnown, similarity }: { summary: NameSummary; isMailKnown: boolean; similarity: number | null },
  own: BrandFacts,
): string {
  const { first_seen, registered, dns, facts } = summary
  const { ip, addresses, states, web } = facts
  const certificate = certificateOf(summary)
  const shares = SHARED.filter((each) =>
    each === 'address'
      ? addresses.some((address) => own.addresses.has(address))
      : certificate !== null && own.certificates.has(certificate),
  )
  const mail = isMailKnown ? (states.MX?.records ?? NO_RECORDS) !== NO_RECORDS : null
  const members = [
    `"name":"${name}","reasons":${JSON.stringify(reasons)},"score":${score}`,
    `"first_seen":${instantJson(first_seen)},"registered":${JSON.stringify(registered)},"observed":${instantJson(dns)}`,
    `"resolves":${answerJson(ip === null || ip === 'servfail' ? null : addresses.length > 0)}`,
    `"mail":${answerJson(mail)},"website":${answerJson(web?.has_website ?? null)}`,
    `"redirects_to":${JSON.stringify(web?.redirects_to ?? null)}`,
    `"similarity":${similarity === null ? 'null' : similarity.toFixed(4)},"shares":${JSON.stringify(shares)}`,
  ]
  return `{${members.join()}}`
}
