/** The usage on PostgreSQL: calls by token, endpoint and day. */

import type { Day } from '../../../values/time.ts'
import type { UsageCount, UsageNote } from '../../port/ledger.ts'
import type { Database } from '../database/database.ts'

const READ_USAGE = {
  name: 'usage.read',
  text: `select day, endpoint, token, calls from usage
    where account = $1 and day >= coalesce($2, '') and day <= coalesce($3, '9999-12-31')
    union all select day, endpoint, token, calls from closed_usage
    where account = $1 and day >= coalesce($2, '') and day <= coalesce($3, '9999-12-31') order by day, endpoint, token`,
}
const READ_DELETED_ACCOUNTS = {
  name: 'usage.deleted-accounts',
  text: 'select distinct account from closed_usage order by account',
}
/** Records nothing for a deleted account. Rows are locked in key order. */
const RECORD_USAGE = {
  name: 'usage.record',
  text: `with known as materialized (select id from account where id = any($1) order by id for key share),
    noted as materialized (
      select n.* from unnest($1::integer[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
        as n (account, day, endpoint, token, calls, last_call) join known on id = n.account),
    used as materialized (
      select t.id, n.last_call from (select account, token, max(last_call) as last_call from noted group by 1, 2) n
      join token t on t.id = n.token and t.account = n.account
      where t.last_used is null or t.last_used < n.last_call order by t.id for no key update of t),
    touched as (update token t set last_used = used.last_call from used where t.id = used.id)
    insert into usage (account, day, endpoint, token, calls)
    select account, day, endpoint, token, sum(calls) from noted group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (account, day, endpoint, token) do update set calls = usage.calls + excluded.calls`,
}

export function postgresUsage({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    deletedAccounts: async (): Promise<number[]> =>
      (await read<{ account: number }>(READ_DELETED_ACCOUNTS)).map(({ account }) => account),
    usage: (account: number, from: Day | null, to: Day | null): Promise<UsageCount[]> =>
      read<UsageCount>(READ_USAGE, [account, from, to]),
    recordUsage: (calls: readonly UsageNote[]): Promise<void> =>
      transaction(async ({ run }) => void (await run(RECORD_USAGE, usageColumns(calls)))),
  }
}

function usageColumns(calls: readonly UsageNote[]): unknown[][] {
  const keys = ['account', 'day', 'endpoint', 'token', 'calls', 'lastCall'] as const
  return keys.map((key) => calls.map((call) => call[key]))
}
