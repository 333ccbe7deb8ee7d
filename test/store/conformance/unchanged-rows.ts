/** The rows that stay during events, which every listing must return once. */

import type { FactsReader } from '../../../src/store/port/store.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import type { Model } from '../model.ts'
import { ADDRESSES, type Event, NAMES, TARGETS } from './arbitraries.ts'
import { walkHistory, walkNeighbours, walkRedirects } from './reading/paging.ts'

/** One listing: how a client reads it, and its rows in the model at one moment. Rows are compared as texts. */
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
 * Returns for each listing the rows that exist now and after every event. `happen` applies one event to the model.
 * A row depends on one name, or on a name and the queried one. Therefore the order of events of other names does not
 * matter.
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
