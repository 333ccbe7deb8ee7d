/** Checks the inverse index: runs, blocks with the owners of their entries, and the entries of each name. */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import {
  blockStart,
  blocksPerSlice,
  checkBlocks,
  checkKnownNameKeys,
  checkNames,
  checkRuns,
} from '../../../inverse/check.ts'
import { certificateFillOf, certificatesPerSlice, checkCertificates } from '../../../inverse/check-certificates.ts'
import {
  type CheckedBlock,
  type CheckedCertificate,
  type CheckedOwner,
  type FoundBlock,
  type FoundState,
  type InverseCheck,
  type InverseCheckRequest,
  namesPerSlice,
  SLICE_GROWTH,
  type StateRequest,
} from '../../../inverse/check-entries.ts'
import { NEWEST_STATES_COLUMNS } from '../../../inverse/name-events.ts'
import type { InverseRun } from '../../../port/inverse.ts'
import { CHECKSUM_COLUMNS, matchesChecksum } from '../../../shared/check/checksum.ts'
import { hexOf } from '../../../shared/check/rows.ts'
import { type CheckSlice, checkSlice } from '../../../shared/check/slice.ts'
import { TOMBSTONE_ID } from '../../../shared/columns.ts'
import { PUBLISHED_RUNS_SQL, sliceReader } from '../../inverse/inverse.ts'
import { type KnownName, type NameRow, NEXT_NAMES_SQL, storedHistoryReader } from '../../inverse/maintenance.ts'

type BlockRow = { run: number; last_position: Uint8Array; entries: Uint8Array; checksum: number; state: string | null }

/** Every run has a known state. */
export function checkInverseRuns(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [-1] : (JSON.parse(after) as [number])
  const rows = database
    .prepare('select number, state from inverse_run where number > ? order by number limit ?')
    .all(from, limit)
  return checkRuns(rows as { number: number; state: string }[], limit)
}

/** Every block is intact and in order, and its entries belong to names whose histories have them. */
export function checkInverseBlocks(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const newest = database.prepare('select max(run) as run from inverse_block').get()!.run as number | null
  const { bound, run, position } = blockStart(after, newest ?? 0)
  const rows = database
    .prepare(
      `select b.run, b.last_position, b.entries, b.checksum, r.state
       from inverse_block b left join inverse_run r on r.number = b.run
       where (b.run, b.last_position) >= (?, ?) and b.run <= ? order by b.run, b.last_position limit ?`,
    )
    .all(run, position, bound, blocksPerSlice(limit) + 1) as BlockRow[]
  const blocks = rows.map(
    (row): CheckedBlock => ({
      run: row.run,
      last: row.last_position,
      entries: row.entries,
      state: row.state,
      isIntact: matchesChecksum(CHECKSUM_COLUMNS.inverse_block, row, (column) => row[column as keyof BlockRow]),
    }),
  )
  return answered(database, checkBlocks(blocks, after, bound))
}

/** The index has every entry of the names that are filled in. */
export function checkInverseNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [-1] : (JSON.parse(after) as [number])
  const runs = publishedRuns(database)
  const rows = database
    .prepare(`select id, ${NEWEST_STATES_COLUMNS} from facts where id > ? order by id limit ?`)
    .all(from, namesPerSlice(limit, SLICE_GROWTH.histories, runs)) as NameRow[]
  const fill = database.prepare(`select value from metadata where name = 'inverse_fill'`).get()
  const [filled, last] = fill === undefined ? [0, 0] : (JSON.parse(fill.value as string) as [number, number])
  const isFilled = ({ id }: NameRow): boolean => id <= filled || id > last
  const faults = answered(database, checkNames(historiesOf(database, rows.filter(isFilled)), limit))
  const lastRow = rows.at(-1)
  return checkSlice(faults, rows.length, lastRow && JSON.stringify([lastRow.id]))
}

/** Every known name that is filled in is found by each of its keys. */
export function checkKeysOfNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const from = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const runs = publishedRuns(database)
  const rows = database
    .prepare(NEXT_NAMES_SQL)
    .all(...from, namesPerSlice(limit, SLICE_GROWTH.names, runs)) as KnownName[]
  const fill = database.prepare(`select value from metadata where name = 'name_fill'`).get()
  const [slot, name] =
    fill === undefined ? [Number.POSITIVE_INFINITY, ''] : (JSON.parse(fill.value as string) as [number, string])
  const filled = rows.filter((row) => row.slot < slot || (row.slot === slot && row.name <= name))
  const names = filled.map((row) => row.name)
  const faults = answered(database, checkKnownNameKeys(names, limit))
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.slot, last.name]))
}

function publishedRuns(database: DatabaseSync): InverseRun[] {
  return database.prepare(PUBLISHED_RUNS_SQL).all() as InverseRun[]
}

