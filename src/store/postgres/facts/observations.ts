/**
 * The observation store on PostgreSQL: reads the stored state of a batch of names, and writes changes after a version
 * check. It also forgets names.
 */

import type { Change } from '../../../apply/change.ts'
import { NO_CLOCKS, NO_FACTS } from '../../../apply/crawl-state.ts'
import { isFreshNameChange } from '../../../apply/fresh-name.ts'
import { keysOfName, namedHostKeys } from '../../../inverse/entries/value-key.ts'
import { type DomainName, slotOf, slotRangeOf } from '../../../values/domain-name.ts'
import { type IpAddress, unpackHex } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import { wholeEntries } from '../../inverse/erase.ts'
import { certificatesNaming, hostsByUse, hostsOfEntries, knownHostKeys } from '../../inverse/forgotten-hosts.ts'
import { formerKeysOf } from '../../inverse/former-certificates.ts'
import { entriesOfName, presentedBy } from '../../inverse/name-events.ts'
import { KnownWatches } from '../../ledger/watches.ts'
import type { Lease } from '../../port/schedule.ts'
import type { ObservationStore } from '../../port/store.ts'
import { loggedCertificates } from '../../shared/certificates.ts'
import { isUnreadable } from '../../shared/check/unreadable.ts'
import {
  CRAWL_STATE_COLUMNS,
  type CrawlStateRow,
  type FactsRow,
  packClocks,
  TOMBSTONE_ID,
  unpackCrawlState,
  unpackFacts,
} from '../../shared/columns.ts'
import { columnNames } from '../../shared/tables.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { idAllocator } from '../database/ids.ts'
import { partitionOfName } from '../database/partition.ts'
import {
  CRAWL_STATE_OF_KEY,
  NAME_KEY,
  type NameKey,
  type RowSql,
  type RowStatement,
  readForRows,
  rowStatement,
  tableRows,
} from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { eraseEntries, readHistory, storedHistoryOf } from '../inverse/maintenance.ts'
import { answerKeyRead, writeRun } from '../inverse/run.ts'
import { durableTransaction, refreshWatchesIn } from '../ledger/session.ts'
import { addCertificates, removeStates, removeUnpresented } from './certificates.ts'
import { eventsOfCertificates, eventsOfChanges, insertEvents, removeEventsOf } from './events.ts'
import { type WrittenName, writeFacts } from './facts-writer.ts'
import { removeFiledPages } from './page-removal.ts'
import { PostgresSharedRows } from './shared-rows.ts'

type OwnRows = { hexes: string; redirects_to: DomainName | null }

/** From here on no other transaction writes the name. Its version is incremented, so that a late write is rejected. */
const TAKE_NAME = {
  name: 'forget.take',
  text: `insert into crawl_state (part, slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint)
    values ($1, $2, $3, ${TOMBSTONE_ID}, 1, $4, null, 0, 0)
    on conflict (part, slot, name) do update set version = crawl_state.version + 1 returning id`,
}
const READ_OWN_ROWS = {
  name: 'forget.own',
  text: `select redirects_to, coalesce((select json_agg(encode(a, 'hex')) from unnest(addresses) a), '[]')::text as hexes
    from facts where part = $1 and id = $2`,
}
const WRITE_TOMBSTONE = {
  name: 'forget.tombstone',
  text: `update crawl_state set id = ${TOMBSTONE_ID}, clock = $4, other_clocks = null, dns_fingerprint = 0, web_fingerprint = 0,
    due = 0, failures = 0, registered = null where part = $1 and slot = $2 and name = $3`,
}
const DELETE_OWN_ROWS = ['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page'].map(
  (table) => ({
    name: `forget.${table}`,
    text: `delete from ${table} where part = $1 and id = $2`,
  }),
)

/** Something to commit: a durable commit makes all earlier ones durable, because they are before it in the log. */
const WRITE_MESSAGE = {
  name: 'observations.sync',
  text: `select pg_logical_emit_message(true, 'domaindex', '')`,
}

const [, , ...unpackedColumns] = columnNames('facts')
/** The columns of `facts` that are unpacked, of a row `f`. */
export const FACTS_SELECT_COLUMNS = unpackedColumns.map((column) =>
  column === 'addresses'
    ? "(select json_agg(encode(a, 'hex')) from unnest(f.addresses) a)::text as addresses"
    : `f.${column}`,
)

