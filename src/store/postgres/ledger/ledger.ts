/**
 * The ledger, the crawl requests and the given secrets on PostgreSQL: every process writes for itself, exact because of
 * row locks.
 */

import { createHash } from 'node:crypto'
import { type DomainName, slotRangeOf } from '../../../values/domain-name.ts'
import { addDays, type Instant } from '../../../values/time.ts'
import { auditInstallation } from '../../ledger/audit.ts'
import { crawlRequestReads } from '../../ledger/crawl-requests.ts'
import { sharedLedger } from '../../ledger/ledger.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from '../../ledger/session.ts'
import type { CrawlRequestKind, CrawlRequests, LookupRequest } from '../../port/crawl-requests.ts'
import { StoreFault } from '../../port/fault.ts'
import type { Ledger, Secret, UsageNote } from '../../port/ledger.ts'
import { STORE_ACTOR } from '../../shared/actor.ts'
import { parseConfiguredSecrets } from '../../shared/secrets.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { forfeitingWriter, type QuotaCall } from './budget.ts'
import { durableTransaction, ledgerTransactionRunner, postgresLedgerRead, postgresLedgerWrite } from './session.ts'

const DIGESTS = ledgerStatements('digest', {
  read: 'select digest from secret where replaced_at is null',
  lock: 'select digest from secret where replaced_at is null for update',
  add: 'insert into secret (number, digest) values ($1, $2) on conflict do nothing',
  replace: 'update secret set number = $1, digest = $2 where replaced_at is null',
})

type DigestRow = { digest: Buffer | null }

const SECRET_DOC_HINT = 'docs/postgresql.md says how to replace it'
const WRONG_SECRET_MESSAGE = `DOMAINDEX_SECRET is not the secret of this installation: give every process the same one (${SECRET_DOC_HINT})`
const STORE_SECRET_MESSAGE = `this installation has generated its own secret, but DOMAINDEX_SECRET sets another one: unset it (${SECRET_DOC_HINT})`

/** Writes calls in one transaction, at one time (null: the server's). Returns the result of each, in their order. */
type WriteGroup<Call> = (calls: readonly Call[], now: Instant | null) => Promise<readonly unknown[]>

