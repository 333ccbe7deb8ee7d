/** GET /files and /files/NAME: the files that an account may fetch in pages, and each by its name. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FileManifest, parseFileName, snapshotEditionOf } from '../../jobs/file-store/file-store.ts'
import { formatInstant } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { authorizeDaily, type DailyKind, openDaily } from '../endpoints/daily.ts'
import type { EndpointName } from '../endpoints/endpoint.ts'
import { authorizeSnapshot, openSnapshot } from '../endpoints/snapshot.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { type FileDownload, fileEtag, type ReadableFileStore } from '../http/files/file-response.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { type Parameters, readLimitParameter, readTextParameter } from '../http/parameters.ts'
import type { ApiResponse } from '../http/response.ts'
import { handleFile } from '../queries/file-handler.ts'
import { compareFiles, mayFetchFile } from './file-list.ts'

/** The default and the maximum number of files of a page. */
const MAX_INDEX_FILES = 1_000

/** Returns a page of the files. It is free, even if no unit is left. `next` is the name of the last file of a page. */
export async function fileIndexResponse(context: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const caller = await authenticateBearerOrSession(context, request)
  await acquireSlot(context, caller, request)
  return filePage(await context.fileList(), caller, request.query as Parameters)
}

/** The page of `files`, in their order, that the parameters ask for. Throws `cursor_invalid`. */
export function filePage(
  files: readonly FileManifest[],
  caller: Pick<Caller, 'account' | 'today'>,
  parameters: Parameters,
): ApiResponse {
  const limit = readLimitParameter(parameters, MAX_INDEX_FILES, MAX_INDEX_FILES)
  const after = readPosition(parameters)
  const found = files.filter((file) => (after === null || compareFiles(file, after) > 0) && mayFetchFile(caller, file))
  const page = found.slice(0, limit)
  const next = found.length > limit ? page.at(-1)!.name : null
  return { status: 200, body: [JSON.stringify({ files: page.map(fileObject), next })], headers: [] }
}

function readPosition(parameters: Parameters): Pick<FileManifest, 'date' | 'kind'> | null {
  const text = readTextParameter(parameters, 'next', 'cursor_invalid')
  const file = text === null ? null : parseFileName(text)
  if (text !== null && file === null) throw new ApiError('cursor_invalid')
  return file
}

function fileObject(manifest: FileManifest): object {
  const { name, kind, date, rows, bytes, generated } = manifest
  return { name, kind, date, rows, bytes, etag: fileEtag(manifest), last_modified: `${formatInstant(generated)}Z` }
}

/**
 * Handles a request for one file. Its token is a header, or it has a session. The call is recorded under /daily or
 * /snapshot.
 */
export function handleFileByName(context: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { filename = '' } = request.params as { filename?: string }
  const find = (caller: Caller): Promise<FileDownload> => findFile(caller, context.fileStore, filename)
  const endpoint = endpointOfFile(filename)
  request.accessRecord.endpoint = endpoint
  return handleFile(
    context,
    { endpoint, authenticate: (sent) => authenticateBearerOrSession(context, sent), find },
    request,
    reply,
  )
}

/** Opens a file with the rights of a caller. Throws ApiError. */
export async function findFile(caller: Caller, fileStore: ReadableFileStore, filename: string): Promise<FileDownload> {
  const file = parseFileName(filename)
  if (file === null) throw new ApiError('no_data', { msg: 'There is no file with this name.' })
  const { name, kind, date } = file
  const edition = snapshotEditionOf(kind)
  if (edition !== null) {
    authorizeSnapshot(caller.account, edition)
    return openSnapshot(fileStore, name)
  }
  authorizeDaily(caller)
  return openDaily(caller, fileStore, kind as DailyKind, date)
}

/** The endpoint under which a download of a file is recorded. */
export function endpointOfFile(filename: string): EndpointName {
  return filename.startsWith('domains-') ? 'snapshot' : 'daily'
}
