/** Mends the rows of a PostgreSQL store that follow from others (`check --repair`), one name or counter a transaction. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import { formatInstant } from '../../../values/time.ts'
import { countStates } from '../../inverse/check-certificates.ts'
import type { CheckFault, StoreMaintenance } from '../../port/store.ts'
import type { CheckedFacts } from '../../shared/check/facts.ts'
import type { Removal, RowRepair } from '../../shared/check/findings.ts'
import { ledgerRepairs } from '../../shared/check/ledger.ts'
import {
  faultsByRepair,
  hasSharedRow,
  type SharedRowKey,
  sharedRowOf,
  soundRowsOf,
} from '../../shared/check/mending.ts'
import type { Database } from '../database/database.ts'
import { damageMessage } from '../database/errors.ts'
import { crawlStateKey, partitionOfName, partitionOfPackedAddress } from '../database/partition.ts'
import { runForRows } from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { keyOfCertificate } from '../facts/certificates.ts'
import { INSERT_FIRST_SEEN } from '../facts/facts-writer.ts'
import { removeFiledPages } from '../facts/page-removal.ts'
import { PostgresSharedRows } from '../facts/shared-rows.ts'
import { checkedFactsOf } from './check/facts.ts'
import { answered } from './check/inverse.ts'

/** From here on no other transaction writes the name. */
const HOLD_NAME = {
  name: 'repair.hold-name',
  text: 'select id from crawl_state where part = $1 and slot = $2 and name = $3 for update',
}
const REMOVE_FIRST_SEEN = {
  name: 'repair.first-seen',
  text: 'delete from address_first_seen where part = $1 and id = $2',
}
const MARK_DOCUMENT = { name: 'repair.document', text: 'insert into orphan_document (document) values ($1)' }
const HOLD_CERTIFICATE = {
  name: 'repair.hold-certificate',
  text: 'select 1 from certificate where part = $1 and sha256 = $2 for update',
}
const COUNT_CERTIFICATE = {
  name: 'repair.count-certificate',
  text: 'update certificate set states = $3 where part = $1 and sha256 = $2',
}
const UNFILLED = { name: 'repair.unfilled', text: `select 1 from metadata where name = 'inverse_fill'` }

const OTHER_STATE = 'select 1 from crawl_state w where w.part = $1 and w.slot = $4 and w.name = $3'
const REMOVE_NAME = {
  name: 'repair.remove-name',
  text: `delete from crawl_state v where v.part = $1 and v.slot = $2 and v.name = $3 and exists (${OTHER_STATE})`,
}
const MOVE_NAME = {
  name: 'repair.move-name',
  text: `update crawl_state v set slot = $4 where v.part = $1 and v.slot = $2 and v.name = $3 and not exists (${OTHER_STATE})
    and exists (select 1 from facts f where f.part = $1 and f.id = v.id and f.name = v.name)`,
}
/** The name that has facts with an id, in the partition of the facts. */
const FIND_OWNER = {
  name: 'repair.owner',
  text: 'select name from facts where part = $1 and id = $2',
}
const REMOVE_OF_ID = [
  'facts',
  'dns_state',
  'dns_interruption',
  'address_first_seen',
  'pending_page',
  'page_document',
].map((table) => ({ name: `repair.orphan-${table}`, text: `delete from ${table} where part = $1 and id = $2` }))

/** The statements for a list and its counter. A writer that waits for the counter adds to what is counted here. */
function sharedStatements(table: string, key: string, name: string, counter: string, count: string) {
  const ofKey = `part = $1 and ${key} = $2`
  return {
    removeRow: { name: `repair.${table}`, text: `delete from ${table} where ${ofKey} and ${name} = $3` },
    removeCounter: { name: `repair.${counter}`, text: `delete from ${counter} where ${ofKey}` },
    beginCounter: {
      name: `repair.begin-${counter}`,
      text: `insert into ${counter} (part, ${key}, ${count}) values ($1, $2, 0) on conflict do nothing`,
    },
    hold: { name: `repair.hold-${counter}`, text: `select 1 from ${counter} where ${ofKey} for update` },
    recount: {
      name: `repair.count-${counter}`,
      text: `update ${counter} c set ${count} = (select count(*) from ${table} t where t.part = $1 and t.${key} = $2)
        where c.part = $1 and c.${key} = $2`,
    },
    removeEmpty: { name: `repair.empty-${counter}`, text: `delete from ${counter} where ${ofKey} and ${count} = 0` },
  }
}
const SHARED = {
  presence: sharedStatements('presence', 'address', 'name', 'address_count', 'names'),
  redirect: sharedStatements('redirect', 'target', 'source', 'redirect_count', 'sources'),
}

type Mend = (session: Session, shards: Shards, fault: CheckFault) => Promise<void>

/** In this order, because counters follow from rows. */
const REPAIRS: readonly [RowRepair | Removal, Mend][] = [
  ['slot', moveName],
  ['name', mendName],
  ['count', (session, _, fault) => recount(session, fault)],
  ['page', removePage],
  ['document', (session, _, { key }) => session.run(MARK_DOCUMENT, [key]).then(() => {})],
  ['certificate', countCertificate],
  ['row', removeRow],
  ['orphan', removeOrphan],
]

export function postgresRepair({ transaction, shards }: Database): StoreMaintenance['repair'] {
  return async (faults) => {
    const found = faultsByRepair(faults)
    const all = await shards()
    for (const [repair, mend] of REPAIRS)
      for (const fault of found.get(repair) ?? [])
        await transaction((session) => mend(session, all, fault)).catch(damageMessage)
    const statements = ledgerRepairs(found.get('ledger') ?? [])
    if (statements.length > 0) await transaction((session) => session.script(statements.join(';')))
  }
}