/** A read of columns of the crawl states `v` of names. `joins`: further tables. */
export function nameStatement(name: string, columns: string, joins: (sql: RowSql) => string = () => '') {
  return rowStatement<NameKey>(
    name,
    NAME_KEY,
    (sql) =>
      `select v.name, ${columns} from ${sql.rows} join crawl_state v on ${CRAWL_STATE_OF_KEY} and ${sql.inShard('v.part')} ${joins(sql)}`,
  )
}

const READ_CRAWL_STATES = nameStatement(
  'observations.crawl-states',
  CRAWL_STATE_COLUMNS.map((column) => `v.${column}`).join(', '),
)
const READ_CURRENT_FACTS = nameStatement(
  'observations.current-facts',
  FACTS_SELECT_COLUMNS.join(', '),
  ({ inShard }) => `join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}`,
)
/** The clocks of every observed part. */
export const READ_PART_CLOCKS = nameStatement('facts.part-clocks', 'v.clock, v.other_clocks')
/** One number for all new names of a batch. As the default of the column, it would keep Citus from using one shard. */
const NEXT_ARRIVAL = { name: 'observations.arrival', text: `select nextval('arrival_number') as number` }
const WRITTEN_STATE = tableRows('crawl_state')
const CLOCK_COLUMNS = ['clock', 'other_clocks', 'dns_fingerprint', 'web_fingerprint', 'due', 'failures', 'registered']
const INSERT_CRAWL_STATES = rowStatement<WrittenState>(
  'observations.insert',
  WRITTEN_STATE,
  ({ rows, inShard, parameter }) =>
    `insert into crawl_state (part, slot, name, id, version, ${CLOCK_COLUMNS}, arrival_number)
    select a.part, k.slot, k.name, k.id, k.version + 1, ${CLOCK_COLUMNS.map((column) => `k.${column}`)}, ${parameter(1)}::bigint
    from ${rows} join anchor a on a.part = k.part where ${inShard('a.part')} on conflict do nothing returning name, id`,
)
/** A name without an id gets the offered one. */
const UPDATE_CRAWL_STATES = rowStatement<WrittenState>(
  'observations.update',
  WRITTEN_STATE,
  ({ rows, inShard }) =>
    `update crawl_state v set version = v.version + 1, id = coalesce(v.id, k.id),
      ${CLOCK_COLUMNS.map((column) => `${column} = k.${column}`)}
    from ${rows} where ${CRAWL_STATE_OF_KEY} and v.version = k.version and ${inShard('v.part')} returning v.name, v.id`,
)

const READ_VALID_LEASES = {
  name: 'observations.leases',
  text: `select l.slot_range from unnest($1::smallint[], $2::bigint[]) as k(slot_range, fence)
    join slot_lease l on l.slot_range = k.slot_range and l.fence = k.fence and l.holder is not null
    order by l.slot_range for key share of l`,
}

/** A name that passed the version check. */
type PassedName = { name: DomainName; id: number | null }
type RowWithName<Row> = Row & { name: DomainName }
/** A change and the id for its name if it has none; null if it needs none. */
type OfferedChange = { change: Change; id: number | null }

