/** The files that accounts have paid for, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import { addDays, type Day } from '../../../values/time.ts'

export function sqlitePaidFileReads(database: DatabaseSync) {
  const read = database.prepare('select 1 from paid_file where account = ? and day = ? and file = ?')
  return {
    isPaid: (account: number, day: Day, file: string): boolean => read.get(account, day, file) !== undefined,
  }
}

/** Records that an account has paid for a file. */
export function sqlitePaymentRecorder(database: DatabaseSync) {
  const insert = database.prepare('insert into paid_file (account, day, file) values (?, ?, ?)')
  const deleteOld = database.prepare('delete from paid_file where account = ? and day < ?')
  return (account: number, day: Day, file: string): void => {
    deleteOld.run(account, addDays(day, -1))
    insert.run(account, day, file)
  }
}