/** Locks a name and reads what the check reads of it; undefined if it has no facts. */
async function holdName(session: Session, shards: Shards, name: DomainName): Promise<HeldName | undefined> {
  const [state] = await session.rows<{ id: number | null }>(HOLD_NAME, crawlStateKey(name))
  if (!state?.id) return undefined
  const part = partitionOfName(name)
  const [facts] = await checkedFactsOf(session, shards, [{ part, id: state.id }])
  return { part, id: state.id, facts }
}
/** `facts`: undefined if they are lost. */
type HeldName = { part: number; id: number; facts: CheckedFacts | undefined }

/** Writes what follows from the facts of a name, if they are sound. */
async function mendName(session: Session, shards: Shards, { key }: CheckFault): Promise<void> {
  const name = key as DomainName
  const held = await holdName(session, shards, name)
  const rows = soundRowsOf(held?.facts)
  if (held === undefined || rows === null) return
  const { part, id } = held
  await session.run(REMOVE_FIRST_SEEN, [part, id])
  const firstSeen = [...rows.firstSeen].map(([address, first_seen]) => ({
    ...{ part, id },
    address: packAddress(address),
    first_seen,
  }))
  await runForRows(session.run, shards, INSERT_FIRST_SEEN, firstSeen)
  const shared = new PostgresSharedRows()
  for (const address of rows.addresses) {
    shared.leave(address, name)
    shared.arrive(address, name, formatInstant(rows.firstSeen.get(address)!))
  }
  if (rows.redirectsTo !== null) {
    shared.removeRedirect(rows.redirectsTo, name)
    shared.addRedirect(rows.redirectsTo, name)
  }
  await shared.write(session, shards)
}

/** Moves a name to its slot, if its facts confirm the name. One that is there again is removed. */
async function moveName(session: Session, _: Shards, { key }: CheckFault): Promise<void> {
  const [slot, name] = key.split(' ') as [string, DomainName]
  const values = [partitionOfName(name), Number(slot), name, slotOf(name)]
  for (const statement of [REMOVE_NAME, MOVE_NAME]) await session.run(statement, values)
}

/** Removes the rows of an id that no name has. */
async function removeOrphan(session: Session, _: Shards, { key }: CheckFault): Promise<void> {
  const [part, id] = key.split(' ').map(Number) as [number, number]
  const [facts] = await session.rows<{ name: DomainName }>(FIND_OWNER, [part, id])
  const [state] = facts ? await session.rows<{ id: number | null }>(HOLD_NAME, crawlStateKey(facts.name)) : []
  if (facts && state?.id === id && partitionOfName(facts.name) === part) return
  for (const removal of REMOVE_OF_ID) await session.run(removal, [part, id])
}

/** The parameters of a row's key: its partition, the one that a fault names if that is wrong. */
function keyParameters({ table, key }: Omit<SharedRowKey, 'name'>, problem = ''): [number, string | Buffer] {
  const [, wrongPart] = /^is stored in partition (-?\d+)$/.exec(problem) ?? []
  const value = table === 'presence' ? Buffer.from(key, 'hex') : key
  const part = Buffer.isBuffer(value) ? partitionOfPackedAddress(value) : partitionOfName(value as DomainName)
  return [wrongPart === undefined ? part : Number(wrongPart), value]
}

/** Removes a row that contradicts the facts of its name. A row of a name whose facts are damaged stays. */
async function removeRow(session: Session, shards: Shards, fault: CheckFault): Promise<void> {
  const row = sharedRowOf(fault)
  const { table, key, name } = row
  const held = await holdName(session, shards, name)
  const rows = soundRowsOf(held?.facts)
  if (held !== undefined && rows === null) return
  const [ownPart] = keyParameters(row)
  const [part, value] = keyParameters(row, fault.problem)
  const isOwned = rows !== null && hasSharedRow(rows, { table, key })
  if (!isOwned || part !== ownPart) await session.run(SHARED[table].removeRow, [part, value, name])
  if (part === ownPart) await recount(session, fault)
}

/** Writes the counter of an address or a target; none if it has no row. */
async function recount(session: Session, fault: CheckFault): Promise<void> {
  const row = sharedRowOf(fault)
  const { removeCounter, beginCounter, hold, recount, removeEmpty } = SHARED[row.table]
  const own = keyParameters(row)
  const stored = keyParameters(row, fault.problem)
  if (stored[0] !== own[0]) await session.run(removeCounter, stored)
  await session.run(beginCounter, own)
  await session.rows(hold, own)
  await session.run(recount, own)
  await session.run(removeEmpty, own)
}

async function removePage(session: Session, shards: Shards, { key }: CheckFault): Promise<void> {
  const held = await holdName(session, shards, key as DomainName)
  if (held?.facts?.text_digest === null) await removeFiledPages(session, [held])
}

/** Counts the states of a certificate by the inverse index. Writers of its states wait meanwhile. */
async function countCertificate(session: Session, shards: Shards, { key: sha256 }: CheckFault): Promise<void> {
  if ((await session.rows(UNFILLED)).length > 0) return
  const { part, sha256: bytes } = keyOfCertificate(sha256)
  await session.rows(HOLD_CERTIFICATE, [part, bytes])
  const states = await answered(session, shards, countStates(sha256))
  if (states !== null) await session.run(COUNT_CERTIFICATE, [part, bytes, states])
}
