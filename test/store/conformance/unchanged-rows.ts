/** The rows that stay while things happen, and the walks that must find each of them once. */

import type { FactsReader } from '../../../src/store/port/store.ts'
import { RECORD_TYPES } from '../../../src/values/dns-record.ts'
import type { Model } from '../model.ts'
import { ADDRESSES, type Event, NAMES, TARGETS } from './arbitraries.ts'
import { walkHistory, walkNeighbours, walkRedirects } from './paging.ts'

/**
 * One walk: how a client takes it, and the rows that it has in the model at one moment. Rows are told apart as texts.
 */
type Walk = {
  of: string
  walk: (facts: FactsReader, limit: number) => Promise<string[]>
  rows: (model: Model) => string[]
}

export const WALKS: readonly Walk[] = [
  ...[...NAMES, ...TARGETS].map((name) => ({
    of: `redirect ${name}`,
    walk: async (facts: FactsReader, limit: number): Promise<string[]> => walkRedirects(facts, name, limit),
    rows: (model: Model): string[] => model.redirects(name),
  })),
  ...NAMES.map((name) => ({
    of: `reverseip ${name}`,
    walk: async (facts: FactsReader, limit: number) => texts(await walkNeighbours(facts, name, limit)),
    rows: (model: Model) => texts(model.neighbours(model.addresses(name), name)),
  })),
  ...ADDRESSES.map((address) => ({
    of: `reverseip ${address}`,
    walk: async (facts: FactsReader, limit: number) => texts(await walkNeighbours(facts, [address], limit)),
    rows: (model: Model) => texts(model.neighbours([address], null)),
  })),
  ...NAMES.flatMap((name) =>
    RECORD_TYPES.map((type) => ({
      of: `dnshistory ${name} ${type}`,
      walk: async (facts: FactsReader, limit: number) => texts(await walkHistory(facts, name, type, limit)),
      rows: (model: Model) => texts(model.history(name, type)),
    })),
  ),
]

function texts(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort()))
}

/**
 * For each walk the rows that are there now and after every event. `happen` lets one happen in the model.
 * A row hangs on one name, or on a name and the one that is asked for: so the order among events of other names is all
 * the same.
 */
export function stayed(model: Model, events: readonly Event[], happen: (event: Event) => void): string[][] {
  let staying = WALKS.map(({ rows }) => rows(model))
  for (const event of events) {
    happen(event)
    staying = staying.map((rows, index) => {
      const now = new Set(WALKS[index]!.rows(model))
      return rows.filter((row) => now.has(row))
    })
  }
  return staying
}
