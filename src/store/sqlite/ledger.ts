/** The ledger on SQLite, and the wishes beside it: reads go to the file, writes to whoever has the pen. */

import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import type { Actor } from '../../accounts/audit.ts'
import type { NewToken } from '../../accounts/token.ts'
import type { Instant } from '../../words/time.ts'
import { OWN_ACTOR } from '../actor.ts'
import { StoreFault } from '../fault.ts'
import type { Changes, Ledger, Secret } from '../ledger.ts'
import { GIVEN, givenSecrets } from '../secrets.ts'
import type { Wishes } from '../wishes.ts'
import { accountReads } from './ledger/accounts.ts'
import { auditReads } from './ledger/audit.ts'
import { budgetReads } from './ledger/budget.ts'
import { gather, type Write, type Writer } from './ledger/calls.ts'
import { downloadReads } from './ledger/downloads.ts'
import { openLedgerFile } from './ledger/file.ts'
import { proving, type Writable } from './ledger/proof.ts'
import { secretReads } from './ledger/secrets.ts'
import { standingReads } from './ledger/standing.ts'
import { type KeptToken, tokenReads } from './ledger/tokens.ts'
import { usageReads } from './ledger/usage.ts'
import { wishReads } from './ledger/wishes.ts'
import { ownWriter, primaryWriter, threadWriter } from './ledger/writers.ts'

export type LedgerOptions = {
  /** Who has the pen: this thread, a thread of this process, the primary of this cluster's worker. */
  ledger: 'own' | 'thread' | 'primary'
  /** `NEW` or `NEW,FORMER`; null: the secret that the store makes. */
  secret: string | null
  now: () => Instant
}

/** Opens the ledger at `path`; it is made where it is not there. Throws StoreFault. */
export function openLedger(
  path: string,
  options: LedgerOptions,
): Ledger & Wishes & Writable & { close(): Promise<void> } {
  const given = options.secret === null ? null : givenSecrets(options.secret)
  const file = resolve(path)
  const database = openLedgerFile(file, options.ledger === 'own' ? 'write' : 'read')
  const writer = writerOf(file, database, options)
  const { write, prove } = proving(file, writeThrough(writer))
  return {
    ...reads(database),
    ...writes(write),
    ...wishesOf(database, write),
    ...secretsOf(database, given, write),
    as: (actor) => changesBy(actor, write, given !== null),
    prove,
    async close() {
      await turn() // what was gathered goes out first
      database.close()
      await writer.close() // last, because only who writes puts the log back into the file
    },
  }
}

function writerOf(path: string, database: DatabaseSync, { ledger, now }: LedgerOptions): Writer {
  if (ledger === 'own') return ownWriter(database, path, now)
  return ledger === 'thread' ? threadWriter(path, now) : primaryWriter(path)
}

function writeThrough(writer: Writer): Write {
  const send = gather(writer)
  return ((method, values, now = null) => send({ method, values, now })) as Write
}

function reads(database: DatabaseSync) {
  const { account, accounts } = accountReads(database)
  const { tokens } = tokenReads(database)
  const { standing } = standingReads(database)
  const { used } = budgetReads(database)
  const { isPaid } = downloadReads(database)
  const { usage } = usageReads(database)
  const { audit } = auditReads(database)
  return {
    account: async (email) => account(email),
    accounts: async (after, limit) => accounts(after, limit),
    tokens: async (account) => tokens(account),
    standing: async (hash) => standing(hash),
    used: async (account, day) => used(account, day),
    isPaid: async (account, day, file) => isPaid(account, day, file),
    usage: async (account, from, to) => usage(account, from, to),
    audit: async (filter, after, limit) => audit(filter, after, limit),
  } satisfies Partial<Ledger>
}

function changesBy(actor: Actor, write: Write, isGiven: boolean): Changes {
  return {
    createAccount: (account, now, token) => write('createAccount', [actor, account, token ? kept(token) : null], now),
    setPlan: (account, plan) => write('setPlan', [actor, account, plan]),
    setRole: (account, role) => write('setRole', [actor, account, role]),
    addPeriod: (account, period) => write('addPeriod', [actor, account, period]),
    removePeriod: (account, first) => write('removePeriod', [actor, account, first]),
    setAddon: (account, addon, on) => write('setAddon', [actor, account, addon, on]),
    suspendAccount: (account, now) => write('suspendAccount', [actor, account], now),
    resumeAccount: (account) => write('resumeAccount', [actor, account]),
    deleteAccount: (account) => write('deleteAccount', [actor, account]),
    createToken: (account, token, now) => write('createToken', [actor, account, kept(token)], now),
    revokeToken: (account, token, now) => write('revokeToken', [actor, account, token], now),
    async rotateSecret(now) {
      if (isGiven) throw new StoreFault(GIVEN)
      await write('rotateSecret', [actor], now)
    },
  }
}

function writes(write: Write) {
  return {
    take: (ask) => write('take', [ask]),
    pay: (purchase) => write('pay', [purchase]),
    settle: (settlements) => write('settle', [settlements]),
    giveBack: (account, day) => write('giveBack', [account, day]),
    note: (calls) => write('note', [calls]),
    beat: (holder, now) => write('beat', [holder], now),
  } satisfies Partial<Ledger>
}

function wishesOf(database: DatabaseSync, write: Write): Wishes {
  const { ranges, wanted, count } = wishReads(database)
  return {
    ask: (question) => write('ask', [question]),
    want: (kind, names) => write('want', [kind, names]),
    ranges: async (kind) => ranges(kind),
    wanted: async (kind, range, limit) => wanted(kind, range, limit),
    count: async (kind) => count(kind),
    fulfil: (kind, names) => write('fulfil', [kind, names]),
  }
}

const kept = (token: NewToken): KeptToken => ({ ...token, hash: Buffer.from(token.hash).toString('hex') })

function secretsOf(database: DatabaseSync, given: Secret[] | null, write: Write): Pick<Ledger, 'secrets'> {
  const { secrets } = secretReads(database)
  return {
    async secrets(now) {
      if (given !== null) return given
      const made = secrets(now)
      if (made.length > 0) return made
      await write('makeSecret', [OWN_ACTOR])
      return secrets(now)
    },
  }
}
