/** Checks the inverse index: runs, blocks with the owners of their entries, and the entries of each name. */

import type { DomainName } from '../../../../values/domain-name.ts'
import type { Instant } from '../../../../values/time.ts'
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
  type InverseCheck,
  type InverseCheckAnswer,
  type InverseCheckRequest,
  namesPerSlice,
  SLICE_GROWTH,
} from '../../../inverse/check-entries.ts'
import { NEWEST_STATES_COLUMNS } from '../../../inverse/name-events.ts'
import type { InverseRun } from '../../../port/inverse.ts'
import { type CheckSlice, checkSlice } from '../../../shared/check/slice.ts'
import { TOMBSTONE_ID } from '../../../shared/columns.ts'
import { bytesArray } from '../../database/arrays.ts'
import { readRuns } from '../../database/citus/part-runs.ts'
import { fingerprintPartitionSql, PART_VALUES } from '../../database/partition.ts'
import {
  CRAWL_STATE_OF_KEY,
  matchRows,
  NAME_KEY,
  type NameKey,
  type PartRow,
  readForRows,
  rowStatement,
  runStatement,
} from '../../database/row-statements.ts'
import type { Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'
import { type CertificateKey, keyOfCertificate } from '../../facts/certificates.ts'
import { keyOfName } from '../../facts/observations.ts'
import {
  type HistoryOfName,
  historySql,
  READ_HISTORIES_OF,
  READ_RUNS,
  storedHistoryOf,
} from '../../inverse/maintenance.ts'
import { readSlices } from '../../inverse/run.ts'

const CHECK_RUNS = {
  name: 'check.inverse-runs',
  text: 'select number, state from inverse_run where number > $1 order by number limit $2',
}
const CHECK_BLOCKS = {
  name: 'check.inverse-blocks',
  text: `select b.run, b.last_position as last, b.entries, r.state, true as "isIntact"
    from inverse_block b left join inverse_run r on r.number = b.run
    where (b.run, b.last_position) >= ($1, $2) and b.run <= $4 order by b.run, b.last_position limit $3`,
}
const NEWEST_RUN = { name: 'check.inverse-newest', text: 'select max(run) as run from inverse_block' }
const CHECK_FILL = { name: 'check.inverse-fill', text: `select value from metadata where name = 'inverse_fill'` }
/** The first block of each of the runs that ends at one of the positions or later. */
const findBlocksSql = (runs: string): string =>
  `select distinct b.run, b.last_position as last, b.entries from unnest($1::bytea[]) k(position)
    cross join inverse_run r
    cross join lateral (select run, last_position, entries from inverse_block
      where run = r.number and last_position >= k.position order by last_position limit 1) b
    where ${runs}`
const FIND_PUBLISHED_BLOCKS = { name: 'check.find-published-blocks', text: findBlocksSql(`r.state = 'published'`) }
const FIND_BLOCKS = { name: 'check.find-blocks', text: findBlocksSql('r.number = any ($2::bigint[])') }

type PartHistory = HistoryOfName & PartRow

const CHECK_OWNERS_OF = rowStatement<NameKey>(
  'check.inverse-owners',
  NAME_KEY,
  ({ rows, inShard }) =>
    `select ${NEWEST_STATES_COLUMNS.map((column) => `f.${column}`)} from ${rows}
    join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${inShard('v.part')}
    join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}`,
)
type StateRow = NameKey & { type: number; at: Instant }
const CHECK_STATES_OF = rowStatement<StateRow>(
  'check.inverse-states',
  { ...NAME_KEY, type: 'smallint', at: 'bigint' },
  ({ numberedRows, inShard }) =>
    `select k.position, s.records from ${numberedRows}
    join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${inShard('v.part')}
    cross join lateral (select coalesce(s.records, b.records) as records from dns_state s
      left join dns_state b on b.part = s.part and b.id = s.id and b.type = s.type
        and b.first_seen = s.base_first_seen and ${inShard('b.part')}
      where s.part = v.part and s.id = v.id and s.type = k.type and s.first_seen <= k.at and ${inShard('s.part')}
      order by s.first_seen desc limit 1) s`,
)
const namesWhere = (name: string, condition: string) =>
  rowStatement<NameKey>(
    name,
    NAME_KEY,
    ({ rows, inShard }) =>
      `select v.name from ${rows}
      join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${condition} and ${inShard('v.part')}`,
  )
const CHECK_KNOWN = namesWhere('check.known', `v.id is distinct from ${TOMBSTONE_ID}`)
const CHECK_FORGOTTEN = namesWhere('check.forgotten', `v.id = ${TOMBSTONE_ID}`)
const CHECK_KNOWN_NAMES = runStatement(
  'check.known-names',
  4,
  ({ inRun }) =>
    `select v.part, v.slot, v.name from crawl_state v
    where (v.part, v.slot, v.name) > ($1, $2, $3) and v.id is distinct from ${TOMBSTONE_ID} and ${inRun('v.part')}
    order by v.part, v.slot, v.name limit $4`,
)
const CHECK_NAME_FILL = { name: 'check.name-fill', text: `select value from metadata where name = 'name_fill'` }
const CHECK_INVERSE_NAMES = runStatement(
  'check.inverse-names',
  3,
  ({ inRun, inShard }) =>
    `select f.part, f.id, ${historySql('f.part', inShard)} from facts f
    where (f.part, f.id) > ($1, $2) and ${inRun('f.part')} order by f.part, f.id limit $3`,
)

/** Before every partition. */
const MIN_PART = -(2 ** 15)
const CERTIFICATE_COLUMNS = `encode(c.sha256, 'hex') as sha256, c.details, c.states, c.logged_at`
const CHECK_CERTIFICATES_OF = rowStatement<CertificateKey>(
  'check.certificates-of',
  { part: 'smallint', sha256: 'bytes' },
  ({ rows, inShard }) =>
    `select ${CERTIFICATE_COLUMNS} from ${rows}
    join certificate c on c.part = k.part and c.sha256 = k.sha256 and ${inShard('c.part')}`,
)
const CHECK_CERTIFICATES = runStatement(
  'check.certificates',
  3,
  ({ inRun }) =>
    `select c.part, ${fingerprintPartitionSql('c.sha256')} as "rightPart", ${CERTIFICATE_COLUMNS} from certificate c
    where (c.part, c.sha256) > ($1, $2) and ${inRun('c.part')} order by c.part, c.sha256 limit $3`,
)
const CHECK_FILLS = {
  name: 'check.fills',
  text: `select name from metadata where name in ('inverse_fill', 'certificate_fill')`,
}

/** Every run has a known state. */
export async function checkInverseRuns({ rows }: Session, after: string | null, limit: number): Promise<CheckSlice> {
  const [from] = after === null ? [-1] : (JSON.parse(after) as [number])
  return checkRuns(await rows(CHECK_RUNS, [from, limit]), limit)
}

/** Every block is in order, and its entries belong to names whose histories have them. */
export async function checkInverseBlocks(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [newest] = await session.rows<{ run: number | null }>(NEWEST_RUN)
  const { bound, run, position } = blockStart(after, newest?.run ?? 0)
  const values = [run, position, blocksPerSlice(limit) + 1, bound]
  const blocks = await session.rows<CheckedBlock>(CHECK_BLOCKS, values)
  return answered(session, shards, checkBlocks(blocks, after, bound))
}

/** The index has every entry of the names that are filled in. */
export async function checkInverseNames(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, id] = after === null ? [-1, -1] : (JSON.parse(after) as [number, number])
  const max = namesPerSlice(limit, SLICE_GROWTH.histories, await session.rows<InverseRun>(READ_RUNS))
  const rows = await readRuns(shards, part, max, (run, left) =>
    session.rows<PartHistory>(CHECK_INVERSE_NAMES, [part, id, left, ...run]),
  )
  const [fill] = await session.rows<{ value: string }>(CHECK_FILL)
  const filled = rows.filter((row) => fill === undefined || isFilled(row, fill.value))
  const faults = await answered(session, shards, checkNames(historiesOf(filled), limit))
  const lastRow = rows.at(-1)
  return checkSlice(faults, rows.length, lastRow && JSON.stringify([lastRow.part, lastRow.id]))
}

