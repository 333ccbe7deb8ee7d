/**
 * The ledger for every engine: its reads, its transactions by name, and the port that they make; the secrets and places
 * of the installation, and the usage.
 */

import type { Actor, ForgottenNames } from '../../accounts/audit.ts'
import type { Day, Instant } from '../../values/time.ts'
import { StoreFault } from '../port/fault.ts'
import type { Ledger, LedgerChanges, PlaceName, Secret, UsageCount } from '../port/ledger.ts'
import { STORE_ACTOR } from '../shared/actor.ts'
import {
  CONFIGURED_SECRET_MESSAGE,
  FORMER_SECRET_SECONDS,
  generateSecret,
  SIGNING_DELAY_SECONDS,
} from '../shared/secrets.ts'
import { ACCOUNT_REMOVALS, ACCOUNTS, accountReads, accountTransactions, EMAIL_REMOVALS } from './accounts.ts'
import { AUDIT, auditInstallation, auditReads } from './audit.ts'
import { CRAWL_REQUESTS } from './crawl-requests.ts'
import { DIGESTS, digestReads, digestTransactions } from './digests.ts'
import { FEEDS, feedReads, feedTransactions } from './feeds.ts'
import { OPERATORS, operatorReads, operatorTransactions } from './operators.ts'
import { PRUNING, pruningReads, pruningTransactions } from './pruning.ts'
import {
  type LedgerRead,
  type LedgerStatement,
  type LedgerWrite,
  ledgerStatements,
  row,
  run,
  type Transaction,
  type WriteMethods,
} from './session.ts'
import { SIGN_IN, signInReads, signInTransactions } from './sign-in.ts'
import { TOKENS, tokenReads, tokenTransactions } from './tokens.ts'
import { WATCH_REMOVALS, WATCHES, watchReads, watchTransactions } from './watches.ts'
import { WEBHOOK_REMOVALS, WEBHOOKS, webhookReads, webhookTransactions } from './webhooks.ts'

const usageOf = (table: string): string =>
  `select day, endpoint, token, calls from ${table}
   where account = $1 and day >= coalesce($2, '') and day <= coalesce($3, '9999-12-31')`

/** What accounts have used: calls by token, endpoint and day, spent units, and paid files. The engines write it. */
const USAGE = ledgerStatements('usage', {
  calls: `${usageOf('usage')} union all ${usageOf('closed_usage')} order by day, endpoint, token`,
  deletedAccounts: 'select distinct account from closed_usage order by account',
  units: 'select used from budget where account = $1 and day = $2',
  budgets: 'select day, used from budget where account = $1 order by day',
  paidFiles: 'select day, file from paid_file where account = $1 order by day, file',
  paidFile: 'select 1 from paid_file where account = $1 and day = $2 and file = $3',
})

/** What belongs to the installation: its secrets, and the marks of the places where it keeps files. */
const INSTALLATION = ledgerStatements('installation', {
  secrets: `select number, bytes from secret where replaced_at is null or replaced_at > $1
    order by case when replaced_at > $2 then 1 else 0 end desc, coalesce(replaced_at, 9000000000000000) desc, number`,
  addSecret: `insert into secret (number, bytes) select $1, $2
    where not exists (select 1 from secret where replaced_at is null) on conflict do nothing`,
  lockSecret: 'select bytes from secret where replaced_at is null for update',
  replaceSecret: 'update secret set replaced_at = $1 where replaced_at is null',
  removeSecrets: 'delete from secret where replaced_at <= $1',
  placeMark: 'select mark from place_mark where place = $1',
  claimPlace: `insert into place_mark (place, mark) values ($1, $2)
    on conflict (place) do update set mark = excluded.mark where place_mark.mark = $3`,
})

/** `bytes` null: the operator has set the secret, and the store has only its digest. */
type SecretRow = { number: number; bytes: Uint8Array | null }

const SECRET_UNSET_MESSAGE =
  'the secret of this installation is set by DOMAINDEX_SECRET: set it for this process to the same value'

const installationTransactions = {
  *makeSecret(now: Instant, actor: Actor): Transaction<void> {
    yield* addSecret(now, actor, 'secret.create')
  },
  *rotateSecret(now: Instant, actor: Actor): Transaction<void> {
    const active = yield* row<{ bytes: Uint8Array | null }>(INSTALLATION.lockSecret, [])
    if (active?.bytes === null) throw new StoreFault(SECRET_UNSET_MESSAGE)
    yield* run(INSTALLATION.removeSecrets, [now - FORMER_SECRET_SECONDS])
    yield* run(INSTALLATION.replaceSecret, [now])
    yield* addSecret(now, actor, 'secret.rotate')
  },
  *recordForgotten(now: Instant, actor: Actor, names: ForgottenNames): Transaction<void> {
    yield* auditInstallation(now, actor, 'names.forget', names)
  },
  *claimPlace(_now: Instant, place: PlaceName, mark: string, former: string | null): Transaction<string> {
    yield* run(INSTALLATION.claimPlace, [place, mark, former])
    return (yield* row<{ mark: string }>(INSTALLATION.placeMark, [place]))!.mark
  },
}

