/** The certificates on PostgreSQL: each once, with the number of states that refer to it. */

import { type Certificate, decodeDetails } from '../../../values/certificate/certificate.ts'
import type { FactsReader } from '../../port/store.ts'
import {
  type CertificateRow,
  packCertificate,
  unpackCertificates,
  type WrittenCertificate,
} from '../../shared/certificates.ts'
import type { Database } from '../database/database.ts'
import { partitionOfFingerprint } from '../database/partition.ts'
import { insertStatement, readForRows, rowStatement, runForRows, tableRows } from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'

/** The key of a row. */
export type CertificateKey = { part: number; sha256: Uint8Array }
type InsertedCertificate = CertificateKey & ReturnType<typeof packCertificate>

const KEY = { part: 'smallint', sha256: 'bytes' } as const
const OF_KEY = 't.part = k.part and t.sha256 = k.sha256'
const SHA256 = `encode(t.sha256, 'hex') as sha256`
const ADD = insertStatement<InsertedCertificate>(
  'certificate.add',
  'certificate',
  tableRows('certificate'),
  `on conflict (part, sha256) do update
    set states = certificate.states + excluded.states,
      logged_at = coalesce(certificate.logged_at, excluded.logged_at)
    where excluded.states > 0 or certificate.logged_at is null
  returning encode(sha256, 'hex') as sha256, states, details`,
)
const REMOVE_STATES = rowStatement<CertificateKey & { states: number }>(
  'certificate.remove-states',
  { ...KEY, states: 'bigint' },
  ({ rows, inShard }) =>
    `update certificate t set states = t.states - k.states from ${rows} where ${OF_KEY} and ${inShard('t.part')}`,
)
const REMOVE = rowStatement<CertificateKey>(
  'certificate.remove',
  KEY,
  ({ rows, inShard }) =>
    `delete from certificate t using ${rows} where ${OF_KEY} and t.states = 0 and t.logged_at is null
      and ${inShard('t.part')} returning ${SHA256}, t.details`,
)
const REMOVE_UNPRESENTED = rowStatement<CertificateKey>(
  'certificate.remove-unpresented',
  KEY,
  ({ rows, inShard }) =>
    `delete from certificate t using ${rows} where ${OF_KEY} and t.states = 0 and ${inShard('t.part')}
      returning ${SHA256}, t.details`,
)
const READ = rowStatement<CertificateKey>(
  'certificate.read',
  KEY,
  ({ rows, inShard }) =>
    `select ${SHA256}, t.details, t.logged_at from ${rows} join certificate t on ${OF_KEY} and ${inShard('t.part')}`,
)

/** The key of the certificate with a fingerprint in hexadecimal. */
export function keyOfCertificate(sha256: string): CertificateKey {
  const bytes = Buffer.from(sha256, 'hex')
  return { part: partitionOfFingerprint(bytes), sha256: bytes }
}

/** Adds certificates, and returns those that may be new, as stored. */
export async function addCertificates(
  { rows }: Session,
  shards: Shards,
  written: readonly WrittenCertificate[],
): Promise<Certificate[]> {
  if (written.length === 0) return []
  const values = written.map((each) => ({ ...keyOfCertificate(each.certificate.sha256), ...packCertificate(each) }))
  values.sort(compareKeys)
  type Added = { sha256: string; states: number; details: string }
  const added = await readForRows<Added, InsertedCertificate>(rows, shards, ADD, values)
  const statesOf = new Map(written.map(({ certificate, states }) => [certificate.sha256, states]))
  return added.flatMap(({ sha256, states, details }) =>
    statesOf.get(sha256) === states ? [decodeDetails(sha256, details)] : [],
  )
}

/** Removes states from certificates, and returns those that were removed with their last one. */
export async function removeStates(
  { rows, run }: Session,
  shards: Shards,
  sha256s: readonly string[],
): Promise<Certificate[]> {
  const states = new Map<string, number>()
  for (const sha256 of sha256s) states.set(sha256, (states.get(sha256) ?? 0) + 1)
  const removed = [...states].map(([sha256, states]) => ({ ...keyOfCertificate(sha256), states })).sort(compareKeys)
  await runForRows(run, shards, REMOVE_STATES, removed)
  const deleted = await readForRows<CertificateRow, CertificateKey>(rows, shards, REMOVE, removed)
  return deleted.map(({ sha256, details }) => decodeDetails(sha256, details))
}

/** Removes the certificates that no state refers to, and returns them. */
export async function removeUnpresented(
  { rows }: Session,
  shards: Shards,
  sha256s: readonly string[],
): Promise<Certificate[]> {
  const keys = [...new Set(sha256s)].map(keyOfCertificate).sort(compareKeys)
  const deleted = await readForRows<CertificateRow, CertificateKey>(rows, shards, REMOVE_UNPRESENTED, keys)
  return deleted.map(({ sha256, details }) => decodeDetails(sha256, details))
}

export function certificateReader({ read, shards }: Database): FactsReader['certificates'] {
  return async (sha256s) => {
    const keys = [...new Set(sha256s)].map(keyOfCertificate)
    const rows = await readForRows<CertificateRow, CertificateKey>(read, await shards(), READ, keys)
    return unpackCertificates(sha256s, rows)
  }
}

/** The same order for all writers, so that no two wait for each other. */
function compareKeys(a: CertificateKey, b: CertificateKey): number {
  return a.part - b.part || Buffer.compare(a.sha256, b.sha256)
}