/** Every known name that is filled in is found by each of its keys. */
export async function checkKeysOfNames(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, slot, name] = after === null ? [MIN_PART, -1, ''] : (JSON.parse(after) as [number, number, string])
  const max = namesPerSlice(limit, SLICE_GROWTH.names, await session.rows<InverseRun>(READ_RUNS))
  const rows = await readRuns(shards, after === null ? null : part, max, (run, left) =>
    session.rows<NameKey>(CHECK_KNOWN_NAMES, [part, slot, name, left, ...run]),
  )
  const [fill] = await session.rows<{ value: string }>(CHECK_NAME_FILL)
  const filled = rows.filter((row) => fill === undefined || isKeyFilled(row, fill.value))
  const names = filled.map((row) => row.name)
  const faults = await answered(session, shards, checkKnownNameKeys(names, limit))
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.part, last.slot, last.name]))
}

function isKeyFilled({ part, slot, name }: NameKey, fill: string): boolean {
  const [next, filledSlot, filledName] = JSON.parse(fill) as [number, number, string]
  const index = PART_VALUES.indexOf(part)
  return index < next || (index === next && (slot < filledSlot || (slot === filledSlot && name <= filledName)))
}

/** Every certificate is used, and found by its names. */
export async function checkCertificatesPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, sha256] = after === null ? [MIN_PART, ''] : (JSON.parse(after) as [number, string])
  type Row = CheckedCertificate & { part: number; rightPart: number }
  const rows = await readRuns(shards, after === null ? null : part, certificatesPerSlice(limit), (run, left) =>
    session.rows<Row>(CHECK_CERTIFICATES, [part, Buffer.from(sha256, 'hex'), left, ...run]),
  )
  const fills = await session.rows<{ name: string }>(CHECK_FILLS)
  const checked = rows.map(
    (row): CheckedCertificate => ({
      ...row,
      problem: row.part === row.rightPart ? null : `is stored in partition ${row.part}`,
    }),
  )
  const faults = await answered(session, shards, checkCertificates(checked, certificateFillOf(fills)))
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.part, last.sha256]))
}