type QueuedCall<Call> = {
  call: Call
  now: Instant | null
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

/**
 * Writes both rows or none. It locks the request, then the account, then its counters: in one order, so that no two
 * writers wait for each other. `$1` account, `$2` day, `$3` range, `$4` name, `$5` maximum per day, `$6` the first day
 * whose counter is kept.
 */
const REQUEST_FROM_LOOKUP = {
  name: 'request.from-lookup',
  text: `with requested as (
      insert into crawl_request (kind, slot_range, name) values ('lookup', $3, $4) on conflict do nothing returning name),
    counted as (
      insert into lookup_request_count (account, day, requests)
      select a.id, $2, 1 from account a where a.id = $1 and $5::bigint > 0 and exists (select from requested) for key share of a
      on conflict (account, day) do update set requests = lookup_request_count.requests + 1
      where lookup_request_count.requests < $5 returning requests),
    cleared as (delete from lookup_request_count where account = $1 and day < $6 and exists (select from counted))
    select exists (select from requested) as is_new, exists (select from counted) as is_counted`,
}
const DELETE_REQUEST = {
  name: 'request.delete',
  text: `delete from crawl_request where kind = 'lookup' and slot_range = $1 and name = $2`,
}

/** Inserts in the same order for all writers. */
const INSERT_REQUESTS = {
  name: 'request.add',
  text: `insert into crawl_request (kind, slot_range, name)
    select $1, slot_range, name from unnest($2::smallint[], $3::text[]) k(slot_range, name)
    order by slot_range, name on conflict do nothing`,
}
const COMPLETE_REQUESTS = {
  name: 'request.complete',
  text: `with completed as (
      select r.slot_range, r.name from unnest($2::smallint[], $3::text[]) k(slot_range, name)
      join crawl_request r on r.kind = $1 and r.slot_range = k.slot_range and r.name = k.name collate "C"
      order by r.slot_range, r.name for update of r)
    delete from crawl_request r using completed c where r.kind = $1 and r.slot_range = c.slot_range and r.name = c.name`,
}

export const POSTGRES_LEDGER_SCHEMA = new URL('../schema/ledger/', import.meta.url)

export type PostgresLedgerOptions = {
  /** `NEW` or `NEW,FORMER`; null: the secret that the store generates. */
  secret: string | null
  /** Defaults to the server's clock. */
  now?: (() => Instant) | undefined
}

/** Opens the ledger of a database whose tables exist. Closing it leaves the database open. Throws StoreFault. */
export async function openPostgresLedger(
  opened: Database,
  { secret, now }: PostgresLedgerOptions,
): Promise<Ledger & CrawlRequests & { close(): Promise<void> }> {
  const database = { ...opened, transaction: durableTransaction(opened) }
  const configured = secret === null ? null : parseConfiguredSecrets(secret)
  const read = postgresLedgerRead(database.read)
  const runTransaction = ledgerTransactionRunner(database.transaction)
  const clock = now ? async () => now() : database.now
  if (configured !== null) await acceptConfiguredSecrets(read, runTransaction, configured, await clock())
  const { send, idle } = groupCommit<QuotaCall>(forfeitingWriter(database))
  return {
    ...sharedLedger(read, postgresLedgerWrite(runTransaction, clock), configured),
    ...quotaWrites((call, at = now?.() ?? null) => send(call, at)),
    recordUsage: usageRecorder(database),
    ...postgresCrawlRequests(database, read),
    close: idle,
  }
}

function quotaWrites(write: (call: QuotaCall, now?: Instant | null) => Promise<unknown>) {
  return {
    takeQuota: (request) => write({ kind: 'take', request }),
    payForFile: (purchase) => write({ kind: 'pay', purchase }),
    settleQuota: (settlements) => write({ kind: 'settle', settlements }),
    refundUnit: (account, day) => write({ kind: 'refund', account, day }),
    heartbeat: (holder, now) => write({ kind: 'heartbeat', holder }, now),
  } as Pick<Ledger, 'takeQuota' | 'payForFile' | 'settleQuota' | 'refundUnit' | 'heartbeat'>
}

/**
 * Records nothing for a deleted account. Locks the accounts in key order. Joins the table, because PostgreSQL may
 * compare each note with each row of a materialized list.
 */
const RECORD_USAGE = {
  name: 'usage.record',
  text: `with noted as materialized (
      select n.* from unnest($1::integer[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
        as n (account, day, endpoint, token, calls, last_call)
      join account a on a.id = n.account order by a.id for key share of a),
    used as materialized (
      select t.id, n.last_call from (select account, token, max(last_call) as last_call from noted group by 1, 2) n
      join token t on t.id = n.token and t.account = n.account
      where t.last_used is null or t.last_used < n.last_call order by t.id for no key update of t),
    touched as (update token t set last_used = used.last_call from used where t.id = used.id)
    insert into usage (account, day, endpoint, token, calls)
    select account, day, endpoint, token, sum(calls) from noted group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (account, day, endpoint, token) do update set calls = usage.calls + excluded.calls`,
}

function usageRecorder({ transaction }: Pick<Database, 'transaction'>): Ledger['recordUsage'] {
  return (calls) => transaction(async ({ run }) => void (await run(RECORD_USAGE, usageColumns(calls))))
}

function usageColumns(calls: readonly UsageNote[]): unknown[][] {
  const keys = ['account', 'day', 'endpoint', 'token', 'calls', 'lastCall'] as const
  return keys.map((key) => calls.map((call) => call[key]))
}

/** The crawl requests on PostgreSQL: names to probe soon, and how many each account requested. */
function postgresCrawlRequests({ readLong, transaction }: Database, read: LedgerRead): CrawlRequests {
  const write = (
    statement: { name: string; text: string },
    kind: CrawlRequestKind,
    names: readonly DomainName[],
  ): Promise<void> => transaction(async ({ run }) => void (await run(statement, [kind, ...requestColumns(names)])))
  return {
    requestFromLookup: (request) => transaction((session) => requestFromLookup(session, request)),
    add: (kind, names) => write(INSERT_REQUESTS, kind, names),
    ...crawlRequestReads(read, postgresLedgerRead(readLong)),
    complete: (kind, names) => write(COMPLETE_REQUESTS, kind, names),
  }
}

async function requestFromLookup(
  { rows, run }: Session,
  { account, day, name, maxPerDay }: LookupRequest,
): Promise<boolean> {
  // another process may still be on the previous day
  const values = [account, day, slotRangeOf(name), name, maxPerDay, addDays(day, -1)]
  const [requested] = await rows<{ is_new: boolean; is_counted: boolean }>(REQUEST_FROM_LOOKUP, values)
  const { is_new, is_counted } = requested!
  if (is_new && !is_counted) await run(DELETE_REQUEST, [slotRangeOf(name), name])
  return is_counted || !is_new
}

function requestColumns(names: readonly DomainName[]): string[] {
  return [plainArray(names.map(slotRangeOf)), plainArray(names)]
}

/** Group commit: calls that arrive while a process writes are written together in its next transaction. */
export function groupCommit<Call>(write: WriteGroup<Call>) {
  const queued: QueuedCall<Call>[] = []
  let writing: Promise<void> | null = null

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate) // the calls of the rest of this iteration of the event loop are written too
    while (queued.length > 0) await writeBatch()
    writing = null
  }

  /** Writes all queued calls with the same time. */
  async function writeBatch(): Promise<void> {
    const { now } = queued[0]!
    const other = queued.findIndex((queuedCall) => queuedCall.now !== now)
    const batch = queued.splice(0, other < 0 ? queued.length : other)
    try {
      const values = await write(
        batch.map(({ call }) => call),
        now,
      )
      for (const [index, { resolve }] of batch.entries()) resolve(values[index])
    } catch (error) {
      // calls that arrived meanwhile have waited as long, and would wait as long again
      const rest = error instanceof StoreFault ? queued.splice(0) : []
      for (const { reject } of [...batch, ...rest]) reject(error)
    }
  }

  return {
    /** Resolves with the result of the call. */
    send: (call: Call, now: Instant | null): Promise<unknown> =>
      new Promise((resolve, reject) => {
        queued.push({ call, now, resolve, reject })
        writing ??= writeAll()
      }),
    /** Resolves when all queued calls are written. */
    idle: async (): Promise<void> => void (await writing),
  }
}

