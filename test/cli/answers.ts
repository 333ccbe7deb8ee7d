/** Everything that a store returns about names, for comparison with another store. */

import type { Store } from '../../src/store/port/store.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { checkAll } from '../store/check-all.ts'
import { parsePage } from '../store/conformance/reading/paging.ts'

const ALL = 1_000_000

export async function answersOf({ facts }: Store, names: readonly string[]): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const text of names) answers.set(text, await answerOf(facts, parseName(text)!))
  return answers
}

async function answerOf(facts: Store['facts'], name: DomainName): Promise<unknown> {
  return {
    lookup: await facts.lookup(name),
    clocks: await facts.clocks(name),
    redirects: parsePage(await facts.redirects(name, null, ALL)).rows,
    neighbours: parsePage((await facts.neighboursOf(name, null, ALL)).page).rows,
    history: await facts.history(name, RECORD_TYPES, null, ALL),
  }
}

/** Returns the faults that `check` finds in a whole store. */
export async function faultsOf(store: Store): Promise<unknown[]> {
  return (await checkAll(store)).faults
}