/** Every statement of the ledger that the engines share. */
export const LEDGER_STATEMENTS: readonly LedgerStatement[] = [
  ...[
    ACCOUNTS,
    ACCOUNT_REMOVALS,
    EMAIL_REMOVALS,
    AUDIT,
    TOKENS,
    SIGN_IN,
    OPERATORS,
    INSTALLATION,
    USAGE,
    CRAWL_REQUESTS,
  ],
  ...[WATCHES, WATCH_REMOVALS, WEBHOOKS, WEBHOOK_REMOVALS, DIGESTS, FEEDS, PRUNING],
].flatMap((statements) => Object.values(statements))

export const ledgerTransactions = {
  ...accountTransactions,
  ...tokenTransactions,
  ...signInTransactions,
  ...operatorTransactions,
  ...installationTransactions,
  ...watchTransactions,
  ...webhookTransactions,
  ...digestTransactions,
  ...feedTransactions,
  ...pruningTransactions,
}

export type LedgerMethods = WriteMethods<typeof ledgerTransactions>

/** What an engine adds, because its writers work together in its own way. */
type EngineWrites = 'takeQuota' | 'settleQuota' | 'refundUnit' | 'payForFile' | 'heartbeat' | 'recordUsage'

/** `configured`: the secrets that the operator has set; null: the store generates them. */
export function sharedLedger(
  read: LedgerRead,
  write: LedgerWrite<LedgerMethods>,
  configured: Secret[] | null,
): Omit<Ledger, EngineWrites> {
  const { generatedSecrets, ...installation } = installationReads(read)
  return {
    ...accountReads(read),
    ...tokenReads(read),
    ...signInReads(read),
    ...operatorReads(read),
    ...usageReads(read),
    ...auditReads(read),
    ...watchReads(read),
    ...webhookReads(read),
    ...webhookWrites(write),
    ...digestReads(read),
    ...feedReads(read),
    ...pruningReads(read),
    ...digestWrites(write),
    ...installation,
    as: (actor) => changesBy(actor, write, configured !== null),
    createSession: (session, now) => write('createSession', [session], now),
    touchSession: (session, now) => write('touchSession', [session], now),
    endSession: (account, session) => write('endSession', [account, session]),
    endSessions: (account, except) => write('endSessions', [account, except]),
    createLink: (link, now) => write('createLink', [link], now),
    takeLink: (hash, kind, now) => write('takeLink', [hash, kind], now),
    countAttempt: (limits, now) => write('countAttempt', [limits], now),
    clearAttempts: (keys) => write('clearAttempts', [keys]),
    touchOperatorToken: (token, now) => write('touchOperatorToken', [token], now),
    claimAnswer: (max, key, request, now) => write('claimAnswer', [max, key, request], now),
    storeAnswer: (key, answer) => write('storeAnswer', [key, answer]),
    releaseAnswer: (key) => write('releaseAnswer', [key]),
    createWatch: (max, account, rule, now) => write('createWatch', [max, account, rule], now),
    removeWatch: (account, watch) => write('removeWatch', [account, watch]),
    muteWatch: (account, watch, isMuted, now) => write('muteWatch', [account, watch, isMuted], now),
    replaceFeed: (account, hash, now) => write('replaceFeed', [account, hash], now),
    removeFeed: (account) => write('removeFeed', [account]),
    completeRelease: (day) => write('completeRelease', [day]),
    prune: (kind, before, after, now) => write('prune', [kind, before, after], now),
    claimPlace: (place, mark, former) => write('claimPlace', [place, mark, former]),
    async secrets(now) {
      if (configured !== null) return configured
      const generated = await generatedSecrets(now)
      if (generated.length > 0) return generated
      await write('makeSecret', [STORE_ACTOR], now)
      return generatedSecrets(now)
    },
  }
}

function digestWrites(write: LedgerWrite<LedgerMethods>) {
  return {
    setDigest: (account, digest) => write('setDigest', [account, digest]),
    endDigest: (account) => write('endDigest', [account]),
    endDigestByKey: (key) => write('endDigestByKey', [key]),
    claimDigests: (holder, until, limit, now) => write('claimDigests', [holder, until, limit], now),
    recordDigest: (claim, outcome) => write('recordDigest', [claim, outcome]),
  } satisfies Partial<Ledger>
}

