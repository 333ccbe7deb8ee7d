/** The tokens of an account for the web page: list, create, rotate, revoke. */

import { randomBytes } from 'node:crypto'
import type { Account } from '../../accounts/account.ts'
import { webActor } from '../../accounts/audit.ts'
import { isActive, makeToken, newTokenRecord, parseTokenName, TOKEN_BYTES, type Token } from '../../accounts/token.ts'
import type { Ledger, LedgerChanges } from '../../store/port/ledger.ts'
import { type Day, type Instant, utcText } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import { type Parameters, readId } from '../http/parameters.ts'
import { readBody } from '../http/request.ts'
import { jsonResponse, NO_CONTENT } from '../http/response.ts'
import type { AppHandler } from './app-handler.ts'
import { readInstant, valueError } from './request-values.ts'

/** The maximum number of tokens of an account that are active or less than a day old. */
const MAX_TOKENS = 100
/** The maximum number of revoked and expired tokens in the list, the newest ones. */
const MAX_LISTED_INACTIVE = 100
const MAX_GRACE_HOURS = 168
const SECONDS_PER_HOUR = 3_600

const TOO_MANY_MESSAGE =
  `An account may have ${MAX_TOKENS} tokens that are active or less than a day old: ` +
  'revoke one, or wait until tomorrow.'

export const listTokens: AppHandler = async ({ ledger }, { account, today, now }) =>
  jsonResponse(200, { tokens: await listedTokens(ledger, account, today, now) })

/** The active tokens of an account and the newest others, with the calls of each on this day. */
export async function listedTokens(
  ledger: Pick<Ledger, 'tokens' | 'usage'>,
  account: Pick<Account, 'id'>,
  today: Day,
  now: Instant,
): Promise<object[]> {
  const [tokens, usage] = await Promise.all([ledger.tokens(account.id), ledger.usage(account.id, today, today)])
  const callsOf = (token: number): number =>
    usage.reduce((sum, count) => (count.token === token ? sum + count.calls : sum), 0)
  const inactive = tokens.filter((token) => !isActive(token, now)).slice(-MAX_LISTED_INACTIVE)
  const listed = tokens.filter((token) => isActive(token, now) || inactive.includes(token))
  return listed.map((token) => tokenBody(token, callsOf(token.id)))
}

export const createToken: AppHandler = async ({ ledger }, { account, now }, request) => {
  const { secret, created } = await createTokenOf(
    ledger.as(webActor(account.email)),
    account.id,
    readBody(request),
    now,
  )
  return jsonResponse(201, { token: tokenBody(created, 0), secret })
}

/** Creates a token with the name and the expiry of a body. Throws ApiError. */
export async function createTokenOf(
  changes: Pick<LedgerChanges, 'createTokenWithin'>,
  account: number,
  body: Parameters,
  now: Instant,
): Promise<{ secret: string; created: Token }> {
  const name = typeof body.name === 'string' ? parseTokenName(body.name) : null
  if (name === null) throw valueError('name', 'A name has 1 to 100 characters and no control characters.')
  const expires = readInstant(body, 'expires')
  if (expires !== null && expires <= now) throw valueError('expires', '"expires" must be in the future.')
  const secret = makeToken(randomBytes(TOKEN_BYTES))
  const record = newTokenRecord(secret, name, expires)
  const created = await changes.createTokenWithin(MAX_TOKENS, account, record, now)
  if (created === 'too_many_tokens') throw new ApiError('conflict', { msg: TOO_MANY_MESSAGE })
  return { secret, created }
}

export const rotateToken: AppHandler = async ({ ledger }, { account, now }, request) => {
  const token = readId(idIn(request))
  const { grace_hours: grace } = readBody(request)
  if (typeof grace !== 'number' || !Number.isInteger(grace) || grace < 0 || grace > MAX_GRACE_HOURS)
    throw valueError('grace_hours', `"grace_hours" must be a whole number from 0 to ${MAX_GRACE_HOURS}.`)
  const secret = makeToken(randomBytes(TOKEN_BYTES))
  const { hint, hash } = newTokenRecord(secret, '', null)
  const rotation = { token, replacement: { hint, hash }, until: now + grace * SECONDS_PER_HOUR }
  const created = await ledger.as(webActor(account.email)).rotateToken(MAX_TOKENS, account.id, rotation, now)
  if (created === 'unknown_token')
    throw new ApiError('not_found', { msg: 'The account has no active token with this ID.' })
  if (created === 'too_many_tokens') throw new ApiError('conflict', { msg: TOO_MANY_MESSAGE })
  return jsonResponse(201, { token: tokenBody(created, 0), secret })
}

export const revokeToken: AppHandler = async ({ ledger }, { account, now }, request) => {
  const isRevoked = await ledger.as(webActor(account.email)).revokeToken(account.id, readId(idIn(request)), now)
  if (!isRevoked) throw new ApiError('not_found', { msg: 'The account has no active token with this ID.' })
  return NO_CONTENT
}

function idIn({ params }: { params: unknown }): string {
  return (params as { id: string }).id
}

/** `today`: the calls of the token on this UTC day. */
export function tokenBody({ id, name, hint, created, expires, last_used, revoked }: Token, today: number): object {
  return {
    id,
    name,
    hint,
    created: utcText(created),
    last_used: utcText(last_used),
    expires: utcText(expires),
    revoked: utcText(revoked),
    today,
  }
}
