/** What accounts have used: calls by token, endpoint and day, spent units, and paid files. The engines write it. */

import type { Day } from '../../values/time.ts'
import type { UsageCount } from '../port/ledger.ts'
import { type LedgerRead, ledgerStatements } from './session.ts'

const usageOf = (table: string): string =>
  `select day, endpoint, token, calls from ${table}
   where account = $1 and day >= coalesce($2, '') and day <= coalesce($3, '9999-12-31')`

export const USAGE = ledgerStatements('usage', {
  calls: `${usageOf('usage')} union all ${usageOf('closed_usage')} order by day, endpoint, token`,
  deletedAccounts: 'select distinct account from closed_usage order by account',
  units: 'select used from budget where account = $1 and day = $2',
  paidFile: 'select 1 from paid_file where account = $1 and day = $2 and file = $3',
})

export function usageReads(read: LedgerRead) {
  return {
    usage: (account: number, from: Day | null, to: Day | null) => read<UsageCount>(USAGE.calls, [account, from, to]),
    deletedAccounts: async () => (await read<{ account: number }>(USAGE.deletedAccounts)).map(({ account }) => account),
    usedUnits: async (account: number, day: Day) =>
      (await read<{ used: number }>(USAGE.units, [account, day]))[0]?.used ?? 0,
    isFilePaid: async (account: number, day: Day, file: string) =>
      (await read(USAGE.paidFile, [account, day, file])).length > 0,
  }
}
