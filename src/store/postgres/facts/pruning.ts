/**
 * Removes old history on PostgreSQL: the superseded states of names, and what follows from them alone. Each statement is
 * for all names of a shard.
 */

import { withSerial } from '../../../apply/dns-state.ts'
import { namedHostKeys } from '../../../inverse/entries/value-key.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
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
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { PART_VALUES } from '../database/partition.ts'
import {
  CRAWL_STATE_OF_KEY,
  matchRows,
  NAME_KEY,
  type NameKey,
  type RowSql,
  readForRows,
  rowStatement,
  runForRows,
  updateStatement,
} from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { eraseEntries, type HistoryOfName, READ_HISTORIES_OF, storedHistoryOf } from '../inverse/maintenance.ts'
import { insertRun } from '../inverse/run.ts'
import { removeStates } from './certificates.ts'
import { keyOfName } from './observations.ts'

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
/**
 * From here on no other transaction writes the names. Their versions rise, so that a late write is rejected. `version`:
 * the one before.
 */
const TAKE_NAMES = rowStatement<NameKey>(
  'prune.take',
  NAME_KEY,
  ({ rows, inShard }) =>
    `update crawl_state v set version = v.version + 1 from ${rows}
    where ${CRAWL_STATE_OF_KEY} and v.id > ${TOMBSTONE_ID} and ${inShard('v.part')} returning v.name, v.version - 1 as version`,
)
/** The states of a type of a name from a time on. */
type StatesFrom = { part: number; id: number; type: number; first_seen: Instant }
const STATES_FROM = { part: 'smallint', id: 'bigint', type: 'smallint', first_seen: 'bigint' } as const
const OF_TYPE = 't.part = k.part and t.id = k.id and t.type = k.type'
const forStatesFrom = (name: string, textOf: (sql: RowSql) => string) =>
  rowStatement<StatesFrom>(name, STATES_FROM, textOf)
const DELETE_STATES = forStatesFrom(
  'prune.states',
  ({ rows, inShard }) =>
    `delete from dns_state t using ${rows} where ${OF_TYPE} and t.first_seen < k.first_seen and ${inShard('t.part')}`,
)
const DELETE_INTERRUPTIONS = forStatesFrom(
  'prune.interruptions',
  ({ rows, inShard }) =>
    `delete from dns_interruption t using ${rows}
    where ${OF_TYPE} and t.seen_again <= k.first_seen and ${inShard('t.part')}`,
)
const READ_SERIALS = forStatesFrom(
  'prune.serials',
  ({ numberedRows, inShard }) =>
    `select k.position, t.serial from ${numberedRows}
    join dns_state t on ${OF_TYPE} and t.first_seen = k.first_seen and ${inShard('t.part')}
    where t.base_first_seen is not null`,
)
const COMPLETE_STATES = rowStatement<StatesFrom & { records: string }>(
  'prune.complete-states',
  { ...STATES_FROM, records: 'text' },
  ({ rows, inShard }) =>
    `update dns_state t set records = k.records, serial = null, base_first_seen = null
    from ${rows} where ${OF_TYPE} and t.first_seen = k.first_seen and ${inShard('t.part')}`,
)
const UPDATE_BASES = forStatesFrom(
  'prune.bases',
  ({ rows, inShard }) =>
    `update dns_state t set base_first_seen = k.first_seen
    from ${rows} where ${OF_TYPE} and t.first_seen > k.first_seen and t.base_first_seen < k.first_seen and ${inShard('t.part')}`,
)
type AddressOfName = { part: number; id: number; address: Uint8Array }
const DELETE_ADDRESSES = rowStatement<AddressOfName>(
  'prune.addresses',
  { part: 'smallint', id: 'bigint', address: 'bytes' },
  ({ rows, inShard }) =>
    `delete from address_first_seen t using ${rows}
    where t.part = k.part and t.id = k.id and t.address = k.address and ${inShard('t.part')}`,
)
type StatesOfName = { part: number; id: number; states: string }
const UPDATE_FACTS = updateStatement<StatesOfName>(
  'prune.facts',
  'facts',
  { part: 'smallint', id: 'bigint', states: 'text' },
  ['part', 'id'],
)

export const READ_CUTOFFS = {
  name: 'prune.read-cutoffs',
  text: `select value from metadata where name = '${PRUNED_UNTIL}'`,
}
const SAVE_CUTOFFS = {
  name: 'prune.save-cutoffs',
  text: `insert into metadata (name, value) values ('${PRUNED_UNTIL}', $1)
    on conflict (name) do update set value = excluded.value`,
}

/** `version`: that of the crawl state when the history was read. */
type Prunable = { name: DomainName; part: number; id: number; version: number; pruned: PrunedHistory }

