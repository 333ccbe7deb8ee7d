/** Authenticates requests outside /v1.0/, whose token is a header. */

import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import type { Authenticator, Caller } from './authenticator.ts'
import { SESSION_COOKIE, type SessionAuthenticator } from './session-authenticator.ts'

type Authenticators = { authenticator: Authenticator; sessions: SessionAuthenticator }

export const NO_BEARER_MESSAGE =
  'There is no token: send it as the header "Authorization: Bearer TOKEN". The operator creates one with ' +
  '"domaindex account token create EMAIL".'

const NO_API_KEY_MESSAGE = 'There is no token: send it as the header X-API-Key.'

const NO_PASSWORD_TOKEN_MESSAGE = 'There is no token: send it as the password of Basic authentication.'

/** The caller of the bearer token (RFC 6750, section 2.1). Throws `token_missing` and `token_invalid`. */
export function authenticateBearer(
  { authenticator }: Pick<Authenticators, 'authenticator'>,
  { headers, ip }: ApiRequest,
): Caller | Promise<Caller> {
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) throw new ApiError('token_missing', { msg: NO_BEARER_MESSAGE })
  return authenticator.authenticate(token, ip)
}

/**
 * The caller of the bearer token, or of the token that is the password of Basic authentication (RFC 7617), with any
 * user name. Throws `token_missing` and `token_invalid`.
 */
export function authenticateBasicOrBearer(
  context: Pick<Authenticators, 'authenticator'>,
  request: ApiRequest,
): Caller | Promise<Caller> {
  const encoded = /^Basic +([\w+/-]+=*) *$/i.exec(request.headers.authorization ?? '')?.[1]
  if (encoded === undefined) return authenticateBearer(context, request)
  const [, password = ''] = /:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  if (password === '') throw new ApiError('token_missing', { msg: NO_PASSWORD_TOKEN_MESSAGE })
  return context.authenticator.authenticate(password, request.ip)
}

/**
 * The caller of the token in the header X-API-Key, as clients of DNSDB send it, or of the bearer token. Throws
 * `token_missing` and `token_invalid`.
 */
export function authenticateApiKey(
  context: Pick<Authenticators, 'authenticator'>,
  request: ApiRequest,
): Caller | Promise<Caller> {
  const key = String(request.headers['x-api-key'] ?? '').trim()
  if (key !== '') return context.authenticator.authenticate(key, request.ip)
  if (request.headers.authorization === undefined) throw new ApiError('token_missing', { msg: NO_API_KEY_MESSAGE })
  return authenticateBearer(context, request)
}

/**
 * The caller of the bearer token, or of the session if there is a session cookie and no token. A session needs the
 * header X-CSRF-Token. Throws `token_missing`, `token_invalid`, `session_missing` and `origin_refused`.
 */
export function authenticateBearerOrSession(context: Authenticators, request: ApiRequest): Caller | Promise<Caller> {
  const { authorization, cookie } = request.headers
  const isSession = authorization === undefined && cookie?.includes(`${SESSION_COOKIE}=`)
  return isSession
    ? context.sessions.authenticateSession(request, { csrf: true })
    : authenticateBearer(context, request)
}
