/**
 * The observation store on SQLite: reads the stored state of a batch of names, and writes changes after a version
 * check. It also forgets names.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../../apply/change.ts'
import { type CrawlState, type CurrentFacts, NO_CLOCKS, NO_FACTS } from '../../../apply/crawl-state.ts'
import { isFreshNameChange } from '../../../apply/fresh-name.ts'
import { keysOfName, namedHostKeys } from '../../../inverse/entries/value-key.ts'
import { type DomainName, slotOf, slotRangeOf } from '../../../values/domain-name.ts'
import { unpackHex } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import { wholeEntries } from '../../inverse/erase.ts'
import { certificatesNaming, hostsByUse, hostsOfEntries, knownHostKeys } from '../../inverse/forgotten-hosts.ts'
import { formerKeysOf } from '../../inverse/former-certificates.ts'
import { entriesOfName, NEWEST_STATES_COLUMNS, type NewestStatesRow, presentedBy } from '../../inverse/name-events.ts'
import type { Lease } from '../../port/schedule.ts'
import type { LoggedCertificate, ObservationStore, SaveResult } from '../../port/store.ts'
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
import { readTransaction, writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { inverseReadAnswerer, inverseWriter } from '../inverse/inverse.ts'
import { entryEraser, storedHistoryReader } from '../inverse/maintenance.ts'
import { certificateRemover, certificateWriter, unpresentedRemover } from './certificates.ts'
import { type EventSources, eventWriter } from './events.ts'
import { factsWriter } from './facts-writer.ts'
import { sharedRowWriter } from './shared-rows.ts'

type OwnRow = {
  id: number | null
  addresses: string | null
  redirects_to: DomainName | null
  states: string | null
} & Omit<NewestStatesRow, 'states' | 'redirects_to'>

type BeginEvents = ReturnType<typeof eventWriter>

export function sqliteObservations(
  database: DatabaseSync,
  log: WriteAheadLog,
  sources: EventSources,
): ObservationStore {
  const crawlState = database.prepare(`select ${CRAWL_STATE_COLUMNS} from crawl_state where slot = ? and name = ?`)
  const current = database.prepare(
    'select f.* from crawl_state v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const beginEvents = eventWriter(database, sources)
  const save = changeSaver(database, beginEvents)
  const addLogged = loggedWriter(database, beginEvents)
  const forget = nameForgetter(database)
  crawlState.setReturnArrays(true) // faster than an object
  const readCrawlState = (name: DomainName): CrawlState =>
    unpackCrawlState(name, crawlStateRow(crawlState.get(slotOf(name), name) as CrawlStateValues | undefined))
  const readCurrent = (name: DomainName): CurrentFacts =>
    currentFactsOf(name, current.get(slotOf(name), name) as FactsRow | undefined)
  return {
    concurrentSaves: 1,
    // One transaction per batch: the locks of a read cost as much as reading a crawl state.
    crawlStates: async (names) => readTransaction(database, () => names.map(readCrawlState)),
    currentFacts: async (names) => readTransaction(database, () => names.map(readCurrent)),
    save: async (changes, leases) => log.whenBounded(() => writeTransaction(database, () => save(changes, leases))),
    addLogged: async (certificates) => log.whenBounded(() => writeTransaction(database, () => addLogged(certificates))),
    forget: async (name) => log.whenBounded(() => writeTransaction(database, () => forget(name))),
    sync: () => log.sync(),
  }
}

/** The values of CRAWL_STATE_COLUMNS. */
type CrawlStateValues = [
  id: number | null,
  version: number,
  clock: Instant,
  other_clocks: Uint8Array | null,
  dns_fingerprint: number,
  web_fingerprint: number,
  due: Instant,
  failures: number,
  registered: number | null,
]

function crawlStateRow(values: CrawlStateValues | undefined): CrawlStateRow | undefined {
  if (values === undefined) return undefined
  const [id, version, clock, other_clocks, dns_fingerprint, web_fingerprint, due, failures, registered] = values
  return { id, version, clock, other_clocks, dns_fingerprint, web_fingerprint, due, failures, registered }
}

function currentFactsOf(name: DomainName, row: FactsRow | undefined): CurrentFacts {
  return row ? unpackFacts(name, row) : NO_FACTS
}

