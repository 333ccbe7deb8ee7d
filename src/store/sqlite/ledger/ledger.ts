/** The ledger and the crawl requests on SQLite: reads use the file, writes go to the process that writes the ledger. */

import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../../values/time.ts'
import type { WatchIndex } from '../../../watch/watch-index.ts'
import { crawlRequestReads } from '../../ledger/crawl-requests.ts'
import { sharedLedger } from '../../ledger/ledger.ts'
import type { CrawlRequests } from '../../port/crawl-requests.ts'
import type { Ledger } from '../../port/ledger.ts'
import { parseConfiguredSecrets } from '../../shared/secrets.ts'
import { openLedgerFile } from './file.ts'
import { sqliteLedgerRead, watchReader } from './session.ts'
import { batchPerTick, type LedgerWriter, type SqliteLedgerWrite } from './writing/calls.ts'
import { type ProbedLedger, writeProbe } from './writing/write-probe.ts'
import { inlineLedgerWriter, primaryLedgerWriter, threadLedgerWriter } from './writing/writers.ts'

export type SqliteLedgerOptions = {
  /** The writer: this thread, a thread of this process, or the primary of this cluster's worker. */
  ledger: 'own' | 'thread' | 'primary'
  /** `NEW` or `NEW,FORMER`; null: the secret that the store generates. */
  secret: string | null
  now: () => Instant
}

/** `readWatches`: as watchReader. */
export type SqliteLedger = Ledger &
  CrawlRequests &
  ProbedLedger & { readWatches: () => WatchIndex; close(): Promise<void> }

/** Opens the ledger at `path` and creates it if it does not exist. Throws StoreFault. */
export function openSqliteLedger(path: string, options: SqliteLedgerOptions): SqliteLedger {
  const configured = options.secret === null ? null : parseConfiguredSecrets(options.secret)
  const file = resolve(path)
  const database = openLedgerFile(file, options.ledger === 'own' ? 'write' : 'read')
  const writer = createLedgerWriter(file, database, options)
  const { write, requireWritable } = writeProbe(file, batchedWrite(writer))
  const read = sqliteLedgerRead(database)
  return {
    ...sharedLedger(read, write, configured),
    ...quotaWrites(write),
    ...crawlRequestReads(read, read),
    requestFromLookup: (request) => write('requestFromLookup', [request]),
    add: (kind, names) => write('add', [kind, names]),
    complete: (kind, names) => write('complete', [kind, names]),
    requireWritable,
    readWatches: watchReader(database),
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

function batchedWrite(writer: LedgerWriter): SqliteLedgerWrite {
  const send = batchPerTick(writer)
  return ((method, values, now = null) => send({ method, values, now })) as SqliteLedgerWrite
}

function quotaWrites(write: SqliteLedgerWrite) {
  return {
    takeQuota: (request) => write('takeQuota', [request]),
    payForFile: (purchase) => write('payForFile', [purchase]),
    settleQuota: (settlements) => write('settleQuota', [settlements]),
    refundUnit: (account, day) => write('refundUnit', [account, day]),
    recordUsage: (calls) => write('recordUsage', [calls]),
    heartbeat: (holder, now) => write('heartbeat', [holder], now),
  } satisfies Partial<Ledger>
}
