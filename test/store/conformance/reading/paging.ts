/** Reads a whole list page by page, as a client does, and checks every page. */

import assert from 'node:assert/strict'
import type { Interruption } from '../../../../src/apply/change.ts'
import type {
  FactsReader,
  History,
  NeighbourPosition,
  NeighbourRow,
  PastState,
  RedirectRow,
  RowPage,
  StatePage,
} from '../../../../src/store/port/store.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../../src/values/ip-address.ts'
import type { RecordType } from '../../../../src/values/records/dns-record.ts'
import type { Instant } from '../../../../src/values/time.ts'

/** A page with its rows parsed. */
export function parsePage<Row, Position>({ rows, count, last }: RowPage<Position>) {
  return { rows: JSON.parse(rows.map(String).join('')) as Row[], count, last }
}

/**
 * Returns every row of a list. `fetch` receives the position before the page, and `place` returns the position of a
 * row.
 */
async function walk<Row, Position>(
  limit: number,
  place: (row: Row) => Position,
  fetch: (after: Position | null) => Promise<RowPage<Position>>,
): Promise<Row[]> {
  const rows: Row[] = []
  let after: Position | null = null
  do {
    const page: RowPage<Position> = await fetch(after)
    const found = parsePage<Row, Position>(page).rows
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

export async function walkRedirects(facts: FactsReader, target: DomainName, limit: number): Promise<DomainName[]> {
  const rows = await walk<RedirectRow, DomainName>(
    limit,
    (row) => row.target,
    (after) => facts.redirects(target, after, limit),
  )
  return rows.map((row) => row.target)
}

export async function addressesOf(facts: FactsReader, name: DomainName): Promise<IpAddress[]> {
  return (await facts.neighboursOf(name, null, 1)).addresses
}

/** Returns the rows of some addresses, or those of a name's addresses at the time of each page. */
export function walkNeighbours(
  facts: FactsReader,
  of: DomainName | readonly IpAddress[],
  limit: number,
): Promise<NeighbourRow[]> {
  return walk<NeighbourRow, NeighbourPosition>(
    limit,
    ({ ip, target }) => ({ address: ip, name: target }),
    async (after) => {
      if (typeof of !== 'string') return facts.neighbours(of, null, after, limit)
      return (await facts.neighboursOf(of, after, limit)).page
    },
  )
}

export async function walkHistory(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  limit: number,
): Promise<PastState[]> {
  const states: PastState[] = []
  let before: Instant | null = null
  let more = true
  while (more) {
    const page: History = (await facts.history(name, [type], before, limit)).byType[type]
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

export async function walkInterruptions(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  limit: number,
): Promise<Interruption[]> {
  const found: Interruption[] = []
  for (let isFull = true; isFull; ) {
    const page = await facts.interruptions(name, type, found.at(-1)?.seen_again ?? null, limit)
    assert.ok(page.length <= limit, `a page of ${limit} has ${page.length} interruptions`)
    found.push(...structuredClone(page))
    isFull = page.length === limit
  }
  return found
}

/** All states of the website or the certificate of a name. `read`: a page of those that began before an instant. */
export async function walkStates<State extends { first_seen: Instant }>(
  facts: FactsReader,
  name: DomainName,
  read: (before: Instant | null) => Promise<StatePage<State>>,
): Promise<{ states: State[]; total: number }> {
  const found: State[] = []
  let page: StatePage<State>
  do {
    page = await read(found.at(-1)?.first_seen ?? null)
    found.push(...structuredClone(page.states))
    const { dns, web } = page.lastObserved
    if (page.total > 0 || dns !== null || web !== null) assert.deepEqual(page.lastObserved, await facts.clocks(name))
  } while (page.more)
  return { states: found, total: page.total }
}