/** `now`: the time of events; by default, the server's. */
export function postgresObservations(database: Database, now?: () => Instant): ObservationStore {
  const { read, transaction } = database
  const readByShard = shardedReader(database)
  const takeIds = idAllocator(read)
  const known = new KnownWatches()
  return {
    concurrentSaves: 2, // one is prepared while the server writes the other
    async crawlStates(names) {
      const rows = await readByShard<RowWithName<CrawlStateRow>>(READ_CRAWL_STATES, names)
      const byName = new Map(rows.map((row) => [row.name, row]))
      return names.map((name) => unpackCrawlState(name, byName.get(name)))
    },
    async currentFacts(names) {
      const rows = await readByShard<RowWithName<FactsRow>>(READ_CURRENT_FACTS, names)
      const byName = new Map(rows.map((row) => [row.name, unpackFacts(row.name, row)]))
      return names.map((name) => byName.get(name) ?? NO_FACTS)
    },
    async save(given, leases) {
      const changes = [...given]
      if (changes.length === 0) return { rejected: [], lost: [] }
      const writtenCount = changes.filter(({ facts }) => facts !== null).length
      const ids = await takeIds(writtenCount)
      const offers = changes.map((change) => ({ change, id: change.facts ? ids.pop()! : null }))
      const shards = await database.shards()
      return transaction(async (session) => {
        const [watches, { passed, lost }] = await Promise.all([
          refreshWatchesIn(session, known),
          writeStates(session, shards, offers, leases),
        ])
        const written = changes.filter(({ state }) => passed.has(state.name))
        const events = await eventsOfChanges(session, watches, written)
        await writeChanges(session, shards, offers, passed)
        await insertEvents(session, events, now?.() ?? null)
        const names = changes.map(({ state }) => state.name)
        const isLost = new Set(lost)
        return { rejected: names.filter((name) => !passed.has(name) && !isLost.has(name)), lost }
      })
    },
    async addLogged(certificates) {
      const shards = await database.shards()
      return transaction(async (session) => {
        const logged = loggedCertificates(certificates)
        const [watches, added] = await Promise.all([
          refreshWatchesIn(session, known),
          addCertificates(session, shards, logged),
        ])
        await writeRun(session, { certificates: added })
        const unknown = new Set(added.map(({ sha256 }) => sha256))
        const events = eventsOfCertificates(
          watches,
          logged.filter(({ certificate }) => unknown.has(certificate.sha256)),
        )
        await insertEvents(session, events, now?.() ?? null)
        return added.length
      })
    },
    async forget(name) {
      const shards = await database.shards()
      return transaction((session) => forgetName(session, shards, name))
    },
    async sync() {
      await durableTransaction(database)((session) => session.run(WRITE_MESSAGE))
    },
  }
}

/** Returns a function that reads rows of names, once per shard. */
export function shardedReader({ read, shards }: Pick<Database, 'read' | 'shards'>) {
  return async <Row>(statement: RowStatement<NameKey>, names: readonly DomainName[]): Promise<Row[]> =>
    readForRows<Row, NameKey>(read, await shards(), statement, names.map(keyOfName))
}

export function keyOfName(name: DomainName): NameKey {
  return { part: partitionOfName(name), slot: slotOf(name), name }
}

/** The names that passed the version check, with their ids, and those outside of the valid leases. */
type WrittenStates = { passed: Map<DomainName, number | null>; lost: DomainName[] }

/** Writes the crawl states of changes with a valid lease and version. */
async function writeStates(
  session: Session,
  shards: Shards,
  offered: readonly OfferedChange[],
  leases?: readonly Lease[],
): Promise<WrittenStates> {
  const validRanges = leases && (await leasedRanges(session, leases))
  const isLost = ({ change }: OfferedChange): boolean =>
    validRanges !== undefined && !validRanges.has(slotRangeOf(change.state.name)) && !isFreshNameChange(change)
  const sorted = offered.filter((offer) => !isLost(offer)).toSorted(compareOffers)
  const passed = new Map<DomainName, number | null>()
  const write = async (statement: RowStatement<WrittenState>, group: readonly OfferedChange[], ...more: number[]) => {
    const written = await readForRows<PassedName, WrittenState>(
      session.rows,
      shards,
      statement,
      group.map(writtenState),
      ...more,
    )
    for (const { name, id } of written) passed.set(name, id)
  }
  const added = sorted.filter(isAddition)
  if (added.length > 0) await write(INSERT_CRAWL_STATES, added, await nextArrival(session))
  await write(
    UPDATE_CRAWL_STATES,
    sorted.filter((offer) => !isAddition(offer)),
  )
  return { passed, lost: offered.filter(isLost).map(({ change }) => change.state.name) }
}

function isAddition({ change }: OfferedChange): boolean {
  return change.state.version === 0
}

/** Writes the facts of names that passed the version check. */
async function writeChanges(
  session: Session,
  shards: Shards,
  offered: readonly OfferedChange[],
  passed: WrittenStates['passed'],
): Promise<void> {
  const sorted = offered.filter(({ change }) => passed.has(change.state.name)).toSorted(compareOffers)
  const written = sorted.flatMap(({ change: { state, facts }, id: offered }): WrittenName[] => {
    const id = passed.get(state.name)
    return facts && id
      ? [{ name: state.name, part: partitionOfName(state.name), id, isNew: id === offered, facts }]
      : []
  })
  const names = sorted.filter(isAddition).map(({ change }) => change.state.name)
  await writeFacts(session, shards, written, names)
}