function webhookWrites(write: LedgerWrite<LedgerMethods>) {
  return {
    createWebhook: (max, account, webhook, now) => write('createWebhook', [max, account, webhook], now),
    removeWebhook: (account, webhook) => write('removeWebhook', [account, webhook]),
    requestTest: (account, webhook, now) => write('requestTest', [account, webhook], now),
    redeliver: (account, webhook, event, now) => write('redeliver', [account, webhook, event], now),
    wakeWebhooks: (accounts, now) => write('wakeWebhooks', [accounts], now),
    wakeAllWebhooks: (last, now) => write('wakeAllWebhooks', [last], now),
    limitSeen: (highest) => write('limitSeen', [highest]),
    claimWebhooks: (holder, until, limit, now) => write('claimWebhooks', [holder, until, limit], now),
    recordDeliveries: (claim, outcome, now) => write('recordDeliveries', [claim, outcome], now),
    removeOldDeliveries: (before) => write('removeOldDeliveries', [before]),
    replaceKey: (webhook, former, key) => write('replaceKey', [webhook, former, key]),
  } satisfies Partial<Ledger>
}

function changesBy(actor: Actor, write: LedgerWrite<LedgerMethods>, isConfigured: boolean): LedgerChanges {
  return {
    createAccount: (account, now, token) => write('createAccount', [actor, account, token ?? null], now),
    setPlan: (account, plan) => write('setPlan', [actor, account, plan]),
    setRole: (account, role) => write('setRole', [actor, account, role]),
    addPeriod: (account, period) => write('addPeriod', [actor, account, period]),
    removePeriod: (account, first) => write('removePeriod', [actor, account, first]),
    setAddon: (account, addon, enabled) => write('setAddon', [actor, account, addon, enabled]),
    suspendAccount: (account, now) => write('suspendAccount', [actor, account], now),
    resumeAccount: (account) => write('resumeAccount', [actor, account]),
    deleteAccount: (account, erase = false) => write('deleteAccount', [actor, account, erase]),
    setPassword: (account, hash, keep, now) => write('setPassword', [actor, account, hash, keep], now),
    createToken: (account, token, now) => write('createToken', [actor, account, token], now),
    createTokenWithin: (max, account, token, now) => write('createTokenWithin', [actor, max, account, token], now),
    rotateToken: (max, account, rotation, now) => write('rotateToken', [actor, max, account, rotation], now),
    revokeToken: (account, token, now) => write('revokeToken', [actor, account, token], now),
    createOperatorToken: (token, now) => write('createOperatorToken', [actor, token], now),
    revokeOperatorToken: (token, now) => write('revokeOperatorToken', [actor, token], now),
    requestRelease: (day, now) => write('requestRelease', [actor, day], now),
    recordForgotten: (names) => write('recordForgotten', [actor, names]),
    recordExport: (account) => write('recordExport', [actor, account]),
    async rotateSecret(now) {
      if (isConfigured) throw new StoreFault(CONFIGURED_SECRET_MESSAGE)
      await write('rotateSecret', [actor], now)
    },
  }
}

function installationReads(read: LedgerRead) {
  return {
    placeMark: async (place: PlaceName) =>
      (await read<{ mark: string }>(INSTALLATION.placeMark, [place]))[0]?.mark ?? null,
    /**
     * The generated secrets that are still accepted; the first one signs. Throws StoreFault if the operator has set it.
     */
    async generatedSecrets(now: Instant): Promise<Secret[]> {
      const values = [now - FORMER_SECRET_SECONDS, now - SIGNING_DELAY_SECONDS]
      return (await read<SecretRow>(INSTALLATION.secrets, values)).map(({ number, bytes }) => {
        if (bytes === null) throw new StoreFault(SECRET_UNSET_MESSAGE)
        return { number, bytes }
      })
    },
  }
}

/** Adds a secret if none is active. */
function* addSecret(now: Instant, actor: Actor, action: 'secret.create' | 'secret.rotate'): Transaction<void> {
  const { number, bytes } = generateSecret()
  if ((yield* run(INSTALLATION.addSecret, [number, bytes])) === 1)
    yield* auditInstallation(now, actor, action, { number })
}

function usageReads(read: LedgerRead) {
  return {
    usage: (account: number, from: Day | null, to: Day | null) => read<UsageCount>(USAGE.calls, [account, from, to]),
    budgets: (account: number) => read<{ day: Day; used: number }>(USAGE.budgets, [account]),
    paidFiles: (account: number) => read<{ day: Day; file: string }>(USAGE.paidFiles, [account]),
    deletedAccounts: async () => (await read<{ account: number }>(USAGE.deletedAccounts)).map(({ account }) => account),
    usedUnits: async (account: number, day: Day) =>
      (await read<{ used: number }>(USAGE.units, [account, day]))[0]?.used ?? 0,
    isFilePaid: async (account: number, day: Day, file: string) =>
      (await read(USAGE.paidFile, [account, day, file])).length > 0,
  }
}
