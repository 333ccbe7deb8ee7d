/** The rows that names share: presence on addresses and redirects to targets, each list with its counter. */

import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { addressArray, plainArray } from '../database/arrays.ts'
import { partitionOfAddress, partitionOfName } from '../database/partition.ts'
import type { Session } from '../database/transaction.ts'

type PresenceRow = { part: number; address: IpAddress; name: DomainName; since: string; order: string }
type RedirectMove = { part: number; target: DomainName; source: DomainName; order: string }

// Each statement moves rows and counters: a counter changes by the number of rows that were really written or removed.
// Every writer updates counters in the order of their keys, so that no two wait for each other.
const MOVE_PRESENCE = {
  name: 'presence.move',
  text: `with leaving as (
      delete from presence p using unnest($1::smallint[], $2::bytea[], $3::text[]) as k(part, address, name)
      where p.part = k.part and p.address = k.address and p.name = k.name returning p.part, p.address),
    arriving as (
      insert into presence (part, address, name, since) select * from unnest($4::smallint[], $5::bytea[], $6::text[], $7::text[])
      on conflict do nothing returning part, address),
    moved as (select part, address, -1 as names from leaving union all select part, address, 1 from arriving)
    insert into address_count (part, address, names) select part, address, sum(names) from moved
    group by part, address having sum(names) <> 0 order by part, address
    on conflict (part, address) do update set names = address_count.names + excluded.names`,
}
const DELETE_EMPTY_ADDRESSES = {
  name: 'address-count.delete-empty',
  text: `delete from address_count a using unnest($1::smallint[], $2::bytea[]) as k(part, address)
    where a.part = k.part and a.address = k.address and a.names = 0`,
}
const MOVE_REDIRECTS = {
  name: 'redirect.move',
  text: `with leaving as (
      delete from redirect r using unnest($1::smallint[], $2::text[], $3::text[]) as k(part, target, source)
      where r.part = k.part and r.target = k.target and r.source = k.source returning r.part, r.target),
    arriving as (
      insert into redirect (part, target, source) select * from unnest($4::smallint[], $5::text[], $6::text[])
      on conflict do nothing returning part, target),
    moved as (select part, target, -1 as sources from leaving union all select part, target, 1 from arriving)
    insert into redirect_count (part, target, sources) select part, target, sum(sources) from moved
    group by part, target having sum(sources) <> 0 order by part, target
    on conflict (part, target) do update set sources = redirect_count.sources + excluded.sources`,
}
const DELETE_EMPTY_TARGETS = {
  name: 'redirect-count.delete-empty',
  text: `delete from redirect_count t using unnest($1::smallint[], $2::text[]) as k(part, target)
    where t.part = k.part and t.target = k.target and t.sources = 0`,
}

/** Queues moves and writes them at the end of a transaction. */
export class PostgresSharedRows {
  readonly #leaving: PresenceRow[] = []
  readonly #arriving: PresenceRow[] = []
  readonly #removedRedirects: RedirectMove[] = []
  readonly #addedRedirects: RedirectMove[] = []

  arrive(address: IpAddress, name: DomainName, since: string): void {
    this.#arriving.push(presenceRow(address, name, since))
  }

  leave(address: IpAddress, name: DomainName): void {
    this.#leaving.push(presenceRow(address, name, ''))
  }

  addRedirect(target: DomainName, source: DomainName): void {
    this.#addedRedirects.push({ part: partitionOfName(target), target, source, order: `${target} ${source}` })
  }

  removeRedirect(target: DomainName, source: DomainName): void {
    this.#removedRedirects.push({ part: partitionOfName(target), target, source, order: `${target} ${source}` })
  }

  async write(session: Session): Promise<void> {
    const leaving = presenceColumns(this.#leaving)
    const arriving = presenceColumns(this.#arriving)
    const removed = redirectColumns(this.#removedRedirects)
    const added = redirectColumns(this.#addedRedirects)
    const writes: Promise<number>[] = []
    if (this.#leaving.length + this.#arriving.length > 0)
      writes.push(session.run(MOVE_PRESENCE, [...leaving.slice(0, 3), ...arriving]))
    if (this.#leaving.length > 0) writes.push(session.run(DELETE_EMPTY_ADDRESSES, leaving.slice(0, 2)))
    if (this.#removedRedirects.length + this.#addedRedirects.length > 0)
      writes.push(session.run(MOVE_REDIRECTS, [...removed, ...added]))
    if (this.#removedRedirects.length > 0) writes.push(session.run(DELETE_EMPTY_TARGETS, removed.slice(0, 2)))
    await Promise.all(writes)
  }
}

function presenceRow(address: IpAddress, name: DomainName, since: string): PresenceRow {
  return { part: partitionOfAddress(address), address, name, since, order: `${packToHex(address)} ${name}` }
}

function presenceColumns(rows: PresenceRow[]): string[] {
  rows.sort(compareByKey)
  return [
    plainArray(rows.map(({ part }) => part)),
    addressArray(rows.map(({ address }) => address)),
    plainArray(rows.map(({ name }) => name)),
    plainArray(rows.map(({ since }) => since)),
  ]
}

function redirectColumns(rows: RedirectMove[]): string[] {
  rows.sort(compareByKey)
  return [
    plainArray(rows.map(({ part }) => part)),
    plainArray(rows.map(({ target }) => target)),
    plainArray(rows.map(({ source }) => source)),
  ]
}

function compareByKey(a: PresenceRow | RedirectMove, b: PresenceRow | RedirectMove): number {
  return a.part - b.part || (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)
}
