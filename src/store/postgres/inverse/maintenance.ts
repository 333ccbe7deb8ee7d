/**
 * Maintains the inverse index on PostgreSQL: merges of runs, names of older stores, and erased names. Every write checks
 * its lock in its transaction, which keeps the lock valid.
 */

import { STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { bytesOfBlocks } from '../../../inverse/entries/block.ts'
import { type Certificate, decodeDetails } from '../../../values/certificate/certificate.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type ErasedEntries, wholeEntries, withoutEntries } from '../../inverse/erase.ts'
import { lacksWebState, withWebState } from '../../inverse/first-web-state.ts'
import { formerCertificatesOf, formerKeysOf, hasFormerCertificates } from '../../inverse/former-certificates.ts'
import {
  changesOfName,
  type HistoryRow,
  type InterruptionRow,
  NEWEST_STATES_COLUMNS,
  type NewestStatesRow,
  newestTextsOf,
  type StoredHistory,
} from '../../inverse/name-events.ts'
import { type FillName, KNOWN_NAMES_PER_NAME, RunWriter } from '../../inverse/run-writer.ts'
import type { InverseIndexStore, InverseRun } from '../../port/inverse.ts'
import type { LockHold } from '../../port/jobs.ts'
import { presentedCertificates } from '../../shared/certificates.ts'
import { TOMBSTONE_ID } from '../../shared/columns.ts'
import { type ClockRow, partClocksOf } from '../../shared/lookup.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import { readRuns } from '../database/citus/part-runs.ts'
import type { Database } from '../database/database.ts'
import { PART_VALUES, partitionOfName } from '../database/partition.ts'
import { CRAWL_STATE_OF_KEY, NAME_KEY, type NameKey, rowStatement, runStatement } from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { addCertificates } from '../facts/certificates.ts'
import { blockArrays, fillProgress, insertRun, readSlices, writeRun } from './run.ts'

/** Locks the row, so that no process acquires the lock before the end of the transaction. */
const CHECK_LOCK = {
  name: 'inverse.lock',
  text: `select 1 from named_lock where name = 'inverse' and fence = $1 and holder is not null for share`,
}
export const READ_RUNS = {
  name: 'inverse.runs',
  text: `select number, bytes from inverse_run where state = 'published' order by number`,
}
const READ_ERASURES = {
  name: 'inverse.erasures',
  text: `select value::bigint as count from metadata where name = 'inverse_erasures'`,
}
/** No name is forgotten until the end of the transaction. */
const HOLD_ERASURES = { name: 'inverse.hold-erasures', text: `${READ_ERASURES.text} for share` }
const COUNT_ERASURE = {
  name: 'inverse.count-erasure',
  text: `update metadata set value = (value::bigint + 1)::text where name = 'inverse_erasures'`,
}
const BEGIN_RUN = {
  name: 'inverse.begin',
  text: `with discarded as (update inverse_run set state = 'replaced' where state = 'building' and fence <> $1)
    insert into inverse_run (state, fence, bytes) values ('building', $1, 0) returning number`,
}
const INSERT_BLOCKS = {
  name: 'inverse.blocks',
  text: `with counted as (update inverse_run set bytes = bytes + $2 where number = $1)
    insert into inverse_block (run, last_position, entries) select $1, * from unnest($3::bytea[], $4::bytea[])`,
}
const PUBLISH_RUN = {
  name: 'inverse.publish',
  text: `update inverse_run set state = case when number = $1 then 'published' else 'replaced' end
    where number = $1 or number = any ($2::bigint[])`,
}
/** The rows of `metadata` from which the index is filled, and the tables that it is filled from. */
const FILL_STARTS: readonly [name: string, value: string, table: string][] = [
  ['inverse_fill', '[0,0]', 'facts'],
  ['certificate_fill', '[-32768,""]', 'certificate'],
  ['name_fill', '[0,-1,""]', 'crawl_state'],
]
/** All names and certificates are to be filled in. */
export const START_INVERSE_FILL = `insert into metadata (name, value)
  ${FILL_STARTS.map(([name, value, table]) => `select '${name}', '${value}' where exists (select 1 from ${table} limit 1)`).join(' union all ')}
  on conflict (name) do update set value = excluded.value`
/** The same without a look at the tables, because Citus would send such a write to all shards. */
const RESTART_FILL = {
  name: 'inverse.restart',
  text: `insert into metadata (name, value) select * from unnest($1::text[], $2::text[])
    on conflict (name) do update set value = excluded.value`,
}
const REPLACE_RUNS = { name: 'inverse.replace-runs', text: `update inverse_run set state = 'replaced'` }
/** Blocks that have lost their run get one, so that they are deleted with it. */
const ADD_LOST_RUNS = {
  name: 'inverse.add-lost-runs',
  text: `with recursive used(run) as ((select min(run) from inverse_block) union all
      select (select min(run) from inverse_block where run > used.run) from used where used.run is not null)
    insert into inverse_run (number, state, fence, bytes) overriding system value
      select run, 'replaced', 0, 0 from used where run is not null
    on conflict do nothing`,
}
const READ_REPLACED = {
  name: 'inverse.replaced',
  text: `select number from inverse_run where state = 'replaced' order by number limit 1`,
}
const DELETE_BLOCKS = {
  name: 'inverse.delete-blocks',
  text: `delete from inverse_block where ctid = any (array(
    select ctid from inverse_block where run = $1 order by last_position limit $2))`,
}
/** A name that was forgotten meanwhile may have left other blocks than those that were found. */
const DELETE_RUN = {
  name: 'inverse.delete-run',
  text: 'delete from inverse_run where number = $1 and not exists (select 1 from inverse_block where run = $1)',
}
/** The statements for how far a part of the index is filled in. */
function fillStatements(name: FillName) {
  return {
    read: { name: `inverse.read-${name}`, text: `select value from metadata where name = '${name}' for update` },
    save: { name: `inverse.save-${name}`, text: `update metadata set value = $1 where name = '${name}'` },
    end: { name: `inverse.end-${name}`, text: `delete from metadata where name = '${name}'` },
  }
}
const EVENT_FILL = fillStatements('inverse_fill')
const NAME_FILL = fillStatements('name_fill')
const CERTIFICATE_FILL = fillStatements('certificate_fill')
/** The columns of `HistoryOfName` without the id, of facts `f`. `part`: that of the rows of the name. */
export const historySql = (part: string, inShard: (column: string) => string): string =>
  `${NEWEST_STATES_COLUMNS.map((column) => `f.${column}`)},
      coalesce((select json_agg(json_build_object('type', s.type, 'first_seen', s.first_seen,
          'last_confirmed', s.last_confirmed, 'records', coalesce(s.records, b.records)) order by s.type, s.first_seen)
        from dns_state s left join dns_state b
          on b.part = ${part} and b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen and ${inShard('b.part')}
        where s.part = ${part} and s.id = f.id and ${inShard('s.part')}), '[]')::text as superseded,
      coalesce((select json_agg(json_build_object('type', i.type, 'last_seen', i.last_seen, 'seen_again', i.seen_again))
        from dns_interruption i where i.part = ${part} and i.id = f.id and ${inShard('i.part')}), '[]')::text as interruptions`
/** The names of a partition after an id, with their history. */
const READ_HISTORIES = {
  name: 'inverse.histories',
  text: `select f.id, ${historySql('$1', () => 'true')}
    from facts f where f.part = $1 and f.id > $2 order by f.id limit $3`,
}
/** The stored history of names that have facts, with the version of their crawl states. */
export const READ_HISTORIES_OF = rowStatement<NameKey>(
  'inverse.histories-of',
  NAME_KEY,
  ({ rows, inShard }) =>
    `select f.part, f.id, v.version, ${historySql('f.part', inShard)} from ${rows}
    join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${inShard('v.part')}
    join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}`,
)
/** Keeps the row locked until the end of the transaction. */
const RAISE_VERSION = {
  name: 'inverse.raise-version',
  text: `update crawl_state set version = version + 1 where part = $1 and slot = $2 and name = $3
    returning clock, other_clocks`,
}
/** A name that was written meanwhile keeps its states. Its writer began a state if the website changed. */
const UPDATE_STATES = {
  name: 'inverse.update-states',
  text: 'update facts set states = $3 where part = $1 and id = $2 and states = $4',
}
const UPDATE_STATE = {
  name: 'inverse.update-state',
  text: 'update dns_state set records = $5 where part = $1 and id = $2 and type = $3 and first_seen = $4',
}
type KnownName = { slot: number; name: DomainName }
/** The next known names of a partition after a slot and a name, whether they have facts or not. */
const READ_KNOWN_NAMES = {
  name: 'inverse.known-names',
  text: `select slot, name from crawl_state where part = $1 and (slot, name) > ($2, $3) and id is distinct from ${TOMBSTONE_ID}
    order by slot, name limit $4`,
}
type FilledCertificate = { part: number; sha256: string; details: string }
const READ_CERTIFICATES = runStatement(
  'inverse.certificates',
  3,
  ({ inRun }) =>
    `select part, encode(sha256, 'hex') as sha256, details from certificate
    where (part, sha256) > ($1, $2) and ${inRun('part')} order by part, sha256 limit $3`,
)
/** The first block of each run, also of an unpublished one, that ends at one of the positions or later. */
const FIND_BLOCKS = {
  name: 'inverse.find-blocks',
  text: `select distinct b.run, b.last_position as last, b.entries from unnest($1::bytea[]) k(position)
    cross join inverse_run r
    cross join lateral (select run, last_position, entries from inverse_block
      where run = r.number and last_position >= k.position order by last_position limit 1) b`,
}
const TAKE_BLOCKS = {
  name: 'inverse.take-blocks',
  text: `delete from inverse_block b using unnest($1::bigint[], $2::bytea[]) with ordinality as k(run, last, place)
    where b.run = k.run and b.last_position = k.last returning k.place - 1 as place`,
}
const REPLACE_BLOCKS = {
  name: 'inverse.replace-blocks',
  text: `insert into inverse_block (run, last_position, entries)
    select * from unnest($1::bigint[], $2::bytea[], $3::bytea[])`,
}

export type HistoryOfName = { id: number; superseded: string; interruptions: string } & NewestStatesRow

export function postgresInverseIndex(database: Database): InverseIndexStore {
  const withLock = <Result>({ fence }: LockHold, work: (session: Session) => Promise<Result>): Promise<Result | null> =>
    database.transaction(async (session) =>
      (await session.rows(CHECK_LOCK, [fence])).length === 0 ? null : work(session),
    )
  return {
    runs: () => database.read<InverseRun>(READ_RUNS),
    portion: (runs, from, blocks) =>
      database.snapshot(async (session) => ({
        slices: await readSlices(session, from, blocks, runs),
        erasures: (await session.rows<{ count: number }>(READ_ERASURES))[0]!.count,
      })),
    beginRun: (hold) =>
      withLock(hold, async ({ rows }) => (await rows<{ number: number }>(BEGIN_RUN, [hold.fence]))[0]!.number),
    writeBlocks: (hold, run, blocks, erasures) =>
      withLock(hold, async (session) => {
        const [held] = await session.rows<{ count: number }>(HOLD_ERASURES)
        if (held!.count !== erasures) return false
        await session.run(INSERT_BLOCKS, [run, bytesOfBlocks(blocks), ...blockArrays(blocks)])
        return true
      }),
    publishRun: (hold, run, replaced) =>
      withLock(hold, async (session) => {
        await session.run(PUBLISH_RUN, [run, replaced])
        return true
      }),
    removeReplaced: (hold, limit) => withLock(hold, (session) => removeReplaced(session, limit)),
    restart: (hold) =>
      withLock(hold, async ({ run }) => {
        await run(REPLACE_RUNS)
        await run(ADD_LOST_RUNS)
        await run(RESTART_FILL, [FILL_STARTS.map(([name]) => name), FILL_STARTS.map(([, value]) => value)])
        return true
      }),
    async fill(hold, limit) {
      const shards = await database.shards()
      return withLock(hold, async (session) => {
        await fillCertificates(session, shards, limit)
        const [row] = await session.rows<{ value: string }>(EVENT_FILL.read)
        if (row !== undefined) await fillNames(session, shards, row.value, limit)
        else await fillKnownNames(session, KNOWN_NAMES_PER_NAME * limit)
        return fillProgress(session.rows)
      })
    },
  }
}

/** Deletes blocks of replaced runs, and each run after its last block. Returns true if more are left. */
async function removeReplaced({ rows, run }: Session, limit: number): Promise<boolean> {
  let left = limit
  for (;;) {
    const [row] = await rows<{ number: number }>(READ_REPLACED)
    if (row === undefined) return false
    left -= await run(DELETE_BLOCKS, [row.number, left])
    if (left <= 0) return true
    await run(DELETE_RUN, [row.number])
  }
}

/** Adds the names of the next certificates of a copied store. */
async function fillCertificates(session: Session, shards: Shards, limit: number): Promise<void> {
  const [fill] = await session.rows<{ value: string }>(CERTIFICATE_FILL.read)
  if (fill === undefined) return
  await session.rows(HOLD_ERASURES)
  const [part, sha256] = JSON.parse(fill.value) as [number, string]
  const rows = await readRuns(shards, part, limit, (run, left) =>
    session.rows<FilledCertificate>(READ_CERTIFICATES, [part, Buffer.from(sha256, 'hex'), left, ...run]),
  )
  const writer = new RunWriter()
  for (const { sha256, details } of rows) writer.addCertificate(decodeDetails(sha256, details))
  await insertRun(session, writer.finish())
  const last = rows.length < limit ? undefined : rows.at(-1)
  if (last === undefined) await session.run(CERTIFICATE_FILL.end)
  else await session.run(CERTIFICATE_FILL.save, [JSON.stringify([last.part, last.sha256])])
}

/** Adds the next names of a partition, the next one that has some. */
async function fillNames(session: Session, shards: Shards, fill: string, limit: number): Promise<void> {
  let [part, id] = JSON.parse(fill) as [number, number]
  await session.rows(HOLD_ERASURES)
  const read = () => session.rows<HistoryOfName>(READ_HISTORIES, [PART_VALUES[part], id, limit])
  let rows = await read()
  for (; rows.length === 0 && part < PART_VALUES.length - 1; rows = await read()) [part, id] = [part + 1, 0]
  const lacking = rows.filter(lacksWebState)
  if (lacking.length > 0) {
    await Promise.all(lacking.map((row) => beginWebState(session, PART_VALUES[part]!, row)))
    rows = await read()
  }
  const writer = new RunWriter()
  const histories = rows.map(storedHistoryOf)
  const former = rows.filter((_, index) => hasFormerCertificates(histories[index]!))
  if (former.length > 0) {
    const certificates: Certificate[] = []
    for (const row of former) certificates.push(...(await moveCertificates(session, PART_VALUES[part]!, row)))
    for (const each of await addCertificates(session, shards, presentedCertificates(certificates)))
      writer.addCertificate(each)
  }
  for (const history of histories) writer.addChanges(history.name, changesOfName(history))
  await insertRun(session, writer.finish())
  const next = rows.length < limit ? [part + 1, 0] : [part, rows.at(-1)!.id]
  if (next[0] === PART_VALUES.length) await session.run(EVENT_FILL.end)
  else await session.run(EVENT_FILL.save, [JSON.stringify(next)])
}

/** Adds the keys of the next known names of a partition, the next one that has some. */
async function fillKnownNames(session: Session, limit: number): Promise<void> {
  const [fill] = await session.rows<{ value: string }>(NAME_FILL.read)
  if (fill === undefined) return
  await session.rows(HOLD_ERASURES)
  let [part, ...after] = JSON.parse(fill.value) as [number, number, string]
  const read = () => session.rows<KnownName>(READ_KNOWN_NAMES, [PART_VALUES[part], ...after, limit])
  let rows = await read()
  for (; rows.length === 0 && part < PART_VALUES.length - 1; rows = await read()) [part, ...after] = [part + 1, -1, '']
  await writeRun(session, { names: rows.map(({ name }) => name) })
  const last = rows.length < limit ? undefined : rows.at(-1)
  const next = last === undefined ? [part + 1, -1, ''] : [part, last.slot, last.name]
  if (next[0] === PART_VALUES.length) await session.run(NAME_FILL.end)
  else await session.run(NAME_FILL.save, [JSON.stringify(next)])
}

/**
 * Moves the certificates of a name out of its states, and returns them. Writers of the name read again. The name is read
 * once more behind the lock of its version, because it may have been written meanwhile.
 */
async function moveCertificates(session: Session, part: number, { id, name }: HistoryOfName): Promise<Certificate[]> {
  await session.rows(RAISE_VERSION, [partitionOfName(name), slotOf(name), name])
  const row = await readHistory(session, part, id)
  if (row === null) return []
  const history = storedHistoryOf(row)
  if (!hasFormerCertificates(history)) return []
  const former = formerCertificatesOf(history, row.states)
  await session.run(UPDATE_STATES, [part, id, former.states, row.states])
  for (const { first_seen, records } of former.superseded)
    await session.run(UPDATE_STATE, [part, id, STATE_TYPE_NUMBERS.certificate, first_seen, records])
  await eraseEntries(session, wholeEntries(formerKeysOf(history)))
  return former.certificates
}

/** Begins a state for a website that an older release stored. Writers of the name read again. */
async function beginWebState(session: Session, part: number, row: HistoryOfName): Promise<void> {
  const key = [partitionOfName(row.name), slotOf(row.name), row.name]
  const [clocks] = await session.rows<ClockRow>(RAISE_VERSION, key)
  const states = withWebState(row, partClocksOf(clocks))
  if (states !== null) await session.run(UPDATE_STATES, [part, row.id, states, row.states])
}

/** The stored history of a name. */
export function storedHistoryOf({ superseded, interruptions, ...row }: Omit<HistoryOfName, 'id'>): StoredHistory {
  return {
    name: row.name,
    states: newestTextsOf(row),
    superseded: JSON.parse(superseded) as HistoryRow[],
    interruptions: JSON.parse(interruptions) as InterruptionRow[],
  }
}

/** The stored history of a name; null without facts. */
export async function readHistory({ rows }: Session, part: number, id: number): Promise<HistoryOfName | null> {
  const [row] = await rows<HistoryOfName>(READ_HISTORIES, [part, id - 1, 1])
  return row?.id === id ? row : null
}

/**
 * Erases entries from all runs, also from those that a merge is building. A merge that has read some of
 * them and not written them yet finds that entries were erased.
 */
export async function eraseEntries(session: Session, erased: ErasedEntries): Promise<void> {
  await session.run(COUNT_ERASURE)
  let positions = [...erased.keys()].map((key) => Buffer.from(key, 'latin1'))
  while (positions.length > 0) {
    type Found = { run: number; last: Uint8Array; entries: Uint8Array }
    const found = await session.rows<Found>(FIND_BLOCKS, [bytesArray(positions)])
    const changed = found.flatMap(({ run, last, entries }) => {
      const remaining = withoutEntries(entries, erased)
      return remaining === null ? [] : [{ run, last, remaining }]
    })
    // a run may have been removed meanwhile with its blocks
    const keys = [plainArray(changed.map(({ run }) => run)), bytesArray(changed.map(({ last }) => last))]
    const taken = changed.length === 0 ? [] : await session.rows<{ place: number }>(TAKE_BLOCKS, keys)
    const replaced = taken.flatMap(({ place }) =>
      changed[place]!.remaining.map((block) => ({ ...changed[place]!, block })),
    )
    if (replaced.length > 0) {
      const runs = plainArray(replaced.map(({ run }) => run))
      await session.run(REPLACE_BLOCKS, [runs, ...blockArrays(replaced.map(({ block }) => block))])
    }
    // the last entry of a block may continue in the next one
    positions = changed.map(({ last }) => Buffer.concat([last, Buffer.of(0)]))
  }
}
