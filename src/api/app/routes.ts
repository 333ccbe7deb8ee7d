/** The routes of the web page: queries, tokens, usage, plan and files of an account, signing in and sessions. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../accounts/account.ts'
import { type DailyAccess, dailyAccess } from '../../accounts/daily-access.ts'
import { passwordProblem } from '../../accounts/password.ts'
import { hashSecret, sessionEnd } from '../../accounts/session.ts'
import { type FileManifest, type FileName, snapshotEditionOf } from '../../jobs/file-store/file-store.ts'
import { clientAddressKey, clientRangeMatcher } from '../../values/client-address.ts'
import { addDays, type Day, parseDay, utcText } from '../../values/time.ts'
import {
  countLinkUse,
  countSignIn,
  forgetSignIn,
  refuseSpentClient,
  type SignInAttempt,
} from '../auth/attempt-limits.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { SessionCaller } from '../auth/session-authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { uses } from '../endpoints/profiles/uses.ts'
import { missingAddon } from '../endpoints/snapshot.ts'
import { mayFetchFile } from '../files/file-list.ts'
import { endpointOfFile, findFile } from '../files/file-routes.ts'
import { ApiError } from '../http/errors.ts'
import { type FileDownload, fileEtag } from '../http/files/file-response.ts'
import type { Parameters } from '../http/parameters.ts'
import { readBody, readJsonObject, readParameters } from '../http/request.ts'
import { jsonResponse } from '../http/response.ts'
import { addPageRoute, type RouteHandler } from '../http/routes.ts'
import { handleFile } from '../queries/file-handler.ts'
import { handleQuery, type QuerySource } from '../queries/query-handler.ts'
import { signLink, verifyLink } from '../signing/download-links.ts'
import { type AppHandler, appRoute, type OpenHandler, openRoute } from './app-handler.ts'
import { readEmail, readText, valueError } from './request-values.ts'
import {
  changePassword,
  endOtherSessions,
  endSession,
  listSessions,
  readSession,
  signedOutResponse,
  startSession,
} from './sessions.ts'
import { forgotPassword, resetPassword, signUp, verify } from './sign-up.ts'
import { createToken, listTokens, revokeToken, rotateToken } from './tokens.ts'
import { downloadUsage, showPlan, showUsage } from './usage.ts'

const showSession: OpenHandler = async (context, request) => ({
  status: 200,
  body: [await readSession(context, request)],
  headers: [],
})

/**
 * Signs in with a password. The answer and its time are the same for an unknown address, a wrong password, an account
 * without a password and a suspended one.
 */
const signIn: OpenHandler = async (context, request) => {
  const { ledger, attemptTurns, now } = context
  const body = readBody(request)
  const email = readEmail(body)
  const password = readText(body, 'password')
  const attempt = { client: request.ip, email }
  await refuseSpentClient(ledger, attempt, now())
  const account = await attemptTurns.run(email, () => checkPassword(context, attempt, password))
  await forgetSignIn(ledger, attempt)
  return startSession(context, request, account, now())
}

/** The number of no account: its password is read too, so that an unknown address takes as long. */
const NO_ACCOUNT = 0

/** Signs in with the code of a one-time link. */
const signInByLink: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const hash = hashSecret(readText(readBody(request), 'code'))
  await countLinkUse(ledger, request.ip, now())
  const link = hash === null ? null : await ledger.takeLink(hash, 'sign-in', now())
  const account = link === null ? null : await ledger.accountById(link.account!)
  if (account === null || account.suspended !== null) throw new ApiError('link_invalid')
  return startSession(context, request, account, now())
}

const signOut: AppHandler = async ({ ledger }, { account, session }) => {
  await ledger.endSession(account.id, session.id)
  return signedOutResponse()
}

const isLoopback = clientRangeMatcher(['127.0.0.0/8', '::1'])
const ACTOR = { user: 'setup link', origin: 'web' }

/**
 * Creates the first operator, with the one-time link that the server shows on the terminal. Checks everything before it
 * takes the link, so that a refused password does not use it up.
 */
const setUp: OpenHandler = async (context, request) => {
  const { ledger, passwords } = context
  const now = context.now()
  if (!isLoopback(request.ip)) throw new ApiError('link_invalid', { msg: 'This link works only on its own machine.' })
  await countLinkUse(ledger, request.ip, now)
  const body = readBody(request)
  const [email, password] = [readEmail(body), readText(body, 'password')]
  const problem = passwordProblem(password, email)
  if (problem !== null) throw valueError('password', problem)
  const stored = await passwords.hash(password)
  const hash = hashSecret(readText(body, 'code'))
  const link = hash === null || (await ledger.hasOperator()) ? null : await ledger.takeLink(hash, 'setup', now)
  if (link === null) throw new ApiError('link_invalid')
  const changes = ledger.as(ACTOR)
  const operator = { email, role: 'admin', plan: 'local', periods: [], addons: ['export', 'enriched'] } as const
  const account = (await changes.createAccount(operator, now)) ?? (await ledger.account(email))!
  await changes.setRole(account.id, 'admin')
  await changes.setPassword(account.id, stored, null, now)
  return startSession(context, request, { ...account, role: 'admin' }, now)
}

