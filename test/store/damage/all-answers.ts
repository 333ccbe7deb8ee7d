/** Every response of a store about some names and addresses, as texts, to compare a damaged store with a whole one. */

import { openSimilarityService } from '../../../src/similar/query/similarity-service.ts'
import type { InverseQuery } from '../../../src/store/port/inverse.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { parsePage } from '../conformance/reading/paging.ts'

const ALL = 1_000_000
const PAGE = 1_000

/** `similar`: also /similar. `listed`: also the listing, which sorts new names into the store. */
export type Asked = {
  names: readonly DomainName[]
  addresses: readonly IpAddress[]
  sha256s?: readonly string[]
  similar?: boolean
  listed?: boolean
}

const SPANS: readonly InverseQuery[] = [
  { by: 'addresses', first: '0.0.0.0' as IpAddress, last: '255.255.255.255' as IpAddress },
  { by: 'addresses', first: '::' as IpAddress, last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' as IpAddress },
  { by: 'hosts', host: 'example', match: 'below', types: ['NS', 'MX', 'CNAME', 'SOA'] },
]

/** By question; null if the call fails, to which the API responds with 500. */
export async function allAnswers(
  store: Store,
  { names, addresses, sha256s = [], similar = false, listed = false }: Asked,
) {
  const { facts, inverse, listing } = store
  const answers = new Map<string, string | null>()
  const ask = async (question: string, call: () => Promise<unknown>): Promise<void> => {
    answers.set(question, await call().then(readable, () => null))
  }
  const service = openSimilarityService(store)
  for (const name of names) {
    await ask(`lookup ${name}`, () => facts.lookup(name))
    await ask(`profile ${name}`, () => facts.domainProfile(name, PAGE))
    await ask(`clocks ${name}`, () => facts.clocks(name))
    await ask(`summary ${name}`, () => facts.summaries([name]))
    await ask(`redirects ${name}`, async () => parsePage(await facts.redirects(name, null, ALL)).rows)
    await ask(`history ${name}`, () => facts.history(name, RECORD_TYPES, null, PAGE))
    await ask(`web ${name}`, () => facts.webHistory(name, null, PAGE))
    await ask(`certificates ${name}`, () => facts.certificateHistory(name, null, PAGE))
    for (const type of RECORD_TYPES)
      await ask(`interruptions ${type} ${name}`, () => facts.interruptions(name, type, null, PAGE))
    await ask(`redirected ${name}`, async () => (await inverse.redirects(name, {}, null, PAGE)).spans)
    await ask(`named ${name}`, async () => (await inverse.namedHosts(name, null, PAGE)).hosts)
    if (similar) await ask(`similar ${name}`, () => service.similar(name, 100))
  }
  for (const address of addresses)
    await ask(`neighbours ${address}`, async () => parsePage(await facts.neighbours([address], null, null, ALL)).rows)
  await ask('certificates', () => facts.certificates(sha256s))
  for (const sha256 of sha256s)
    await ask(`presented ${sha256}`, async () => (await inverse.presented(sha256, null, PAGE)).spans)
  for (const [number, query] of SPANS.entries())
    await ask(`spans ${number}`, async () => {
      const found: unknown[] = []
      let position: Uint8Array | null = null
      do {
        const page: Awaited<ReturnType<typeof inverse.spans>> = await inverse.spans(query, {}, position, PAGE)
        found.push(...page.spans.map((span) => readable(span)))
        position = page.position
      } while (position !== null)
      return found.sort()
    })
  await ask(
    'names below example',
    async () => (await inverse.names({ by: 'below', text: 'example' }, null, null, PAGE)).names,
  )
  await ask('names with e', async () => (await inverse.names({ by: 'inside', text: 'xam' }, null, null, PAGE)).names)
  if (listed) await ask('listing', () => rowsOf(listing))
  return answers
}

async function rowsOf(listing: Store['listing']): Promise<string> {
  const started = await listing.start({ signal: new AbortController().signal })
  let text = ''
  try {
    for await (const page of started.rows()) text += Buffer.from(page.text).toString('latin1')
    return text
  } finally {
    await started.close()
  }
}

function readable(value: unknown): string {
  return (
    JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each)) ?? ''
  )
}

/** The questions whose response differs. A call that fails is no wrong response, unless `failing` counts. */
export function wrongAnswers(
  whole: ReadonlyMap<string, string | null>,
  damaged: ReadonlyMap<string, string | null>,
  { failing = false } = {},
): string[] {
  return [...whole].flatMap(([question, answer]) => {
    const other = damaged.get(question) ?? null
    return other === answer || (other === null && !failing) ? [] : [question]
  })
}
