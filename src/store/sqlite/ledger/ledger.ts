/** The ledger and the crawl requests on SQLite: reads use the file, writes go to the process that writes the ledger. */

import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Actor } from '../../../accounts/audit.ts'
import type { Instant } from '../../../values/time.ts'
import type { CrawlRequests } from '../../port/crawl-requests.ts'
import { StoreFault } from '../../port/fault.ts'
import type { Ledger, LedgerChanges, Secret } from '../../port/ledger.ts'
import { STORE_ACTOR } from '../../shared/actor.ts'
import { CONFIGURED_SECRET_MESSAGE, parseConfiguredSecrets } from '../../shared/secrets.ts'
import { sqliteAccountReads } from './accounts.ts'
import { auditReads } from './audit.ts'
import { sqliteBudgetReads } from './budget.ts'
import { crawlRequestReads } from './crawl-requests.ts'
import { openLedgerFile } from './file.ts'
import { sqliteOperatorLedger } from './operators/operators.ts'
import { sqlitePaidFileReads } from './paid-files.ts'
import { placeMarkReads } from './place-marks.ts'
import { secretReads } from './secrets.ts'
import { sqliteSignIns } from './sign-in/sign-in.ts'
import { tokenStandingReads } from './token-standing.ts'
import { tokenReads } from './tokens.ts'
import { usageReads } from './usage.ts'
import { batchPerTick, type LedgerWrite, type LedgerWriter } from './writing/calls.ts'
import { type ProbedLedger, writeProbe } from './writing/write-probe.ts'
import { inlineLedgerWriter, primaryLedgerWriter, threadLedgerWriter } from './writing/writers.ts'

export type SqliteLedgerOptions = {
  /** The writer: this thread, a thread of this process, or the primary of this cluster's worker. */
  ledger: 'own' | 'thread' | 'primary'
  /** `NEW` or `NEW,FORMER`; null: the secret that the store generates. */
  secret: string | null
  now: () => Instant
}

/** Opens the ledger at `path` and creates it if it does not exist. Throws StoreFault. */
export function openSqliteLedger(
  path: string,
  options: SqliteLedgerOptions,
): Ledger & CrawlRequests & ProbedLedger & { close(): Promise<void> } {
  const configured = options.secret === null ? null : parseConfiguredSecrets(options.secret)
  const file = resolve(path)
  const database = openLedgerFile(file, options.ledger === 'own' ? 'write' : 'read')
  const writer = createLedgerWriter(file, database, options)
  const { write, requireWritable } = writeProbe(file, batchedWrite(writer))
  return {
    ...ledgerReads(database),
    ...ledgerWrites(write),
    ...sqliteSignIns(database, write),
    ...sqliteOperatorLedger(database, write),
    ...sqliteCrawlRequests(database, write),
    ...sqliteSecrets(database, configured, write),
    as: (actor) => ledgerChangesBy(actor, write, configured !== null),
    requireWritable,
    async close() {
      await nextTurn() // queued calls are sent first
      database.close()
      await writer.close() // last, because only the writer merges the log into the file
    },
  }
}

function createLedgerWriter(path: string, database: DatabaseSync, { ledger, now }: SqliteLedgerOptions): LedgerWriter {
  if (ledger === 'own') return inlineLedgerWriter(database, path, now)
  return ledger === 'thread' ? threadLedgerWriter(path, now) : primaryLedgerWriter(path)
}

function batchedWrite(writer: LedgerWriter): LedgerWrite {
  const send = batchPerTick(writer)
  return ((method, values, now = null) => send({ method, values, now })) as LedgerWrite
}

function ledgerReads(database: DatabaseSync) {
  const { account, accounts } = sqliteAccountReads(database)
  const { tokens } = tokenReads(database)
  const { standing } = tokenStandingReads(database)
  const { used } = sqliteBudgetReads(database)
  const { isPaid } = sqlitePaidFileReads(database)
  const { usage, deletedAccounts } = usageReads(database)
  const { audit, recentAudit } = auditReads(database)
  const { placeMark } = placeMarkReads(database)
  return {
    account: async (email) => account(email),
    accounts: async (after, limit, prefix) => accounts(after, limit, prefix),
    tokens: async (account) => tokens(account),
    findToken: async (hash) => standing(hash),
    usedUnits: async (account, day) => used(account, day),
    isFilePaid: async (account, day, file) => isPaid(account, day, file),
    deletedAccounts: async () => deletedAccounts(),
    usage: async (account, from, to) => usage(account, from, to),
    audit: async (filter, after, limit) => audit(filter, after, limit),
    recentAudit: async (filter, before, limit) => recentAudit(filter, before, limit),
    placeMark: async (place) => placeMark(place),
  } satisfies Partial<Ledger>
}