/** The editions of the snapshot. */
const EDITIONS = [
  { kind: 'snapshot', format: 'names' },
  { kind: 'enriched', format: 'enriched' },
] as const

/** The state of a day: what /daily would answer, without `followup`. */
type DayState = 'file' | 'no_file' | Exclude<DailyAccess['state'], 'allowed'>

/** The files of an account for the web page: the days of a month with their state, the snapshots, and downloads. */
const showFiles: AppHandler = async (context, caller, request) => {
  const days = readMonth((request.query as Parameters).month, caller.today)
  const files = await context.fileList()
  const byDay = Map.groupBy(files, ({ date }) => date)
  return jsonResponse(200, {
    days: days.map((day) => dayObject(context, caller, day, byDay.get(day) ?? [])),
    snapshots: EDITIONS.map((edition) => snapshotObject(context, caller, edition, files)),
  })
}

const REPLACED_MESSAGE = 'The file was replaced since the link was made: load the list again.'

export function addDataRoutes(app: FastifyInstance, context: ApiContext, endpoints: readonly Endpoint[]): void {
  const read = { csrf: false }
  const change = { csrf: true }
  addPageRoute(app, context, '/app/tokens', {
    GET: appRoute(context, listTokens, read),
    POST: appRoute(context, createToken, change),
  })
  addPageRoute(app, context, '/app/tokens/:id', { DELETE: appRoute(context, revokeToken, change) })
  addPageRoute(app, context, '/app/tokens/:id/rotate', { POST: appRoute(context, rotateToken, change) })
  addPageRoute(app, context, '/app/usage', { GET: appRoute(context, showUsage, read) })
  addPageRoute(app, context, '/app/usage.csv', { GET: appRoute(context, downloadUsage, read) })
  addPageRoute(app, context, '/app/plan', { GET: appRoute(context, showPlan, read) })
  addPageRoute(app, context, '/app/files', { GET: appRoute(context, showFiles, read) })
  addPageRoute(app, context, '/app/files/:filename', {
    GET: (request, reply) => handleDownload(context, request, reply),
  })
  for (const endpoint of [...endpoints, uses]) {
    const handler = sessionQuery(context, endpoint)
    addPageRoute(app, context, `/app/api/${endpoint.name}`, { GET: handler, POST: handler })
  }
}

/** A query of a session: the handler of `/v1.0/`, charged to the account. */
function sessionQuery(context: ApiContext, endpoint: Endpoint): RouteHandler {
  const source: QuerySource = {
    read: (request) => (request.method === 'POST' ? (readJsonObject(request) ?? {}) : readParameters(request)),
    async authenticate(request) {
      const caller = await context.sessions.authenticateSession(request, { csrf: true })
      if (request.method === 'POST') readBody(request) // throws if it is not a JSON object, after the session is checked
      return caller
    },
  }
  return (request, reply) => {
    request.accessRecord.endpoint = endpoint.name
    return handleQuery(context, endpoint, source, request, reply)
  }
}

export function addSignInRoutes(app: FastifyInstance, context: ApiContext): void {
  const change = { csrf: true }
  const read = { csrf: false }
  addPageRoute(app, context, '/app/session', { GET: openRoute(context, showSession, { isChange: false }) })
  addPageRoute(app, context, '/app/sign-in', { POST: openRoute(context, signIn, { isChange: true }) })
  addPageRoute(app, context, '/app/sign-in/link', { POST: openRoute(context, signInByLink, { isChange: true }) })
  addPageRoute(app, context, '/app/setup', { POST: openRoute(context, setUp, { isChange: true }) })
  addMailRoutes(app, context)
  addPageRoute(app, context, '/app/sign-out', { POST: appRoute(context, signOut, change) })
  addPageRoute(app, context, '/app/sessions', {
    GET: appRoute(context, listSessions, read),
    DELETE: appRoute(context, endOtherSessions, change),
  })
  addPageRoute(app, context, '/app/sessions/:id', { DELETE: appRoute(context, endSession, change) })
  addPageRoute(app, context, '/app/password', { POST: appRoute(context, changePassword, change) })
}

/** New accounts and new passwords by mail. */
function addMailRoutes(app: FastifyInstance, context: ApiContext): void {
  const open = { isChange: true }
  addPageRoute(app, context, '/app/sign-up', { POST: openRoute(context, signUp, open) })
  addPageRoute(app, context, '/app/verify', { POST: openRoute(context, verify, open) })
  addPageRoute(app, context, '/app/password/forgot', { POST: openRoute(context, forgotPassword, open) })
  addPageRoute(app, context, '/app/password/reset', { POST: openRoute(context, resetPassword, open) })
}

