/** Answers a repeated request with the first answer: the header Idempotency-Key (draft-ietf-httpapi-idempotency-key). */

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { UncertainWriteFault } from '../../store/port/fault.ts'
import { ANSWER_SECONDS } from '../../store/port/operator.ts'
import { valueError } from '../app/request-values.ts'
import type { ApiContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { ApiResponse } from '../http/response.ts'
import type { Operator } from './operator.ts'

/** `repeated`: the answer to the same request again, if it differs because the first one contains a secret. */
export type OperatorResponse = ApiResponse & { repeated?: ApiResponse }

/** The maximum number of keys that an operator may use in a day. */
const MAX_KEYS = 10_000
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

const OTHER_REQUEST_MESSAGE = 'This Idempotency-Key belongs to another request: use a new key.'
const UNANSWERED_MESSAGE =
  'The first request with this Idempotency-Key has no answer yet, or nobody knows whether the store wrote its change: ' +
  'read what it changed, then use a new key.'

/** Runs `work` once per key. Throws `conflict` and `too_many_attempts`, and what `work` throws. */
export async function answerOnce(
  { ledger }: ApiContext,
  { holder, now }: Operator,
  request: FastifyRequest,
  work: () => Promise<OperatorResponse>,
): Promise<ApiResponse> {
  const { 'idempotency-key': text } = request.headers
  if (text === undefined) return work()
  if (typeof text !== 'string' || !KEY_PATTERN.test(text))
    throw valueError('Idempotency-Key', 'An Idempotency-Key has 1 to 255 visible ASCII characters.')
  const key = { holder, key: text }
  const claim = await ledger.claimAnswer(MAX_KEYS, key, digestOf(request), now)
  if (claim === 'other_request') throw new ApiError('conflict', { msg: OTHER_REQUEST_MESSAGE })
  if (claim === 'unanswered') throw new ApiError('conflict', { msg: UNANSWERED_MESSAGE })
  if (claim === 'too_many')
    throw new ApiError('too_many_attempts', {
      msg: `There are ${MAX_KEYS} keys of the last 24 hours: wait, or send no Idempotency-Key.`,
      retryAfter: ANSWER_SECONDS,
    })
  if (claim !== 'claimed') return { status: claim.status, body: [claim.body], headers: ['Idempotent-Replayed', 'true'] }
  const response = await work().catch(async (thrown: unknown) => {
    if (!(thrown instanceof UncertainWriteFault)) await ledger.releaseAnswer(key)
    throw thrown
  })
  const { status, body } = response.repeated ?? response
  await ledger.storeAnswer(key, { status, body: body.join('') })
  return response
}

function digestOf({ method, url, body }: FastifyRequest): Uint8Array {
  return createHash('sha256')
    .update(`${method} ${url}\n${String(body ?? '')}`)
    .digest()
}
