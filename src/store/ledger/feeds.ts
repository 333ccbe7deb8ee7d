/** The feeds of accounts: who has a link to their newest events. */

import type { Account } from '../../accounts/account.ts'
import type { Instant } from '../../values/time.ts'
import { type AccountRow, parseAccount } from './accounts.ts'
import { type LedgerRead, ledgerStatements, run, type Transaction } from './session.ts'

export const FEEDS = ledgerStatements('feed', {
  own: 'select created from feed where account = $1',
  find: ({ accountJson }) =>
    `select ${accountJson} as account from feed f join account a on a.id = f.account where f.hash = $1`,
  replace: `insert into feed (account, hash, created) select id, $2, $3 from account where id = $1
    on conflict (account) do update set hash = excluded.hash, created = excluded.created`,
  remove: 'delete from feed where account = $1',
})

export function feedReads(read: LedgerRead) {
  return {
    feedCreated: async (account: number) =>
      (await read<{ created: Instant }>(FEEDS.own, [account]))[0]?.created ?? null,
    async findFeed(hash: Uint8Array): Promise<Account | null> {
      const [found] = await read<AccountRow>(FEEDS.find, [hash])
      return found === undefined ? null : parseAccount(found)
    },
  }
}

export const feedTransactions = {
  *replaceFeed(now: Instant, account: number, hash: Uint8Array): Transaction<void> {
    yield* run(FEEDS.replace, [account, hash, now])
  },
  *removeFeed(_now: Instant, account: number): Transaction<void> {
    yield* run(FEEDS.remove, [account])
  },
}
