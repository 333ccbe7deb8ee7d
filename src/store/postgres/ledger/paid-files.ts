/** The files that accounts have paid for, on PostgreSQL. They are written together with the budgets. */

import { addDays, type Day } from '../../../values/time.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import type { PaidFile } from './budget-set.ts'

const PAID_FILE_KEYS = 'unnest($1::integer[], $2::text[], $3::text[]) as k (account, day, file)'
const READ_PAID_FILES = {
  name: 'paid-file.read',
  text: `select p.account, p.day, p.file from ${PAID_FILE_KEYS} join paid_file p using (account, day, file)`,
}
const INSERT_PAID_FILES = {
  name: 'paid-file.insert',
  text: `insert into paid_file (account, day, file) select account, day, file from ${PAID_FILE_KEYS} on conflict do nothing`,
}
const DELETE_OLD_PAID_FILES = {
  name: 'paid-file.delete-old',
  text: 'delete from paid_file p using unnest($1::integer[], $2::text[]) as k (account, day) where p.account = k.account and p.day < k.day',
}

export function postgresPaidFileReads({ read }: Pick<Database, 'read'>) {
  return {
    isFilePaid: async (account: number, day: Day, file: string): Promise<boolean> =>
      (await read(READ_PAID_FILES, [[account], [day], [file]])).length > 0,
  }
}

/** The files among `files` that are paid for. */
export async function readPaidFiles({ rows }: Session, files: readonly PaidFile[]): Promise<PaidFile[]> {
  return files.length === 0 ? [] : rows<PaidFile>(READ_PAID_FILES, paidFileColumns(files))
}

/** Records files as paid, and deletes those of days that have ended everywhere. */
export async function insertPaidFiles({ run }: Session, paidFiles: readonly PaidFile[]): Promise<void> {
  if (paidFiles.length === 0) return
  const [accounts, days] = [paidFiles.map(({ account }) => account), paidFiles.map(({ day }) => addDays(day, -1))]
  await Promise.all([run(DELETE_OLD_PAID_FILES, [accounts, days]), run(INSERT_PAID_FILES, paidFileColumns(paidFiles))])
}

function paidFileColumns(files: readonly PaidFile[]): unknown[][] {
  return (['account', 'day', 'file'] as const).map((key) => files.map((paid) => paid[key]))
}
