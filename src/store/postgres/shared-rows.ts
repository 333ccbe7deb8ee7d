/** The rows that names share, presence on addresses and redirects to targets, each list with its counter. */

import { type Address, packedHex } from '../../words/address.ts'
import type { Name } from '../../words/name.ts'
import { addressArray, plainArray } from './arrays.ts'
import { partOf, partOfAddress } from './part.ts'
import type { Session } from './writer.ts'

type Presence = { part: number; address: Address; name: Name; since: string; order: string }
type Redirect = { part: number; target: Name; source: Name; order: string }

// Each moves rows and counters in one statement: a counter moves by the rows that were really written or removed. Counters are
// written in the order of their keys, by every writer the same, so that none waits for one that waits for it.
const PRESENCE = {
  name: 'presence.move',
  text: `with gone as (
      delete from presence p using unnest($1::smallint[], $2::bytea[], $3::text[]) as k(part, address, name)
      where p.part = k.part and p.address = k.address and p.name = k.name returning p.part, p.address),
    come as (
      insert into presence (part, address, name, since) select * from unnest($4::smallint[], $5::bytea[], $6::text[], $7::text[])
      on conflict do nothing returning part, address),
    moved as (select part, address, -1 as names from gone union all select part, address, 1 from come)
    insert into address (part, address, names) select part, address, sum(names) from moved
    group by part, address having sum(names) <> 0 order by part, address
    on conflict (part, address) do update set names = address.names + excluded.names`,
}
const EMPTY_ADDRESS = {
  name: 'address.empty',
  text: `delete from address a using unnest($1::smallint[], $2::bytea[]) as k(part, address)
    where a.part = k.part and a.address = k.address and a.names = 0`,
}
const REDIRECT = {
  name: 'redirect.move',
  text: `with gone as (
      delete from redirect r using unnest($1::smallint[], $2::text[], $3::text[]) as k(part, target, source)
      where r.part = k.part and r.target = k.target and r.source = k.source returning r.part, r.target),
    come as (
      insert into redirect (part, target, source) select * from unnest($4::smallint[], $5::text[], $6::text[])
      on conflict do nothing returning part, target),
    moved as (select part, target, -1 as sources from gone union all select part, target, 1 from come)
    insert into target (part, target, sources) select part, target, sum(sources) from moved
    group by part, target having sum(sources) <> 0 order by part, target
    on conflict (part, target) do update set sources = target.sources + excluded.sources`,
}
const EMPTY_TARGET = {
  name: 'target.empty',
  text: `delete from target t using unnest($1::smallint[], $2::text[]) as k(part, target)
    where t.part = k.part and t.target = k.target and t.sources = 0`,
}

/** Gathers what moves, and writes it in the end of a transaction. */
export class SharedRows {
  readonly #gone: Presence[] = []
  readonly #come: Presence[] = []
  readonly #ended: Redirect[] = []
  readonly #begun: Redirect[] = []

  arrive(address: Address, name: Name, since: string): void {
    this.#come.push(presence(address, name, since))
  }

  leave(address: Address, name: Name): void {
    this.#gone.push(presence(address, name, ''))
  }

  beginRedirect(target: Name, source: Name): void {
    this.#begun.push({ part: partOf(target), target, source, order: `${target} ${source}` })
  }

  endRedirect(target: Name, source: Name): void {
    this.#ended.push({ part: partOf(target), target, source, order: `${target} ${source}` })
  }

  async write(session: Session): Promise<void> {
    const gone = presenceColumns(this.#gone)
    const come = presenceColumns(this.#come)
    const ended = redirectColumns(this.#ended)
    const begun = redirectColumns(this.#begun)
    const sent: Promise<number>[] = []
    if (this.#gone.length + this.#come.length > 0) sent.push(session.run(PRESENCE, [...gone.slice(0, 3), ...come]))
    if (this.#gone.length > 0) sent.push(session.run(EMPTY_ADDRESS, gone.slice(0, 2)))
    if (this.#ended.length + this.#begun.length > 0) sent.push(session.run(REDIRECT, [...ended, ...begun]))
    if (this.#ended.length > 0) sent.push(session.run(EMPTY_TARGET, ended.slice(0, 2)))
    await Promise.all(sent)
  }
}

function presence(address: Address, name: Name, since: string): Presence {
  return { part: partOfAddress(address), address, name, since, order: `${packedHex(address)} ${name}` }
}

function presenceColumns(rows: Presence[]): string[] {
  rows.sort(inOrder)
  return [
    plainArray(rows.map(({ part }) => part)),
    addressArray(rows.map(({ address }) => address)),
    plainArray(rows.map(({ name }) => name)),
    plainArray(rows.map(({ since }) => since)),
  ]
}

function redirectColumns(rows: Redirect[]): string[] {
  rows.sort(inOrder)
  return [
    plainArray(rows.map(({ part }) => part)),
    plainArray(rows.map(({ target }) => target)),
    plainArray(rows.map(({ source }) => source)),
  ]
}

function inOrder(a: Presence | Redirect, b: Presence | Redirect): number {
  return a.part - b.part || (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)
}
