/** The frontier on PostgreSQL: reads what is known of a batch of names, and writes the changes behind the version gate. */

import type { Change } from '../../apply/change.ts'
import { NOTHING_KNOWN } from '../../apply/known.ts'
import { type Name, rangeOf, slotOf } from '../../words/name.ts'
import { type FactsRow, packClocks, unpackFacts, unpackVisit, type VisitRow } from '../columns.ts'
import type { Lease } from '../schedule.ts'
import type { Frontier, Saved } from '../store.ts'
import { bytesArray, plainArray } from './arrays.ts'
import type { Database } from './database.ts'
import { type Known, writeFacts } from './facts-writer.ts'
import { forget } from './forget.ts'
import { idsOf } from './ids.ts'
import type { Session } from './writer.ts'

/** The columns of `facts` that are unpacked, of a row `f`. */
export const FACTS_COLUMNS = `f.status, f.ip, f.flags, f.ssl, f.redirects_to, f.networks, f.accounts, f.digest, f.states, f.redirect_host,
  (select json_agg(encode(a, 'hex')) from unnest(f.addresses) a)::text as addresses`

const KEYS = 'unnest($1::integer[], $2::text[]) as k(slot, name)'
const OF_KEY = 'v.part = (k.slot >> 8)::smallint and v.slot = k.slot and v.name = k.name'
const VISITS = {
  name: 'frontier.visits',
  text: `select v.name, v.id, v.version, v.clock, v.late, v.dns_print, v.web_print, v.due, v.failures from ${KEYS} join visit v on ${OF_KEY}`,
}
const CURRENTS = {
  name: 'frontier.currents',
  text: `select v.name, ${FACTS_COLUMNS} from ${KEYS} join visit v on ${OF_KEY}
    join facts f on f.part = v.part and f.id = v.id`,
}
const GIVEN = `unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::smallint[])
  with ordinality as k(slot, name, version, id, clock, late, dns_print, web_print, due, failures, place)`
const INSERT = {
  name: 'frontier.insert',
  text: `with made as (
      insert into visit (part, slot, name, id, version, clock, late, dns_print, web_print, due, failures)
      select (slot >> 8)::smallint, slot, name, id, version + 1, clock, late, dns_print, web_print, due, failures from ${GIVEN}
      on conflict do nothing returning slot, name, id)
    select name, id from made`,
}
/** A name that has no id gets the one that is offered. */
const UPDATE = {
  name: 'frontier.update',
  text: `update visit v set version = v.version + 1, id = coalesce(v.id, k.id), clock = k.clock, late = k.late,
      dns_print = k.dns_print, web_print = k.web_print, due = k.due, failures = k.failures
    from ${GIVEN} where ${OF_KEY} and v.version = k.version returning v.name, v.id`,
}

const STANDING = {
  name: 'frontier.standing',
  text: `select l.slots from unnest($1::smallint[], $2::bigint[]) as k(slots, fence)
    join lease l on l.slots = k.slots and l.fence = k.fence and l.holder is not null order by l.slots for key share of l`,
}

type Named<Row> = Row & { name: Name }
/** A change and the id that its name gets where it has none; null where none is needed. */
type Offer = { change: Change; id: number | null }

export function frontierOf(database: Database): Frontier {
  const { read, transaction } = database
  const takeIds = idsOf(read)
  return {
    async visits(names) {
      const rows = await read<Named<VisitRow>>(VISITS, keysOf(names))
      const found = new Map(rows.map((row) => [row.name, row]))
      return names.map((name) => unpackVisit(name, found.get(name)))
    },
    async currents(names) {
      const rows = await read<Named<FactsRow>>(CURRENTS, keysOf(names))
      const found = new Map(rows.map((row) => [row.name, unpackFacts(row.name, row)]))
      return names.map((name) => found.get(name) ?? NOTHING_KNOWN)
    },
    async save(changes, leases) {
      const written = changes.filter(({ facts }) => facts !== null).length
      const ids = await takeIds(written)
      const offers = changes.map((change) => ({ change, id: change.facts ? ids.pop()! : null }))
      return transaction((session) => save(session, offers, leases))
    },
    forget: (name) => transaction((session) => forget(session, name)),
  }
}

function keysOf(names: readonly Name[]): string[] {
  return [plainArray(names.map(slotOf)), plainArray(names)]
}

/** Writes each change whose lease and version still stand, and returns the names of the others. */
async function save(session: Session, given: readonly Offer[], leases?: readonly Lease[]): Promise<Saved> {
  const held = leases && (await heldRanges(session, leases))
  const lost = given.filter(({ change }) => held && !held.has(rangeOf(change.visit.name)))
  const offers = lost.length === 0 ? given : given.filter((offer) => !lost.includes(offer))
  const sorted = offers.toSorted(inOrder)
  const passed = new Map<Name, number | null>()
  const made = sorted.filter(({ change }) => change.visit.version === 0)
  const known = sorted.filter(({ change }) => change.visit.version > 0)
  for (const [statement, some] of [[INSERT, made] as const, [UPDATE, known] as const]) {
    if (some.length === 0) continue
    const rows = await session.rows<{ name: Name; id: number | null }>(statement, valuesOf(some))
    for (const { name, id } of rows) passed.set(name, id)
  }
  const written = sorted.flatMap(({ change: { visit, facts }, id: offered }): Known[] => {
    const id = passed.get(visit.name)
    return facts && id ? [{ name: visit.name, id, isNew: id === offered, facts }] : []
  })
  await writeFacts(session, written)
  const again = offers.map(({ change }) => change.visit.name).filter((name) => !passed.has(name))
  return { again, lost: lost.map(({ change }) => change.visit.name) }
}

/** The ranges whose leases stand; they stand until the transaction has ended. */
async function heldRanges(session: Session, leases: readonly Lease[]): Promise<Set<number>> {
  const values = [plainArray(leases.map(({ range }) => range)), plainArray(leases.map(({ fence }) => fence))]
  return new Set((await session.rows<{ slots: number }>(STANDING, values)).map(({ slots }) => slots))
}

/** One order for all writers, so that none waits for a name that one who waits for it has. */
function inOrder({ change: { visit: a } }: Offer, { change: { visit: b } }: Offer): number {
  return slotOf(a.name) - slotOf(b.name) || (a.name < b.name ? -1 : 1)
}

function valuesOf(offers: readonly Offer[]): string[] {
  const visits = offers.map(({ change }) => change.visit)
  const clocks = visits.map((visit) => packClocks(visit.clocks))
  return [
    ...keysOf(visits.map(({ name }) => name)),
    plainArray(visits.map(({ version }) => version)),
    plainArray(offers.map(({ id }) => id)),
    plainArray(clocks.map(({ clock }) => clock)),
    bytesArray(clocks.map(({ late }) => late)),
    plainArray(visits.map(({ dnsPrint }) => dnsPrint)),
    plainArray(visits.map(({ webPrint }) => webPrint)),
    plainArray(visits.map(({ due }) => due)),
    plainArray(visits.map(({ failures }) => failures)),
  ]
}