/** The version check: writes a crawl state if its version is the stored one. */
function versionCheck(database: DatabaseSync): (crawlState: CrawlState, id: number | null) => boolean {
  const insert = database.prepare(
    `insert into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint, due, failures, registered)
     values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )
  const update = database.prepare(
    `update crawl_state set version = version + 1, clock = ?, other_clocks = ?, dns_fingerprint = ?, web_fingerprint = ?, due = ?, failures = ?, registered = ?
     where slot = ? and name = ? and version = ?`,
  )
  return ({ name, version, clocks, dnsFingerprint, webFingerprint, due, failures, registered }, id) => {
    const { clock, otherClocks } = packClocks(clocks)
    const values = [clock, otherClocks, dnsFingerprint, webFingerprint, due, failures, registered]
    const { changes } =
      version === 0 ? insert.run(slotOf(name), name, id, ...values) : update.run(...values, slotOf(name), name, version)
    return changes === 1
  }
}

/** Writes each change with a valid lease and version, and returns the names of the others. */
function changeSaver(
  database: DatabaseSync,
  beginEvents: BeginEvents,
): (changes: Iterable<Change>, leases?: readonly Lease[]) => SaveResult {
  const writeIfUnchanged = versionCheck(database)
  const validLease = database.prepare(
    'select 1 from slot_lease where slot_range = ? and fence = ? and holder is not null',
  )
  const beginFacts = factsWriter(database)
  return (changes, leases) => {
    const validLeases = leases?.filter(({ range, fence }) => validLease.get(range, fence) !== undefined)
    const ranges = validLeases && new Set(validLeases.map(({ range }) => range))
    const rejected: DomainName[] = []
    const lost: DomainName[] = []
    const facts = beginFacts()
    const events = beginEvents()
    for (const change of changes) {
      const { state, facts: factChanges } = change
      if (ranges && !ranges.has(slotRangeOf(state.name)) && !isFreshNameChange(change)) {
        lost.push(state.name)
        continue
      }
      const newId = state.version === 0 && factChanges ? facts.nextId() : null
      if (!writeIfUnchanged(state, newId)) {
        rejected.push(state.name)
        continue
      }
      events.addChange(change)
      if (state.version === 0) facts.addName(state.name)
      if (factChanges) facts.write(state.name, factChanges, newId)
    }
    facts.finish()
    events.finish()
    return { rejected, lost }
  }
}

/** Returns how many were unknown. */
function loggedWriter(
  database: DatabaseSync,
  beginEvents: BeginEvents,
): (certificates: readonly LoggedCertificate[]) => number {
  const add = certificateWriter(database)
  const beginRun = inverseWriter(database)
  return (logged) => {
    const certificates = loggedCertificates(logged)
    const added = add(certificates)
    const run = beginRun()
    for (const each of added) run.addCertificate(each)
    run.finish()
    const unknown = new Set(added.map(({ sha256 }) => sha256))
    const events = beginEvents()
    events.addLogged(certificates.filter(({ certificate }) => unknown.has(certificate.sha256)))
    events.finish()
    return added.length
  }
}

/**
 * Returns a function that erases keys of a forgotten name, of the hosts that no record names any more, and of the
 * certificates that name it and that nobody presented. It deletes these certificates.
 */
function forgottenKeyEraser(database: DatabaseSync) {
  const erase = entryEraser(database)
  const answer = inverseReadAnswerer(database)
  const removeUnpresented = unpresentedRemover(database)
  return (name: DomainName, keys: readonly string[], hosts: readonly string[]): void => {
    const removed = removeUnpresented(answer(certificatesNaming(name)))
    erase(wholeEntries([...keys, ...removed.flatMap(namedHostKeys)]))
    erase(wholeEntries(knownHostKeys(answer(hostsByUse(hosts)).unused)))
  }
}

/** Returns true if there was more than a tombstone. The version is incremented, so that a late write is rejected. */
function nameForgetter(database: DatabaseSync): (name: DomainName) => boolean {
  const own = database.prepare(
    `select v.id, f.addresses, ${NEWEST_STATES_COLUMNS.map((column) => `f.${column}`)}
     from crawl_state v left join facts f on f.id = v.id where v.slot = ? and v.name = ?`,
  )
  const writeTombstone = database.prepare(
    `insert into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint) values (?, ?, ${TOMBSTONE_ID}, 1, ?, null, 0, 0)
     on conflict do update set id = ${TOMBSTONE_ID}, version = version + 1, clock = excluded.clock, other_clocks = null, dns_fingerprint = 0, web_fingerprint = 0,
       due = 0, failures = 0, registered = null`,
  )
  const removals = [
    'delete from facts where id = ?',
    'delete from dns_state where id = ?',
    'delete from dns_interruption where id = ?',
    'delete from address_first_seen where id = ?',
    'delete from pending_page where id = ?',
  ].map((sql) => database.prepare(sql))
  const removeEvents = database.prepare('delete from event where name = ?')
  const prepareSharedRows = sharedRowWriter(database)
  const historyOf = storedHistoryReader(database)
  const removeCertificates = certificateRemover(database)
  const erase = forgottenKeyEraser(database)
  return (name) => {
    const row = own.get(slotOf(name), name) as OwnRow | undefined
    writeTombstone.run(slotOf(name), name, packClocks(NO_CLOCKS).clock)
    if (!row || row.id === TOMBSTONE_ID) {
      erase(name, [], [])
      return false
    }
    const shared = prepareSharedRows()
    const keys = keysOfName(name)
    ifReadable(() => {
      for (const hex of JSON.parse(row.addresses ?? '[]') as string[]) shared.leave(unpackHex(hex), name)
    })
    if (row.redirects_to !== null) shared.removeRedirect(row.redirects_to, name)
    shared.finish()
    const hosts: string[] = []
    ifReadable(() => {
      if (row.id === null || row.states === null) return
      const history = historyOf({ ...row, name, id: row.id, states: row.states })
      const removed = removeCertificates(presentedBy(history))
      const entryKeys = [...entriesOfName(history).keys()]
      hosts.push(...hostsOfEntries(entryKeys))
      keys.push(...entryKeys, ...formerKeysOf(history), ...removed.flatMap(namedHostKeys))
    })
    erase(name, keys, hosts)
    removeEvents.run(name)
    if (row.id !== null) for (const removal of removals) removal.run(row.id)
    return true
  }
}

/** Runs work on the facts of a name. What damaged facts leave behind, `check --repair` removes. */
function ifReadable(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isUnreadable(error)) throw error
  }
}