export function postgresPruning(database: Database): FactsPruning {
  const findSnapshot = async (names: readonly DomainName[], cutoffs: StateCutoffs): Promise<Prunable[]> => {
    const shards = await database.shards()
    return database.snapshot((session) => findPrunable(session, shards, names, cutoffs))
  }
  return {
    candidates: (cutoffs, after, limit) => findCandidates(database, cutoffs, after, limit),
    namesPerTransaction: 250, // a writer waits only if it writes one of them
    prunable: async (names, cutoffs) => countPruned(await findSnapshot(names, cutoffs)),
    async prune({ fence }, names, cutoffs) {
      const shards = await database.shards()
      // a name whose states all stay is not locked
      const affected = await findSnapshot(names, cutoffs)
      return database.transaction(async (session) => {
        if ((await session.rows(CHECK_LOCK, [fence])).length === 0) return null
        const found = await takeNames(session, shards, affected, cutoffs)
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

/**
 * Searches one partition after another until it has read `limit` names with superseded states. The position is the index
 * of the partition and the last id.
 */
async function findCandidates(
  { read }: Pick<Database, 'read'>,
  cutoffs: StateCutoffs,
  after: string | null,
  limit: number,
): Promise<PruneCandidates> {
  let [index, id] = after === null ? [0, 0] : (JSON.parse(after) as [number, number])
  const limits = stateLimits(cutoffs)
  const arrays = [plainArray(limits.map(([type]) => type)), plainArray(limits.map(([, cutoff]) => cutoff))]
  const names: DomainName[] = []
  for (let left = limit; left > 0 && index < PART_VALUES.length; ) {
    const part = PART_VALUES[index]!
    const [end] = await read<{ id: number | null; ids: number }>(READ_END, [part, id, left])
    if (end!.id !== null) {
      const rows = await read<{ name: DomainName }>(FIND_CANDIDATES, [part, id, end!.id, ...arrays])
      names.push(...rows.map(({ name }) => name))
    }
    ;[index, id] = end!.ids < left ? [index + 1, 0] : [index, end!.id!]
    left -= end!.ids
  }
  const isEnd = index === PART_VALUES.length
  return { names, next: isEnd ? null : JSON.stringify([index, id]), share: index / PART_VALUES.length }
}

/** Locks the names. A history that was written since it was read is read again. */
async function takeNames(
  session: Session,
  shards: Shards,
  affected: readonly Prunable[],
  cutoffs: StateCutoffs,
): Promise<Prunable[]> {
  type Taken = { name: DomainName; version: number }
  const keys = affected
    .map(({ name }) => name)
    .sort(compareNames)
    .map(keyOfName)
  const taken = await readForRows<Taken, NameKey>(session.rows, shards, TAKE_NAMES, keys)
  const versions = new Map(taken.map(({ name, version }) => [name, version]))
  const same = affected.filter(({ name, version }) => versions.get(name) === version)
  const written = affected.filter(({ name, version }) => versions.has(name) && versions.get(name) !== version)
  const names = written.map(({ name }) => name)
  return names.length === 0 ? same : [...same, ...(await findPrunable(session, shards, names, cutoffs))]
}

async function findPrunable(
  session: Session,
  shards: Shards,
  names: readonly DomainName[],
  cutoffs: StateCutoffs,
): Promise<Prunable[]> {
  type Row = HistoryOfName & { part: number; version: number }
  const rows = await readForRows<Row, NameKey>(session.rows, shards, READ_HISTORIES_OF, names.map(keyOfName))
  return rows.flatMap(({ part, version, ...facts }) => {
    const pruned = prunedHistory(storedHistoryOf(facts), facts.states, cutoffs)
    return pruned ? [{ name: facts.name, part, id: facts.id, version, pruned }] : []
  })
}

/** Erases entries of the inverse index at once for all names. */
async function removeHistory(session: Session, shards: Shards, found: readonly Prunable[]): Promise<void> {
  if (found.length === 0) return
  await removeRows(session, shards, found)
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

async function removeRows({ rows, run }: Session, shards: Shards, found: readonly Prunable[]): Promise<void> {
  const oldest = found.flatMap(({ part, id, pruned }) => pruned.oldest.map((state) => ({ ...state, part, id })))
  const addresses = found.flatMap(({ part, id, pruned }) =>
    pruned.addresses.map((address) => ({ part, id, address: packAddress(address) })),
  )
  const facts = found.map(({ part, id, pruned }) => ({ part, id, states: pruned.states }))
  // newest states have their records themselves
  const superseded = oldest.flatMap(({ records, ...state }) => (records === null ? [] : { ...state, records }))
  type Serial = { position: number; serial: number }
  const [serials] = await Promise.all([
    matchRows<Serial, StatesFrom & { records: string }>(rows, shards, READ_SERIALS, superseded),
    runForRows(run, shards, DELETE_STATES, oldest),
    runForRows(run, shards, DELETE_INTERRUPTIONS, oldest),
    runForRows(run, shards, DELETE_ADDRESSES, addresses),
    runForRows(run, shards, UPDATE_FACTS, facts),
  ])
  // the oldest state that stays is the base of those with a serial alone
  const completed = serials.map(({ row, result }) => ({ ...row, records: withSerial(row.records, result.serial) }))
  await runForRows(run, shards, COMPLETE_STATES, completed)
  await runForRows(run, shards, UPDATE_BASES, completed)
}