/** The ranges with valid leases. They stay valid until the end of the transaction. */
async function leasedRanges(session: Session, leases: readonly Lease[]): Promise<Set<number>> {
  const values = [plainArray(leases.map(({ range }) => range)), plainArray(leases.map(({ fence }) => fence))]
  return new Set((await session.rows<{ slot_range: number }>(READ_VALID_LEASES, values)).map((row) => row.slot_range))
}

async function nextArrival({ rows }: Session): Promise<number> {
  return (await rows<{ number: number }>(NEXT_ARRIVAL))[0]!.number
}

/** The same order for all writers, so that no two wait for each other. */
function compareOffers({ change: { state: a } }: OfferedChange, { change: { state: b } }: OfferedChange): number {
  return slotOf(a.name) - slotOf(b.name) || (a.name < b.name ? -1 : 1)
}

/** A crawl state to write. `version`: the one that was read; `id`: the offered one. */
type WrittenState = NameKey & Omit<CrawlStateRow, 'id'> & { id: number | null }

function writtenState({ change: { state }, id }: OfferedChange): WrittenState {
  const { name, version, clocks, dnsFingerprint, webFingerprint, due, failures, registered } = state
  const { clock, otherClocks } = packClocks(clocks)
  return {
    ...keyOfName(name),
    id,
    version,
    clock,
    other_clocks: otherClocks,
    dns_fingerprint: dnsFingerprint,
    web_fingerprint: webFingerprint,
    due,
    failures,
    registered,
  }
}

/** Returns true if there was more than a tombstone. */
async function forgetName(session: Session, shards: Shards, name: DomainName): Promise<boolean> {
  const key = [partitionOfName(name), slotOf(name), name, packClocks(NO_CLOCKS).clock]
  const [locked] = await session.rows<{ id: number | null }>(TAKE_NAME, key)
  const { id } = locked!
  await session.run(WRITE_TOMBSTONE, key)
  if (id === TOMBSTONE_ID) {
    await eraseForgotten(session, shards, name, [], [])
    return false
  }
  await removeEventsOf(session, name)
  const keys = keysOfName(name)
  let hosts: string[] = []
  if (id === null) {
    await eraseForgotten(session, shards, name, keys, [])
    return true
  }
  const [own] = await session.rows<OwnRows>(READ_OWN_ROWS, [key[0], id])
  const row = await readHistory(session, key[0] as number, id)
  try {
    const history = row && storedHistoryOf(row)
    const removed = history ? await removeStates(session, shards, presentedBy(history)) : []
    keys.push(...removed.flatMap(namedHostKeys))
    if (history) {
      const entryKeys = [...entriesOfName(history).keys()]
      hosts = hostsOfEntries(entryKeys)
      keys.push(...entryKeys, ...formerKeysOf(history))
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error // what damaged facts leave behind, `check --repair` removes
  }
  await eraseForgotten(session, shards, name, keys, hosts)
  for (const removal of DELETE_OWN_ROWS) await session.run(removal, [key[0], id])
  const shared = new PostgresSharedRows()
  for (const address of readableAddresses(JSON.parse(own?.hexes ?? '[]'))) shared.leave(address, name)
  if (own?.redirects_to) shared.removeRedirect(own.redirects_to, name)
  await shared.write(session, shards)
  await removeFiledPages(session, [{ part: key[0] as number, id }])
  return true
}

/**
 * Erases keys of a forgotten name, of the hosts that no record names any more, and of the certificates that name it and
 * that nobody presented. It deletes these certificates.
 */
async function eraseForgotten(
  session: Session,
  shards: Shards,
  name: DomainName,
  keys: readonly string[],
  hosts: readonly string[],
): Promise<void> {
  const naming = await answerKeyRead(session, certificatesNaming(name))
  const removed = naming.length === 0 ? [] : await removeUnpresented(session, shards, naming)
  const erased = wholeEntries([...keys, ...removed.flatMap(namedHostKeys)])
  if (erased.size > 0) await eraseEntries(session, erased)
  const { unused } = await answerKeyRead(session, hostsByUse(hosts))
  if (unused.length === 0) return
  await eraseEntries(session, wholeEntries(knownHostKeys(unused)))
  // another transaction may have added a record of such a host and committed before its key was erased
  const { used } = await answerKeyRead(session, hostsByUse(unused))
  await writeRun(session, { hosts: used })
}

/** The addresses; none if one of them cannot be read. */
function readableAddresses(hexes: readonly string[]): IpAddress[] {
  try {
    return hexes.map(unpackHex)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return []
  }
}
