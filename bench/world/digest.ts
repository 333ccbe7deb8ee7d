/** A digest of every response that a store gives: lookups, histories, and the rows of every address and target. */

import { createHash } from 'node:crypto'
import { openStore } from '../../src/store/open.ts'
import type { RowPage, Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { parsePage } from '../../test/store/conformance/reading/paging.ts'
import type { StoreFiles } from './store.ts'

const PAGE = 1000
const STATES = 100

/** Returns the digest of all responses about these names, read page by page. */
export async function digestAnswers({ url }: StoreFiles, names: readonly DomainName[]): Promise<string> {
  const store = await openStore(url, { access: 'read', ledger: 'own', secret: null })
  const hash = createHash('sha256')
  for await (const answer of answers(store, names)) hash.update(`${JSON.stringify(answer)}\n`)
  await store.close()
  return hash.digest('hex')
}

async function* answers({ facts }: Store, names: readonly DomainName[]): AsyncGenerator<unknown> {
  const readAddresses = new Set<string>()
  for (const name of names) {
    yield [name, await facts.lookup(name), await facts.history(name, RECORD_TYPES, null, STATES)]
    const { addresses } = await facts.neighboursOf(name, null, 1)
    yield addresses
    for (const address of addresses) {
      if (readAddresses.has(address)) continue
      readAddresses.add(address)
      yield* readPages((after: { address: typeof address; name: DomainName } | null) =>
        facts.neighbours([address], null, after, PAGE),
      )
    }
    yield* readPages((after: DomainName | null) => facts.redirects(name, after, PAGE))
  }
}

async function* readPages<Position>(
  read: (after: Position | null) => Promise<RowPage<Position>>,
): AsyncGenerator<unknown> {
  let after: Position | null = null
  do {
    const page: RowPage<Position> = await read(after)
    yield parsePage(page).rows
    after = page.last
  } while (after !== null)
}
