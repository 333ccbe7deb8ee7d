/** Walks: a whole list fetched page by page, as a client does, with the promises of a page looked at on every one. */

import assert from 'node:assert/strict'
import type {
  FactsReader,
  History,
  HistoryState,
  NeighbourPosition,
  NeighbourRow,
  RedirectRow,
  RowFormat,
  RowPage,
} from '../../../src/store/port/store.ts'
import type { RecordType } from '../../../src/values/dns-record.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import type { Instant } from '../../../src/values/time.ts'

/** The rows of a page, however they are handed over. */
function rowsOf<Row, Position>(page: RowPage<Row, RowFormat, Position>): Row[] {
  const isReady = page.rows[0] instanceof Uint8Array
  return isReady ? decoded(page as RowPage<Row, 'json', Position>).rows : structuredClone(page.rows as Row[])
}

/** A page of ready JSON with its rows read. */
export function decoded<Row, Position>({ rows, count, last }: RowPage<Row, 'json', Position>) {
  return { rows: JSON.parse(Buffer.concat(rows).toString()) as Row[], count, last }
}

/** Every row of a list. `fetch` gets the position after which the page begins, `place` says where a row lies. */
async function walk<Row, Position>(
  limit: number,
  place: (row: Row) => Position,
  fetch: (after: Position | null) => Promise<RowPage<Row, RowFormat, Position>>,
): Promise<Row[]> {
  const rows: Row[] = []
  let after: Position | null = null
  do {
    const page: RowPage<Row, RowFormat, Position> = await fetch(after)
    const found = rowsOf(page)
    assert.equal(page.count, found.length, 'count is the number of rows')
    assert.ok(found.length <= limit, `a page of ${limit} has ${found.length} rows`)
    if (page.last !== null) {
      assert.equal(found.length, limit, 'a page that more rows follow is full')
      assert.deepEqual(structuredClone(page.last), place(found.at(-1)!), 'last is the position of the last row')
    }
    rows.push(...found)
    after = page.last
  } while (after !== null)
  return rows
}

export async function walkRedirects(
  facts: FactsReader,
  target: DomainName,
  limit: number,
  as: RowFormat,
): Promise<DomainName[]> {
  const rows = await walk<RedirectRow, DomainName>(
    limit,
    (row) => row.target,
    (after) => facts.redirects(target, after, limit, as),
  )
  return rows.map((row) => row.target)
}

/** The rows of some addresses, or with a name those of the addresses that it has at each page. */
export function walkNeighbours(
  facts: FactsReader,
  of: DomainName | readonly IpAddress[],
  limit: number,
  as: RowFormat,
): Promise<NeighbourRow[]> {
  return walk<NeighbourRow, NeighbourPosition>(
    limit,
    ({ ip, target }) => ({ address: ip, name: target }),
    async (after) => {
      if (typeof of !== 'string') return facts.neighbours(of, null, after, limit, as)
      return facts.neighbours(await facts.addresses(of), of, after, limit, as)
    },
  )
}

export async function walkHistory(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  limit: number,
): Promise<HistoryState[]> {
  const states: HistoryState[] = []
  let before: Instant | null = null
  let more = true
  while (more) {
    const page: History = (await facts.history(name, [type], before, limit))[type]
    assert.ok(page.states.length <= limit, `a page of ${limit} has ${page.states.length} states`)
    if (page.more) assert.equal(page.states.length, limit, 'a page that older states follow is full')
    for (const { first_seen } of page.states) {
      assert.ok(first_seen < (before ?? Number.POSITIVE_INFINITY), 'states are older and older')
      before = first_seen
    }
    states.push(...page.states)
    more = page.more
  }
  return states
}