/** The days of a month; by default of the current one. */
function readMonth(month: unknown, today: Day): Day[] {
  const text = month === undefined || month === '' ? today.slice(0, 7) : month
  const first = typeof text === 'string' ? parseDay(`${text}-01`) : null
  if (first === null) throw valueError('month', '"month" must be a month such as 2026-01.')
  const days = Array.from({ length: 31 }, (_, index) => addDays(first, index))
  return days.filter((day) => day.startsWith(first.slice(0, 7)))
}

/** `files`: all of this date. */
function dayObject(context: ApiContext, caller: SessionCaller, day: Day, files: readonly FileManifest[]): object {
  const { state: access } = dailyAccess(caller.account, day, caller.today)
  const dated = files.filter((file) => snapshotEditionOf(file.kind) === null && mayFetchFile(caller, file))
  const hasDaily = dated.some(({ kind }) => kind === 'daily')
  const state: DayState = access !== 'allowed' ? access : hasDaily ? 'file' : 'no_file'
  return { day, state, files: dated.map((file) => fileObject(context, caller, file)) }
}

function fileObject(context: ApiContext, caller: SessionCaller, file: FileManifest): object {
  const { name, kind, rows, bytes } = file
  return { name, kind, rows, bytes, etag: fileEtag(file), link: linkTo(context, caller, file) }
}

/**
 * The newest snapshot of an edition. Everything about it is null if there is none, or if the account may not fetch it.
 * `needs`: the add-on that is missing; null if none is.
 */
function snapshotObject(
  context: ApiContext,
  caller: SessionCaller,
  { kind, format }: (typeof EDITIONS)[number],
  files: readonly FileManifest[],
): object {
  const needs = missingAddon(caller.account, kind)
  const newest = needs === null ? files.findLast((file) => file.kind === kind) : undefined
  return {
    name: newest?.name ?? null,
    format,
    rows: newest?.rows ?? null,
    bytes: newest?.bytes ?? null,
    generated: utcText(newest?.generated ?? null),
    allowed: needs === null,
    needs,
    link: newest === undefined ? null : linkTo(context, caller, newest),
  }
}

/** The path of a signed link. */
function linkTo({ cursorKeyring }: ApiContext, { account, session, now }: SessionCaller, file: FileManifest): string {
  const owner = { account: account.id, session: session.id, name: file.name }
  return `/app/files/${file.name}?link=${signLink(cursorKeyring.linkKeys, owner, fileEtag(file), now)}`
}

/**
 * GET /app/files/NAME?link=…: downloads a file by a signed link, in the session for which it was made. The link stands for the header X-CSRF-Token: no other page knows it, so none can make the browser spend a call. It is
 * checked before anything is charged.
 */
function handleDownload(context: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { filename } = request.params as { filename: string }
  const endpoint = endpointOfFile(filename)
  request.accessRecord.endpoint = endpoint
  let etag = ''
  const authenticate = async (): Promise<Caller> => {
    const caller = await context.sessions.authenticateSession(request, { csrf: false })
    const { link } = request.query as Parameters
    const owner = { account: caller.account.id, session: caller.session.id, name: filename as FileName }
    const signed = typeof link === 'string' ? verifyLink(context.cursorKeyring.linkKeys, link, owner, caller.now) : null
    if (signed === null) throw new ApiError('link_invalid')
    etag = signed
    return caller
  }
  const find = async (caller: Caller): Promise<FileDownload> => {
    const found = await findFile(caller, context.fileStore, filename)
    if (fileEtag(found.file.manifest) === etag) return found
    await found.file.close()
    throw new ApiError('link_invalid', { msg: REPLACED_MESSAGE })
  }
  return handleFile(context, { endpoint, authenticate, find }, request, reply)
}

/** Counts an attempt and compares its password. Returns the account; throws `sign_in_failed`. */
async function checkPassword(
  { ledger, passwords, now, wait }: ApiContext,
  attempt: SignInAttempt,
  password: string,
): Promise<Account> {
  const account = await ledger.account(attempt.email)
  const id = account?.id ?? NO_ACCOUNT
  const delay = await countSignIn(ledger, attempt, now(), async () => {
    const sessions = await ledger.sessions(id)
    const key = clientAddressKey(attempt.client)
    return sessions.some((each) => now() < sessionEnd(each) && clientAddressKey(each.address) === key)
  })
  if (delay > 0) await wait(delay)
  const isRight = await passwords.verify(await ledger.password(id), password)
  if (account === null || !isRight || account.suspended !== null) throw new ApiError('sign_in_failed')
  return account
}
