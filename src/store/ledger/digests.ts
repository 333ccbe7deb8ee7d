/** The digests of accounts. */

import type { Instant } from '../../values/time.ts'
import type { ClaimedDigest, Digest, DigestOutcome, NewDigest } from '../port/watch/digests.ts'
import { type LedgerRead, ledgerStatements, rows, run, type Transaction } from './session.ts'

export const DIGESTS = ledgerStatements('digest', {
  own: 'select period, due, sent from digest where account = $1',
  set: `insert into digest (account, period, key, seen, due) select id, $2, $3, $4, $5 from account where id = $1
    on conflict (account) do update set period = excluded.period, due = excluded.due`,
  end: 'delete from digest where account = $1',
  endByKey: 'delete from digest where key = $1',
  claim: `update digest set claimed_by = $2, claimed_until = $3 where account in
      (select account from digest where due <= $1 and claimed_until <= $1 order by due limit $4 for update skip locked)
    returning account, period, key, seen, due, failures, claimed_by, claimed_until`,
  record: `update digest set seen = $4, due = $5, failures = $6, sent = coalesce($7, sent), claimed_until = 0
    where account = $1 and claimed_by = $2 and claimed_until = $3`,
})

export function digestReads(read: LedgerRead) {
  return {
    digest: async (account: number) => (await read<Digest>(DIGESTS.own, [account]))[0] ?? null,
  }
}

export const digestTransactions = {
  *setDigest(_now: Instant, account: number, { period, key, seen, due }: NewDigest): Transaction<void> {
    yield* run(DIGESTS.set, [account, period, key, seen, due])
  },
  *endDigest(_now: Instant, account: number): Transaction<void> {
    yield* run(DIGESTS.end, [account])
  },
  *endDigestByKey(_now: Instant, key: Uint8Array): Transaction<boolean> {
    return (yield* run(DIGESTS.endByKey, [key])) > 0
  },
  *claimDigests(now: Instant, holder: string, until: Instant, limit: number): Transaction<ClaimedDigest[]> {
    return yield* rows<ClaimedDigest>(DIGESTS.claim, [now, holder, until, limit])
  },
  *recordDigest(
    _now: Instant,
    { account, claimed_by, claimed_until }: ClaimedDigest,
    { seen, due, failures, sent }: DigestOutcome,
  ): Transaction<void> {
    yield* run(DIGESTS.record, [account, claimed_by, claimed_until, seen, due, failures, sent])
  },
}
