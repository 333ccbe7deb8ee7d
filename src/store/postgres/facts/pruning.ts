/**
 * Removes old history on PostgreSQL: the superseded states of names, and what follows from them alone. Each statement
 * names the partition of one name.
 */

import { withSerial } from '../../../apply/dns-state.ts'
import { namedHostKeys } from '../../../inverse/entries/value-key.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import {
  countPruned,
  newestCutoffs,
  type PrunedHistory,
  prunedHistory,
  stateLimits,
} from '../../inverse/pruned-history.ts'
import { RunWriter } from '../../inverse/run-writer.ts'
import { type FactsPruning, PRUNED_UNTIL, type PruneCandidates, type StateCutoffs } from '../../port/retention.ts'
import { TOMBSTONE_ID } from '../../shared/columns.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { crawlStateKey, PART_VALUES } from '../database/partition.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { eraseEntries, readHistory, storedHistoryOf } from '../inverse/maintenance.ts'
import { insertRun } from '../inverse/run.ts'
import { removeStates } from './certificates.ts'

/** Locks the row, so that no process acquires the lock before the end of the transaction. */
const CHECK_LOCK = {
  name: 'prune.lock',
  text: `select 1 from named_lock where name = 'prune' and fence = $1 and holder is not null for share`,
}
const READ_END = {
  name: 'prune.end',
  text: `select max(id) as id, count(*) as ids
    from (select distinct id from dns_state where part = $1 and id > $2 order by id limit $3) as next`,
}
const FIND_CANDIDATES = {
  name: 'prune.candidates',
  text: `select distinct f.name from unnest($4::smallint[], $5::bigint[]) as c(type, cutoff)
    join dns_state s on s.part = $1 and s.id > $2 and s.id <= $3 and s.type = c.type and s.last_confirmed < c.cutoff
    join facts f on f.part = $1 and f.id = s.id`,
}
const READ_ID = {
  name: 'prune.id',
  text: `select id from crawl_state where part = $1 and slot = $2 and name = $3 and id > ${TOMBSTONE_ID}`,
}
/** From here on no other transaction writes the name. Its version is incremented, so that a late write is rejected. */
const TAKE_NAME = {
  name: 'prune.take',
  text: `update crawl_state set version = version + 1
    where part = $1 and slot = $2 and name = $3 and id > ${TOMBSTONE_ID} returning id`,
}
const UPDATE_FACTS = { name: 'prune.facts', text: 'update facts set states = $3 where part = $1 and id = $2' }
const DELETE_STATES = {
  name: 'prune.states',
  text: 'delete from dns_state where part = $1 and id = $2 and type = $3 and first_seen < $4',
}
const DELETE_INTERRUPTIONS = {
  name: 'prune.interruptions',
  text: 'delete from dns_interruption where part = $1 and id = $2 and type = $3 and seen_again <= $4',
}
const DELETE_ADDRESSES = {
  name: 'prune.addresses',
  text: 'delete from address_first_seen where part = $1 and id = $2 and address = any ($3::bytea[])',
}
const READ_SERIAL = {
  name: 'prune.serial',
  text: `select serial from dns_state where part = $1 and id = $2 and type = $3 and first_seen = $4
    and base_first_seen is not null`,
}
const COMPLETE_STATE = {
  name: 'prune.complete-state',
  text: `update dns_state set records = $5, serial = null, base_first_seen = null
    where part = $1 and id = $2 and type = $3 and first_seen = $4`,
}
const UPDATE_BASES = {
  name: 'prune.bases',
  text: `update dns_state set base_first_seen = $4
    where part = $1 and id = $2 and type = $3 and first_seen > $4 and base_first_seen < $4`,
}

export const READ_CUTOFFS = {
  name: 'prune.read-cutoffs',
  text: `select value from metadata where name = '${PRUNED_UNTIL}'`,
}
const SAVE_CUTOFFS = {
  name: 'prune.save-cutoffs',
  text: `insert into metadata (name, value) values ('${PRUNED_UNTIL}', $1)
    on conflict (name) do update set value = excluded.value`,
}

type Prunable = { name: DomainName; part: number; id: number; pruned: PrunedHistory }

export function postgresPruning(database: Database): FactsPruning {
  return {
    candidates: (cutoffs, after, limit) => findCandidates(database, cutoffs, after, limit),
    prunable: (names, cutoffs) =>
      database.snapshot(async (session) => countPruned(await findPrunable(session, READ_ID, names, cutoffs))),
    async prune({ fence }, names, cutoffs) {
      const shards = await database.shards()
      // a name whose states all stay is not locked
      const affected = await database.snapshot((session) => findPrunable(session, READ_ID, names, cutoffs))
      return database.transaction(async (session) => {
        if ((await session.rows(CHECK_LOCK, [fence])).length === 0) return null
        const taken = affected.map(({ name }) => name).sort(compareNames)
        const found = await findPrunable(session, TAKE_NAME, taken, cutoffs)
        await removeHistory(session, shards, found)
        if (found.length > 0) await saveCutoffs(session, cutoffs)
        return countPruned(found)
      })
    },
    releaseSpace: async () => false, // autovacuum
  }
}

