/** /files: downloads a file by its name, with the same rights as /daily and /snapshot. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseFileName, snapshotEditionOf } from '../../../jobs/file-store/file-store.ts'
import type { Caller } from '../../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../../auth/bearer.ts'
import type { ApiContext } from '../../context.ts'
import { authorizeDaily, type DailyKind, openDaily } from '../../endpoints/daily.ts'
import type { EndpointName } from '../../endpoints/endpoint.ts'
import { authorizeSnapshot, openSnapshot } from '../../endpoints/snapshot.ts'
import { ApiError } from '../../errors.ts'
import { handleFile } from './file-handler.ts'
import type { FileDownload, ReadableFileStore } from './file-response.ts'

/** Handles a request for one file. Its token is a header, or it has a session. The call is recorded under /daily or /snapshot. */
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