function namesWhere(database: DatabaseSync, names: readonly DomainName[], condition: string): { name: DomainName }[] {
  const select = database.prepare(`select name from crawl_state where slot = ? and name = ? and ${condition}`)
  return names.flatMap((name) => (select.get(slotOf(name), name) as { name: DomainName } | undefined) ?? [])
}

/** Skips names whose facts cannot be read, which the check of facts reports. */
function historiesOf(database: DatabaseSync, rows: readonly NameRow[]) {
  const historyOf = storedHistoryReader(database)
  return rows.flatMap((row) => {
    try {
      return [historyOf(row)]
    } catch (error) {
      if (error instanceof SyntaxError) return []
      throw error
    }
  })
}

export function answered<Result>(database: DatabaseSync, check: InverseCheck<Result>): Result {
  let step = check.next([])
  while (!step.done) step = check.next(answerTo(database, step.value))
  return step.value
}

function answerTo(database: DatabaseSync, request: InverseCheckRequest) {
  if (request.needs === 'runs') return publishedRuns(database)
  if (request.needs === 'blocks') return foundBlocks(database, request.runs, request.positions)
  if (request.needs === 'slice') return sliceReader(database)([request.run], request.from, request.blocks)
  if (request.needs === 'certificates') return certificatesOf(database, request.sha256s)
  if (request.needs === 'states') return statesOf(database, request.states)
  if (request.needs === 'known') return namesWhere(database, request.names, `id is not ${TOMBSTONE_ID}`)
  if (request.needs === 'forgotten') return namesWhere(database, request.names, `id = ${TOMBSTONE_ID}`)
  const rows = factsOf(database, request.names)
  return request.needs === 'owners' ? rows : historiesOf(database, rows)
}

/** Every certificate is used, and found by its names. */
export function checkCertificatesSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [''] : (JSON.parse(after) as [string])
  const rows = database
    .prepare('select * from certificate where sha256 > ? order by sha256 limit ?')
    .all(Buffer.from(from, 'hex'), certificatesPerSlice(limit)) as CertificateRow[]
  const isIntact = (row: CertificateRow): boolean =>
    matchesChecksum(CHECKSUM_COLUMNS.certificate, row, (column) => row[column as keyof CertificateRow])
  const checked = rows.map(
    (row): CheckedCertificate => ({
      ...row,
      sha256: hexOf(row.sha256),
      problem: isIntact(row) ? null : 'does not match its checksum',
    }),
  )
  const fills = database.prepare(`select name from metadata where name in ('inverse_fill', 'certificate_fill')`).all()
  const faults = answered(database, checkCertificates(checked, certificateFillOf(fills)))
  const last = checked.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.sha256]))
}

type CertificateRow = Omit<CheckedCertificate, 'sha256' | 'problem'> & { sha256: Uint8Array; checksum: number | null }

function certificatesOf(database: DatabaseSync, sha256s: readonly string[]): CheckedCertificate[] {
  const select = database.prepare('select * from certificate where sha256 = ?')
  return sha256s.flatMap((sha256) => {
    const row = select.get(Buffer.from(sha256, 'hex')) as CertificateRow | undefined
    return row === undefined ? [] : [{ ...row, sha256 }]
  })
}

function statesOf(database: DatabaseSync, states: readonly StateRequest[]): FoundState[] {
  const select = database.prepare(
    `select coalesce(s.records, b.records) as records from crawl_state v
       join dns_state s on s.id = v.id and s.type = ? and s.first_seen <= ?
       left join dns_state b on b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen
     where v.slot = ? and v.name = ? order by s.first_seen desc limit 1`,
  )
  return states.flatMap((state) => {
    const row = select.get(state.type, state.at, slotOf(state.name), state.name) as { records: string } | undefined
    return row === undefined ? [] : [{ ...state, records: row.records }]
  })
}

function factsOf(database: DatabaseSync, names: readonly DomainName[]): (NameRow & CheckedOwner)[] {
  const facts = database.prepare(
    `select f.id, ${NEWEST_STATES_COLUMNS.map((column) => `f.${column}`)}
     from crawl_state v join facts f on f.id = v.id where v.slot = ? and v.name = ?`,
  )
  return names.flatMap((name) => (facts.get(slotOf(name), name) as (NameRow & CheckedOwner) | undefined) ?? [])
}

function foundBlocks(
  database: DatabaseSync,
  runs: readonly number[] | null,
  positions: readonly Buffer[],
): FoundBlock[] {
  const next = database.prepare(
    `select run, last_position as last, entries from inverse_block
     where run = ? and last_position >= ? order by last_position limit 1`,
  )
  const blocks: FoundBlock[] = []
  for (const run of runs ?? publishedRuns(database).map(({ number }) => number)) {
    let last: Uint8Array | null = null
    for (const position of positions) {
      if (last !== null && position.compare(last) <= 0) continue
      const block = next.get(run, position) as FoundBlock | undefined
      if (block === undefined) break
      blocks.push(block)
      last = block.last
    }
  }
  return blocks
}
