/** The daily budgets on PostgreSQL: calls of one process written together, exact because each budget's row is locked first. */

import type { Day, Instant } from '../../../words/time.ts'
import { DoubtFault } from '../../fault.ts'
import type { Ask, Purchase, Settlement } from '../../ledger.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'
import { Books, type Budget, type Download, type Hold, type Key, nameOf } from './books.ts'
import { paidOf, writePaid } from './downloads.ts'
import { forfeit, hear, strike } from './roll.ts'

/** A write to budgets that is gathered with others. */
export type Call =
  | { kind: 'take'; ask: Ask }
  | { kind: 'pay'; purchase: Purchase }
  | { kind: 'settle'; settlements: readonly Settlement[] }
  | ({ kind: 'giveBack' } & Key)
  | { kind: 'beat'; holder: string }

const USED = { name: 'budget.used', text: 'select used from budget where account = $1 and day = $2' }
const KEYS = 'unnest($1::integer[], $2::text[]) as k (account, day)'
/** In one order, so that processes wait for each other and never in a circle. */
const LOCK = {
  name: 'budget.lock',
  text: `select b.account, b.day, b.used from ${KEYS} join budget b on b.account = k.account and b.day = k.day
    order by b.account, b.day for update of b`,
}
const OPEN = {
  name: 'budget.open',
  text: `insert into budget (account, day, used) select account, day, 0 from ${KEYS} order by 1, 2 on conflict do nothing`,
}
const HOLDS = {
  name: 'hold.read',
  text: `select h.account, h.day, h.holder, h.units from ${KEYS} join hold h on h.account = k.account and h.day = k.day`,
}
const WRITE = {
  name: 'budget.write',
  text: `with spent as (
      update budget b set used = n.used from unnest($1::integer[], $2::text[], $3::integer[]) as n (account, day, used)
      where b.account = n.account and b.day = n.day),
    held as materialized (
      select * from unnest($4::integer[], $5::text[], $6::text[], $7::integer[]) as n (account, day, holder, units)),
    ended as (
      delete from hold h using held n
      where n.units = 0 and h.account = n.account and h.day = n.day and h.holder = n.holder)
    insert into hold (account, day, holder, units) select account, day, holder, units from held where units > 0
    on conflict (account, day, holder) do update set units = excluded.units`,
}

export function budgetReads({ read }: Pick<Database, 'read'>) {
  return {
    used: async (account: number, day: Day): Promise<number> =>
      (await read<{ used: number }>(USED, [account, day]))[0]?.used ?? 0,
  }
}

/**
 * Writes calls as `writeCalls` does. Where it is not known whether some were written, their holders forfeit with the next
 * ones what they hold: that may cost units, and never gives any.
 */
export function carefulWriter(database: Pick<Database, 'transaction'>) {
  const doubtful = new Set<string>()
  return async (calls: readonly Call[], now: Instant | null): Promise<unknown[]> => {
    if (doubtful.size > 0) {
      await database.transaction((session) => forfeit(session, [...doubtful]))
      doubtful.clear()
    }
    try {
      return await writeCalls(database, calls, now)
    } catch (error) {
      if (error instanceof DoubtFault) for (const holder of calls.flatMap(holdersOf)) doubtful.add(holder)
      throw error
    }
  }
}

/** Writes calls in one transaction, at the time `now` (null: the server's); tells what came of each, in their order. */
async function writeCalls(
  { transaction }: Pick<Database, 'transaction'>,
  calls: readonly Call[],
  now: Instant | null,
): Promise<unknown[]> {
  const first = await transaction((session) => attempt(session, calls, now, true))
  if (first.replies !== null) return first.replies
  await transaction((session) => strike(session, first.gone, now))
  return (await transaction((session) => attempt(session, calls, now, false))).replies!
}

type Attempt = { replies: unknown[] | null; gone: readonly string[] }

/** Where holders are gone and that `matters`, nothing is written but that ours were heard of. */
async function attempt(
  session: Session,
  calls: readonly Call[],
  now: Instant | null,
  matters: boolean,
): Promise<Attempt> {
  const holders = [...new Set(calls.flatMap(holdersOf))]
  const keys = [...new Map(calls.flatMap(keysOf).map((key) => [nameOf(key), key])).values()]
  const wanted = calls.flatMap((call) => (call.kind === 'pay' ? [call.purchase] : []))
  const [others, books] = await Promise.all([hear(session, holders, now), open(session, keys, wanted)])
  if (matters && others.gone.length > 0) return { replies: null, gone: others.gone }
  const live = others.live + holders.length
  const replies = calls.map((call) => reply(books, call, live))
  const { budgets, holds, bought } = books.changes()
  if (budgets.length + holds.length > 0) await session.run(WRITE, [...budgetColumns(budgets), ...holdColumns(holds)])
  await writePaid(session, bought)
  return { replies, gone: [] }
}

function reply(books: Books, call: Call, live: number): unknown {
  if (call.kind === 'take') return books.take(call.ask, live)
  if (call.kind === 'pay') return books.pay(call.purchase)
  if (call.kind === 'giveBack') return books.giveBack(call)
  if (call.kind === 'beat') return live
  for (const settlement of call.settlements) books.settle(settlement)
}

/** Locks the budgets of `keys`, made where they are not there. The statements are sent at once, and see what is before them. */
async function open(session: Session, keys: readonly Key[], wanted: readonly Download[]): Promise<Books> {
  const { rows, run } = session
  if (keys.length === 0) return new Books([], [], [])
  const values = keyColumns(keys)
  const look = () => Promise.all([rows<Budget>(LOCK, values), rows<Hold>(HOLDS, values), paidOf(session, wanted)])
  const looked = await look()
  if (looked[0].length === keys.length) return new Books(...looked)
  const [, again] = await Promise.all([run(OPEN, values), look()])
  return new Books(...again)
}

function holdersOf(call: Call): string[] {
  if (call.kind === 'take') return [call.ask.holder]
  if (call.kind === 'pay') return [call.purchase.holder]
  if (call.kind === 'settle') return call.settlements.map(({ holder }) => holder)
  return call.kind === 'beat' ? [call.holder] : []
}

function keysOf(call: Call): readonly Key[] {
  if (call.kind === 'take') return [call.ask]
  if (call.kind === 'pay') return [call.purchase]
  if (call.kind === 'settle') return call.settlements
  return call.kind === 'giveBack' ? [call] : []
}

function keyColumns(keys: readonly Key[]): unknown[][] {
  return [keys.map(({ account }) => account), keys.map(({ day }) => day)]
}

function budgetColumns(budgets: readonly Budget[]): unknown[][] {
  return [...keyColumns(budgets), budgets.map(({ used }) => used)]
}

function holdColumns(holds: readonly Hold[]): unknown[][] {
  return [...keyColumns(holds), holds.map(({ holder }) => holder), holds.map(({ units }) => units)]
}
