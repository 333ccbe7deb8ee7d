/** Checks the rows that names share (every row has its owner, every counter its rows), and the file of the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { EVENT_FINDING, LEDGER_FINDING_QUERIES, LEDGER_ROWS, ledgerFaults } from '../../../shared/check/ledger.ts'
import {
  type CheckedAddress,
  type CheckedDocument,
  type CheckedPresence,
  type CheckedRedirect,
  type CheckedTarget,
  checkAddressRows,
  checkDocumentRows,
  checkPresenceRows,
  checkRedirectRows,
  checkTargetRows,
} from '../../../shared/check/rows.ts'
import type { CheckPart } from '../../../shared/check/sequence.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { connectSqlite } from '../../database/connection.ts'
import { damageMessage } from '../../database/errors.ts'
import { SQLITE_LEDGER_SCHEMA } from '../../ledger/file.ts'
import { schemaFaults } from './schema.ts'

/** Rows of presence: their name exists and is on that address. */
export function checkPresenceSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [hex, name] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(
      `select p.address, p.name, a.names is not null as counted,
         coalesce((select instr(f.addresses, '"' || lower(hex(p.address)) || '"') from crawl_state v join facts f on f.id = v.id
           where v.slot = slot(p.name) and v.name = p.name), 0) as owned
       from presence p left join address_count a on a.address = p.address
       where (p.address, p.name) > (?, ?) order by p.address, p.name limit ?`,
    )
    .all(Buffer.from(hex, 'hex'), name, limit)
  return checkPresenceRows(rows as CheckedPresence[])
}

/** Counters of addresses. */
export function checkAddressesSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [hex] = after === null ? [''] : (JSON.parse(after) as [string])
  const rows = database
    .prepare(
      `select address, names as counter, (select count(*) from presence p where p.address = a.address) as rows
       from address_count a where address > ? order by address limit ?`,
    )
    .all(Buffer.from(hex, 'hex'), limit)
  return checkAddressRows(rows as CheckedAddress[])
}

/** Rows of redirect: their source exists and redirects to that target. */
export function checkRedirectsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [target, source] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(
      `select r.target, r.source, t.sources is not null as counted,
         exists (select 1 from crawl_state v join facts f on f.id = v.id
           where v.slot = slot(r.source) and v.name = r.source and f.redirects_to = r.target) as owned
       from redirect r left join redirect_count t on t.target = r.target
       where (r.target, r.source) > (?, ?) order by r.target, r.source limit ?`,
    )
    .all(target, source, limit)
  return checkRedirectRows(rows as CheckedRedirect[])
}

/** Counters of targets. */
export function checkTargetsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [target] = after === null ? [''] : (JSON.parse(after) as [string])
  const rows = database
    .prepare(
      `select target, sources as counter, (select count(*) from redirect r where r.target = t.target) as rows
       from redirect_count t where target > ? order by target limit ?`,
    )
    .all(target, limit)
  return checkTargetRows(rows as CheckedTarget[])
}

/** Documents: each is that of a start page, or the indexer has yet to check it. */
export function checkDocumentsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [document] = after === null ? [0] : (JSON.parse(after) as [number])
  const rows = database
    .prepare(
      `select number as document, digest, vector, exists (select 1 from page_document r where r.document = w.number)
         or exists (select 1 from orphan_document o where o.document = w.number) as isUsed
       from document w where number > ? order by number limit ?`,
    )
    .all(document, limit)
  return checkDocumentRows(rows as CheckedDocument[])
}

/** The counters of the events of accounts. */
export function checkEventCountsSqlite(database: DatabaseSync): CheckSlice {
  const faults = ledgerFaults(EVENT_FINDING, database.prepare(EVENT_FINDING.text).all() as { place: number }[])
  return { faults, checked: 0, last: null }
}

/** Checks everything at once: the ledger's rows of many years are fewer than those of one day's crawl. */
export function checkLedgerSqlite(path: string): CheckPart {
  return () => {
    const database = connectSqlite(path, { readOnly: true })
    try {
      return checkLedgerFile(database)
    } finally {
      database.close()
    }
  }
}

function checkLedgerFile(database: DatabaseSync): CheckSlice {
  const faults: CheckFault[] = []
  let checked = 0
  const collect = (part: () => CheckFault[]): void => {
    try {
      faults.push(...part())
    } catch (error) {
      faults.push({ table: 'ledger', key: 'file', problem: `cannot be read: ${damageMessage(error)}` })
    }
  }
  collect(() => schemaFaults(database, SQLITE_LEDGER_SCHEMA, 'ledger'))
  collect(() => damagedPages(database, 'ledger'))
  for (const finding of LEDGER_FINDING_QUERIES)
    collect(() => ledgerFaults(finding, database.prepare(finding.text).all() as { place: number }[]))
  collect(() => {
    checked = database.prepare(LEDGER_ROWS.text).get()!.rows as number
    return []
  })
  return { faults, checked, last: null }
}

/** Checks pages, the order of keys, and that each index matches its table. */
export function damagedPages(database: DatabaseSync, table: string): CheckFault[] {
  let rows: { integrity_check: string }[]
  try {
    rows = database.prepare('pragma integrity_check').all() as typeof rows
  } catch (error) {
    return [{ table, key: 'file', problem: `cannot be read: ${damageMessage(error)}` }]
  }
  const problems = rows.map(({ integrity_check }) => integrity_check).filter((message) => message !== 'ok')
  return problems.map((problem) => ({ table, key: 'file', problem }))
}