async function saveCutoffs({ rows, run }: Session, cutoffs: StateCutoffs): Promise<void> {
  const [row] = await rows<{ value: string }>(READ_CUTOFFS)
  await run(SAVE_CUTOFFS, [JSON.stringify(newestCutoffs(row?.value, cutoffs))])
}

/** The order in which writers take names. */
function compareNames(a: DomainName, b: DomainName): number {
  return slotOf(a) - slotOf(b) || (a < b ? -1 : 1)
}

/** Searches names of one partition. The position is the index of the partition and the last id. */
async function findCandidates(
  { read }: Pick<Database, 'read'>,
  cutoffs: StateCutoffs,
  after: string | null,
  limit: number,
): Promise<PruneCandidates> {
  const [index, id] = after === null ? [0, 0] : (JSON.parse(after) as [number, number])
  const part = PART_VALUES[index]!
  const [end] = await read<{ id: number | null; ids: number }>(READ_END, [part, id, limit])
  const limits = stateLimits(cutoffs)
  const arrays = [plainArray(limits.map(([type]) => type)), plainArray(limits.map(([, cutoff]) => cutoff))]
  const rows = end!.id === null ? [] : await read<{ name: DomainName }>(FIND_CANDIDATES, [part, id, end!.id, ...arrays])
  const next = end!.ids < limit ? [index + 1, 0] : [index, end!.id]
  return {
    names: rows.map(({ name }) => name),
    next: next[0] === PART_VALUES.length ? null : JSON.stringify(next),
    share: next[0]! / PART_VALUES.length,
  }
}

/** `select`: the statement that returns the id of a name. The statements are sent in the order of the names. */
async function findPrunable(
  session: Session,
  select: typeof READ_ID,
  names: readonly DomainName[],
  cutoffs: StateCutoffs,
): Promise<Prunable[]> {
  const found = names.map(async (name): Promise<Prunable | null> => {
    const [part, ...key] = crawlStateKey(name)
    const [row] = await session.rows<{ id: number }>(select, [part, ...key])
    const facts = row && (await readHistory(session, part, row.id))
    const pruned = facts && prunedHistory(storedHistoryOf(facts), facts.states, cutoffs)
    return pruned ? { name, part, id: row.id, pruned } : null
  })
  return (await Promise.all(found)).filter((each) => each !== null)
}

/** Erases entries of the inverse index at once for all names. */
async function removeHistory(session: Session, shards: Shards, found: readonly Prunable[]): Promise<void> {
  await Promise.all(found.map((each) => removeRows(session, each)))
  const erased = new Map<string, ReadonlySet<number> | null>()
  const writer = new RunWriter()
  for (const { name, pruned } of found) {
    for (const [key, events] of pruned.erased) erased.set(key, events)
    writer.addEntries(name, pruned.added)
  }
  const certificates = found.flatMap(({ pruned }) => pruned.certificates)
  for (const each of await removeStates(session, shards, certificates))
    for (const key of namedHostKeys(each)) erased.set(key, null)
  if (erased.size > 0) await eraseEntries(session, erased)
  await insertRun(session, writer.finish())
}

async function removeRows(session: Session, { part, id, pruned }: Prunable): Promise<void> {
  const { oldest, addresses, states } = pruned
  await Promise.all([
    ...oldest.flatMap(({ type, first_seen }) => [
      session.run(DELETE_STATES, [part, id, type, first_seen]),
      session.run(DELETE_INTERRUPTIONS, [part, id, type, first_seen]),
    ]),
    ...(addresses.length === 0
      ? []
      : [session.run(DELETE_ADDRESSES, [part, id, bytesArray(addresses.map(packAddress))])]),
    session.run(UPDATE_FACTS, [part, id, states]),
  ])
  for (const { type, first_seen, records } of oldest)
    if (records !== null) await rebaseStates(session, [part, id, type, first_seen], records)
}

/** Gives states with a serial alone another base: the oldest state that stays, which has `key`. */
async function rebaseStates(session: Session, key: readonly number[], records: string): Promise<void> {
  const [row] = await session.rows<{ serial: number }>(READ_SERIAL, key)
  if (row === undefined) return
  await session.run(COMPLETE_STATE, [...key, withSerial(records, row.serial)])
  await session.run(UPDATE_BASES, key)
}