/**
 * Compares the operator's secrets with the installation's. The first one becomes the installation's secret. Throws
 * StoreFault.
 */
async function acceptConfiguredSecrets(
  read: LedgerRead,
  transaction: (work: () => Transaction<void>) => Promise<void>,
  configured: readonly Secret[],
  now: Instant,
): Promise<void> {
  const digests = configured.map(({ bytes }) => secretDigest(bytes))
  const [current] = await read<DigestRow>(DIGESTS.read)
  if (current?.digest?.equals(digests[0]!)) return
  await transaction(() => acceptDigests(now, configured[0]!.number, digests))
}

/** `number`: that of the first secret. */
function* acceptDigests(now: Instant, number: number, digests: readonly Buffer[]): Transaction<void> {
  if ((yield* run(DIGESTS.add, [number, digests[0]])) === 1)
    yield* auditInstallation(now, STORE_ACTOR, 'secret.give', { number })
  const active = yield* row<DigestRow>(DIGESTS.lock, [])
  const index = digests.findIndex((digest) => active?.digest?.equals(digest))
  if (index < 0) throw new StoreFault(active?.digest ? WRONG_SECRET_MESSAGE : STORE_SECRET_MESSAGE)
  if (index === 0) return
  yield* run(DIGESTS.replace, [number, digests[0]])
  yield* auditInstallation(now, STORE_ACTOR, 'secret.give', { number })
}

function secretDigest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update('domaindex: digest of a secret\n').update(bytes).digest()
}
