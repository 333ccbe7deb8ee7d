/** The ledger's part for operators: their tokens, the answers to requests with an Idempotency-Key, and releases. */

import type { Actor } from '../../accounts/audit.ts'
import type { NewToken, Token } from '../../accounts/token.ts'
import type { Day, Instant } from '../../values/time.ts'
import { ANSWER_SECONDS, type AnswerClaim, type AnswerKey, type StoredAnswer } from '../port/accounts/operator.ts'
import { auditInstallation } from './audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from './session.ts'
import { isActiveSql, TOKEN_COLUMNS } from './tokens.ts'

/** Old answers that one write removes. */
const MAX_REMOVED = 100

export const OPERATORS = ledgerStatements('operator', {
  tokens: `select ${TOKEN_COLUMNS} from operator_token order by id`,
  findToken: `select ${TOKEN_COLUMNS} from operator_token where hash = $1`,
  insertToken: `insert into operator_token (name, hint, hash, created, expires) values ($1, $2, $3, $4, $5)
    returning ${TOKEN_COLUMNS}`,
  revokeToken: `update operator_token set revoked = $2 where id = $1 and ${isActiveSql('$2')} returning name`,
  touchToken: 'update operator_token set last_used = $2 where id = $1 and (last_used is null or last_used < $2)',

  removeOwnAnswer: 'delete from idempotent_answer where holder = $1 and key = $2 and created <= $3',
  /** Waits for another process that claims the same key. */
  claimAnswer: `insert into idempotent_answer (holder, key, request, created)
    select $1, $2, $3, cast($4 as bigint)
    where (select count(*) from idempotent_answer where holder = $1 and created > $6) < cast($5 as bigint)
    on conflict (holder, key) do nothing`,
  answer: 'select request, status, body from idempotent_answer where holder = $1 and key = $2',
  /** Last in its transaction, and without waiting for a process that removes the same rows. */
  removeOldAnswers: `delete from idempotent_answer where (holder, key) in
    (select holder, key from idempotent_answer where created <= $1 limit ${MAX_REMOVED} for update skip locked)`,
  storeAnswer: 'update idempotent_answer set status = $3, body = $4 where holder = $1 and key = $2',
  releaseAnswer: 'delete from idempotent_answer where holder = $1 and key = $2 and status is null',

  releases: 'select day from release_request order by day',
  insertRelease: 'insert into release_request (day, requested) values ($1, $2) on conflict do nothing',
  removeRelease: 'delete from release_request where day = $1',
})

type AnswerRow = { request: Uint8Array; status: number | null; body: string | null }

export const operatorTransactions = {
  *createOperatorToken(now: Instant, actor: Actor, { name, hint, hash, expires }: NewToken): Transaction<Token> {
    const token = (yield* row<Token>(OPERATORS.insertToken, [name, hint, hash, now, expires]))!
    yield* auditInstallation(now, actor, 'operator_token.create', { token: token.id, name, expires })
    return token
  },
  *revokeOperatorToken(now: Instant, actor: Actor, token: number): Transaction<boolean> {
    const revoked = yield* row<{ name: string }>(OPERATORS.revokeToken, [token, now])
    if (revoked === undefined) return false
    yield* auditInstallation(now, actor, 'operator_token.revoke', { token, name: revoked.name })
    return true
  },
  *touchOperatorToken(now: Instant, token: number): Transaction<void> {
    yield* run(OPERATORS.touchToken, [token, now])
  },

  *claimAnswer(now: Instant, max: number, { holder, key }: AnswerKey, request: Uint8Array): Transaction<AnswerClaim> {
    const oldest = now - ANSWER_SECONDS
    yield* run(OPERATORS.removeOwnAnswer, [holder, key, oldest])
    const isClaimed = (yield* run(OPERATORS.claimAnswer, [holder, key, request, now, max, oldest])) === 1
    const known = isClaimed ? undefined : yield* row<AnswerRow>(OPERATORS.answer, [holder, key])
    yield* run(OPERATORS.removeOldAnswers, [oldest])
    if (isClaimed) return 'claimed'
    if (known === undefined) return 'too_many'
    const { status, body } = known
    if (Buffer.compare(known.request, request) !== 0) return 'other_request'
    return status === null || body === null ? 'unanswered' : { status, body }
  },
  *storeAnswer(_now: Instant, { holder, key }: AnswerKey, { status, body }: StoredAnswer): Transaction<void> {
    yield* run(OPERATORS.storeAnswer, [holder, key, status, body])
  },
  *releaseAnswer(_now: Instant, { holder, key }: AnswerKey): Transaction<void> {
    yield* run(OPERATORS.releaseAnswer, [holder, key])
  },

  *requestRelease(now: Instant, actor: Actor, day: Day): Transaction<boolean> {
    if ((yield* run(OPERATORS.insertRelease, [day, now])) === 0) return false
    yield* auditInstallation(now, actor, 'daily.release', { day })
    return true
  },
  *completeRelease(_now: Instant, day: Day): Transaction<void> {
    yield* run(OPERATORS.removeRelease, [day])
  },
}

export function operatorReads(read: LedgerRead) {
  return {
    operatorTokens: () => read<Token>(OPERATORS.tokens),
    findOperatorToken: async (hash: Uint8Array) => (await read<Token>(OPERATORS.findToken, [hash]))[0] ?? null,
    releaseRequests: async () => (await read<{ day: Day }>(OPERATORS.releases)).map(({ day }) => day),
  }
}
