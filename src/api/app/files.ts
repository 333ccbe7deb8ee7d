/** The files of an account for the web page: the days of a month with their state, the snapshots, and downloads. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DailyAccess, dailyAccess } from '../../accounts/daily-access.ts'
import { type FileManifest, type FileName, snapshotEditionOf } from '../../jobs/file-store/file-store.ts'
import { addDays, type Day, parseDay } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { SessionCaller } from '../auth/session-authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { missingAddon } from '../endpoints/snapshot.ts'
import { mayFetchFile } from '../files/file-list.ts'
import { endpointOfFile, findFile } from '../files/file-routes.ts'
import { ApiError } from '../http/errors.ts'
import { type FileDownload, fileEtag } from '../http/files/file-response.ts'
import type { Parameters } from '../http/parameters.ts'
import { handleFile } from '../queries/file-handler.ts'
import { signLink, verifyLink } from '../signing/download-links.ts'
import { type AppHandler, jsonResponse } from './app-handler.ts'
import { utcText, valueError } from './request-values.ts'

/** The editions of the snapshot. */
const EDITIONS = [
  { kind: 'snapshot', format: 'names' },
  { kind: 'enriched', format: 'enriched' },
] as const

/** The state of a day: what /daily would answer, without `followup`. */
type DayState = 'file' | 'no_file' | Exclude<DailyAccess['state'], 'allowed'>

export const showFiles: AppHandler = async (context, caller, request) => {
  const days = readMonth((request.query as Parameters).month, caller.today)
  const files = await context.fileList()
  const byDay = Map.groupBy(files, ({ date }) => date)
  return jsonResponse(200, {
    days: days.map((day) => dayObject(context, caller, day, byDay.get(day) ?? [])),
    snapshots: EDITIONS.map((edition) => snapshotObject(context, caller, edition, files)),
  })
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

const REPLACED_MESSAGE = 'The file was replaced since the link was made: load the list again.'

/**
 * GET /app/files/NAME?link=…: downloads a file by a signed link, in the session for which it was made. The link stands for the header X-CSRF-Token: no other page knows it, so none can make the browser spend a call. It is
 * checked before anything is charged.
 */
export function handleDownload(context: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