function ledgerChangesBy(actor: Actor, write: LedgerWrite, isConfigured: boolean): LedgerChanges {
  return {
    createAccount: (account, now, token) =>
      write('createAccount', [actor, account, token ? storedToken(token) : null], now),
    setPlan: (account, plan) => write('setPlan', [actor, account, plan]),
    setRole: (account, role) => write('setRole', [actor, account, role]),
    addPeriod: (account, period) => write('addPeriod', [actor, account, period]),
    removePeriod: (account, first) => write('removePeriod', [actor, account, first]),
    setAddon: (account, addon, enabled) => write('setAddon', [actor, account, addon, enabled]),
    suspendAccount: (account, now) => write('suspendAccount', [actor, account], now),
    resumeAccount: (account) => write('resumeAccount', [actor, account]),
    deleteAccount: (account, erase = false) => write('deleteAccount', [actor, account, erase]),
    setPassword: (account, hash, keep, now) => write('setPassword', [actor, account, hash, keep], now),
    createToken: (account, token, now) => write('createToken', [actor, account, storedToken(token)], now),
    createTokenWithin: (max, account, token, now) =>
      write('createTokenWithin', [actor, max, account, storedToken(token)], now),
    rotateToken: (max, account, { replacement, ...rotation }, now) =>
      write('rotateToken', [actor, max, account, { ...rotation, replacement: storedToken(replacement) }], now),
    revokeToken: (account, token, now) => write('revokeToken', [actor, account, token], now),
    createOperatorToken: (token, now) => write('createOperatorToken', [actor, storedToken(token)], now),
    revokeOperatorToken: (token, now) => write('revokeOperatorToken', [actor, token], now),
    requestRelease: (day, now) => write('requestRelease', [actor, day], now),
    async rotateSecret(now) {
      if (isConfigured) throw new StoreFault(CONFIGURED_SECRET_MESSAGE)
      await write('rotateSecret', [actor], now)
    },
  }
}

function ledgerWrites(write: LedgerWrite) {
  return {
    takeQuota: (request) => write('takeQuota', [request]),
    payForFile: (purchase) => write('payForFile', [purchase]),
    settleQuota: (settlements) => write('settleQuota', [settlements]),
    refundUnit: (account, day) => write('refundUnit', [account, day]),
    recordUsage: (calls) => write('recordUsage', [calls]),
    claimPlace: (place, mark, former) => write('claimPlace', [place, mark, former]),
    heartbeat: (holder, now) => write('heartbeat', [holder], now),
  } satisfies Partial<Ledger>
}

function sqliteCrawlRequests(database: DatabaseSync, write: LedgerWrite): CrawlRequests {
  const { ranges, inRange, count } = crawlRequestReads(database)
  return {
    requestFromLookup: (request) => write('requestFromLookup', [request]),
    add: (kind, names) => write('add', [kind, names]),
    ranges: async (kind) => ranges(kind),
    inRange: async (kind, range, limit) => inRange(kind, range, limit),
    count: async (kind) => count(kind),
    complete: (kind, names) => write('complete', [kind, names]),
  }
}

function storedToken<Hashed extends { hash: Uint8Array }>(token: Hashed): Omit<Hashed, 'hash'> & { hash: string } {
  return { ...token, hash: Buffer.from(token.hash).toString('hex') }
}

function sqliteSecrets(
  database: DatabaseSync,
  configured: Secret[] | null,
  write: LedgerWrite,
): Pick<Ledger, 'secrets'> {
  const { secrets } = secretReads(database)
  return {
    async secrets(now) {
      if (configured !== null) return configured
      const generated = secrets(now)
      if (generated.length > 0) return generated
      await write('makeSecret', [STORE_ACTOR])
      return secrets(now)
    },
  }
}
