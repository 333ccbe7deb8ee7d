/** The certificates on SQLite: each once, with the number of states that refer to it. */

import type { DatabaseSync } from 'node:sqlite'
import { type Certificate, decodeDetails } from '../../../values/certificate/certificate.ts'
import type { FactsReader } from '../../port/store.ts'
import {
  type CertificateRow,
  packCertificate,
  unpackCertificates,
  type WrittenCertificate,
} from '../../shared/certificates.ts'
import { checksumOf } from '../../shared/check/checksum.ts'
import { readTransaction } from '../database/connection.ts'
import type { BeginRead } from '../database/read-iteration.ts'

type AddedRow = { states: number; details: string }

/** Prepares the statements once. The returned function adds certificates, and returns those that may be new, as stored. */
export function certificateWriter(database: DatabaseSync): (written: readonly WrittenCertificate[]) => Certificate[] {
  const add = database.prepare(
    `insert into certificate (sha256, details, states, logged_at, checksum) values (?, ?, ?, ?, ?)
     on conflict do update set states = states + excluded.states, logged_at = coalesce(logged_at, excluded.logged_at)
       where excluded.states > 0 or logged_at is null
     returning states, details`,
  )
  return (written) =>
    written.flatMap((each) => {
      const { details, states, logged_at } = packCertificate(each)
      const sha256 = Buffer.from(each.certificate.sha256, 'hex')
      const checksum = checksumOf('certificate', [sha256, details])
      const row = add.get(sha256, details, states, logged_at, checksum) as AddedRow | undefined
      return row?.states === states ? [decodeDetails(each.certificate.sha256, row.details)] : []
    })
}

/** The returned function removes states from certificates, and returns those that were removed with their last one. */
export function certificateRemover(database: DatabaseSync): (sha256s: readonly string[]) => Certificate[] {
  const count = database.prepare('update certificate set states = states - 1 where sha256 = ?')
  const remove = database.prepare(
    'delete from certificate where sha256 = ? and states = 0 and logged_at is null returning details',
  )
  return (sha256s) => {
    for (const sha256 of sha256s) count.run(Buffer.from(sha256, 'hex'))
    return [...new Set(sha256s)].flatMap((sha256) => {
      const row = remove.get(Buffer.from(sha256, 'hex')) as { details: string } | undefined
      return row === undefined ? [] : [decodeDetails(sha256, row.details)]
    })
  }
}

/** The returned function removes the certificates that no state refers to, and returns them. */
export function unpresentedRemover(database: DatabaseSync): (sha256s: readonly string[]) => Certificate[] {
  const remove = database.prepare('delete from certificate where sha256 = ? and states = 0 returning details')
  return (sha256s) =>
    sha256s.flatMap((sha256) => {
      const row = remove.get(Buffer.from(sha256, 'hex')) as { details: string } | undefined
      return row === undefined ? [] : [decodeDetails(sha256, row.details)]
    })
}

/** `beginRead`: called before each read. */
export function certificateReader(database: DatabaseSync, beginRead: BeginRead): FactsReader['certificates'] {
  const select = database.prepare(
    'select lower(hex(sha256)) as sha256, details, logged_at from certificate where sha256 = ?',
  )
  return async (sha256s) => {
    beginRead()
    const rows = readTransaction(database, () =>
      sha256s.flatMap((sha256) => (select.get(Buffer.from(sha256, 'hex')) as CertificateRow | undefined) ?? []),
    )
    return unpackCertificates(sha256s, rows)
  }
}