function isFilled({ part, id }: PartHistory, fill: string): boolean {
  const [next, filled] = JSON.parse(fill) as [number, number]
  const index = PART_VALUES.indexOf(part)
  return index < next || (index === next && id <= filled)
}

/** Skips names whose facts cannot be read, which the check of facts reports. */
function historiesOf(rows: readonly HistoryOfName[]) {
  return rows.flatMap((row) => {
    try {
      return [storedHistoryOf(row)]
    } catch {
      return []
    }
  })
}

export async function answered<Result>(session: Session, shards: Shards, check: InverseCheck<Result>): Promise<Result> {
  let step = check.next([])
  while (!step.done) step = check.next(await answerTo(session, shards, step.value))
  return step.value
}

async function answerTo(session: Session, shards: Shards, request: InverseCheckRequest): Promise<InverseCheckAnswer> {
  if (request.needs === 'blocks') {
    const positions = bytesArray([...request.positions])
    if (request.runs === null) return session.rows<FoundBlock>(FIND_PUBLISHED_BLOCKS, [positions])
    return session.rows<FoundBlock>(FIND_BLOCKS, [positions, request.runs])
  }
  if (request.needs === 'runs') return session.rows<InverseRun>(READ_RUNS)
  if (request.needs === 'slice') return readSlices(session, request.from, request.blocks, [request.run])
  if (request.needs === 'certificates') {
    const keys = request.sha256s.map(keyOfCertificate)
    return readForRows<CheckedCertificate, CertificateKey>(session.rows, shards, CHECK_CERTIFICATES_OF, keys)
  }
  if (request.needs === 'states') {
    const rows = request.states.map((state) => ({ ...state, ...keyOfName(state.name) }))
    type Found = { position: number; records: string }
    const found = await matchRows<Found, StateRow>(session.rows, shards, CHECK_STATES_OF, rows)
    return found.map(({ row: { name, type, at }, result }) => ({ name, type, at, records: result.records }))
  }
  const names = request.names.map(keyOfName)
  if (request.needs === 'known' || request.needs === 'forgotten') {
    const statement = request.needs === 'known' ? CHECK_KNOWN : CHECK_FORGOTTEN
    return readForRows<{ name: DomainName }, NameKey>(session.rows, shards, statement, names)
  }
  if (request.needs === 'owners')
    return readForRows<CheckedOwner, NameKey>(session.rows, shards, CHECK_OWNERS_OF, names)
  return historiesOf(await readForRows<HistoryOfName, NameKey>(session.rows, shards, READ_HISTORIES_OF, names))
}
