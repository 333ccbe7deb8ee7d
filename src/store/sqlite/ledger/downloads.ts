/** The files that accounts have paid for, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import { addDays, type Day, type Instant } from '../../../values/time.ts'
import type { FilePayment, FilePurchase, QuotaGrant, QuotaRequest } from '../../port/ledger.ts'

export function sqliteDownloadReads(database: DatabaseSync) {
  const read = database.prepare('select 1 from paid_file where account = ? and day = ? and file = ?')
  return {
    isPaid: (account: number, day: Day, file: string): boolean => read.get(account, day, file) !== undefined,
  }
}

/** The unit and the payment are written together, because the store never writes a call in part. */
export function sqliteDownloadWrites(
  database: DatabaseSync,
  grantQuota: (now: Instant, request: QuotaRequest) => QuotaGrant,
) {
  const used = database.prepare('select coalesce(sum(used), 0) as used from budget where account = ? and day = ?')
  const add = database.prepare('insert into paid_file (account, day, file) values (?, ?, ?)')
  const clear = database.prepare('delete from paid_file where account = ? and day < ?')
  const { isPaid } = sqliteDownloadReads(database)
  return {
    payForFile(now: Instant, { file, ...request }: FilePurchase): FilePayment {
      const { account, day } = request
      if (isPaid(account, day, file))
        return { outcome: 'already_paid', ...(used.get(account, day) as { used: number }) }
      const grant = grantQuota(now, { ...request, requested: 1 })
      if (grant.granted === 0) return { outcome: grant.retryLater ? 'retry_later' : 'limit_reached', used: grant.used }
      clear.run(account, addDays(day, -1))
      add.run(account, day, file)
      return { outcome: 'charged', used: grant.used }
    },
  }
}
