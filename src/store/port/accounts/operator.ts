/** The ledger's part for operators: their tokens, the answers to requests that may be repeated, and releases. */

import type { NewToken, Token } from '../../../accounts/token.ts'
import type { Day, Instant } from '../../../values/time.ts'

/** A request that may be repeated. `holder`: the operator who sends it; `key`: the text that the operator chose. */
export type AnswerKey = { holder: string; key: string }

/** The answer to a request. `body` never contains a secret. */
export type StoredAnswer = { status: number; body: string }

/**
 * `claimed`: the request is new, and the caller must store its answer or release the key. `other_request`: the key
 * belongs to another request. `unanswered`: the same request has no answer yet. `too_many`: the operator has used too
 * many keys.
 */
export type AnswerClaim = 'claimed' | 'other_request' | 'unanswered' | 'too_many' | StoredAnswer

/** Seconds for which an answer is kept. */
export const ANSWER_SECONDS = 86_400

export interface OperatorLedger {
  /** All tokens of operators by ID, also those that are revoked or expired. */
  operatorTokens(): Promise<Token[]>
  /** Finds a token by its SHA-256. Also returns a revoked or expired one; the caller must check it. */
  findOperatorToken(hash: Uint8Array): Promise<Token | null>
  /** Records that a token is in use. */
  touchOperatorToken(token: number, now: Instant): Promise<void>

  /**
   * Claims a key for a request, whose SHA-256 is `request`, or returns what is known about it. Removes answers that are
   * older than ANSWER_SECONDS. `max`: the number of keys that an operator may use in that time.
   */
  claimAnswer(max: number, key: AnswerKey, request: Uint8Array, now: Instant): Promise<AnswerClaim>
  /** Stores the answer to a request whose key is claimed. */
  storeAnswer(key: AnswerKey, answer: StoredAnswer): Promise<void>
  /** Forgets a claimed key, because its request changed nothing. */
  releaseAnswer(key: AnswerKey): Promise<void>

  /** The days whose held file is to be released, oldest first. */
  releaseRequests(): Promise<Day[]>
  /** Removes the request of a day, because its file is published. */
  completeRelease(day: Day): Promise<void>
}

/** Requests to the job scheduler. Each effective one is written to the audit log. */
export interface ReleaseChanges {
  /** Requests the release of the held file of a day. Returns false if it is requested already. */
  requestRelease(day: Day, now: Instant): Promise<boolean>
}

/** The changes of the tokens of operators. Each effective change is written to the audit log. */
export interface OperatorTokenChanges {
  createOperatorToken(token: NewToken, now: Instant): Promise<Token>
  /** Returns false if there is no such active token. */
  revokeOperatorToken(token: number, now: Instant): Promise<boolean>
}
