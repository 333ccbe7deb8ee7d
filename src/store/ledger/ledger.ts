/** The ledger for every engine: its reads, its transactions by name, and the port that they make. */

import type { Actor } from '../../accounts/audit.ts'
import { StoreFault } from '../port/fault.ts'
import type { Ledger, LedgerChanges, Secret } from '../port/ledger.ts'
import { STORE_ACTOR } from '../shared/actor.ts'
import { CONFIGURED_SECRET_MESSAGE } from '../shared/secrets.ts'
import { ACCOUNT_REMOVALS, ACCOUNTS, accountReads, accountTransactions } from './accounts.ts'
import { AUDIT, auditReads } from './audit.ts'
import { CRAWL_REQUESTS } from './crawl-requests.ts'
import { INSTALLATION, installationReads, installationTransactions } from './installation.ts'
import { OPERATORS, operatorReads, operatorTransactions } from './operators.ts'
import type { LedgerRead, LedgerStatement, LedgerWrite, WriteMethods } from './session.ts'
import { SIGN_IN, signInReads, signInTransactions } from './sign-in.ts'
import { TOKENS, tokenReads, tokenTransactions } from './tokens.ts'
import { USAGE, usageReads } from './usage.ts'

/** Every statement of the ledger that the engines share. */
export const LEDGER_STATEMENTS: readonly LedgerStatement[] = [
  ...[ACCOUNTS, ACCOUNT_REMOVALS, AUDIT, TOKENS, SIGN_IN, OPERATORS, INSTALLATION, USAGE, CRAWL_REQUESTS],
].flatMap((statements) => Object.values(statements))

export const ledgerTransactions = {
  ...accountTransactions,
  ...tokenTransactions,
  ...signInTransactions,
  ...operatorTransactions,
  ...installationTransactions,
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
    completeRelease: (day) => write('completeRelease', [day]),
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
    async rotateSecret(now) {
      if (isConfigured) throw new StoreFault(CONFIGURED_SECRET_MESSAGE)
      await write('rotateSecret', [actor], now)
    },
  }
}
