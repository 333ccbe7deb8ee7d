/** The tokens of an account for operators: list, create, revoke. */

import { jsonResponse } from '../app/app-handler.ts'
import { readId } from '../app/request-values.ts'
import { createTokenOf, listedTokens, tokenBody } from '../app/tokens.ts'
import { ApiError } from '../errors.ts'
import { errorResponse } from '../http/response.ts'
import { NO_CONTENT } from './accounts.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'
import { readAccount } from './values.ts'

export async function listTokensByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { today, now } = call.operator
  return jsonResponse(200, { tokens: await listedTokens(call.context.ledger, await readAccount(call), today, now) })
}

/** A repeated request is answered with the ID of the token, because its text is not stored. */
export async function createTokenByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, body } = call
  const { id } = await readAccount(call)
  const { secret, created } = await createTokenOf(context.ledger.as(operator.actor), id, body, operator.now)
  const repeated = new ApiError('conflict', {
    msg: 'The first request with this Idempotency-Key created a token, whose text was shown once: revoke it if it is lost.',
    extra: { token: created.id },
  })
  return {
    ...jsonResponse(201, { token: tokenBody(created, 0), secret }),
    repeated: errorResponse(repeated, 'top'),
  }
}

export async function revokeTokenByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, params } = call
  const { id } = await readAccount(call)
  const token = readId(params.token ?? '')
  if (!(await context.ledger.as(operator.actor).revokeToken(id, token, operator.now)))
    throw new ApiError('not_found', { msg: 'The account has no active token with this ID.' })
  return NO_CONTENT
}
