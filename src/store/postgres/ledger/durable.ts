/** Makes transactions of the ledger survive a loss of power, even if the server is configured to reply earlier. */

import type { Database } from '../database/database.ts'

const REQUIRE_SYNCHRONOUS_COMMIT = {
  name: 'ledger.durable',
  text: `select set_config('synchronous_commit', case setting when 'off' then 'on' else setting end, true)
    from (select current_setting('synchronous_commit')) as now (setting)`,
}

export function durableTransaction({ transaction }: Database): Database['transaction'] {
  return (work) =>
    transaction(async (session) => {
      const [result] = await Promise.all([work(session), session.rows(REQUIRE_SYNCHRONOUS_COMMIT)])
      return result
    })
}
