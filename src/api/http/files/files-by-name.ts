/** /files: every file by its name, for who may have it through /daily or /snapshot. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseFileName } from '../../../jobs/file-store/file-store.ts'
import type { Caller } from '../../auth/authenticator.ts'
import type { ApiContext } from '../../context.ts'
import { authorizeDaily, openDaily } from '../../endpoints/daily.ts'
import type { EndpointName } from '../../endpoints/endpoint.ts'
import { authorizeSnapshot, openSnapshot } from '../../endpoints/snapshot.ts'
import { ApiError } from '../../errors.ts'
import { readBearerToken } from '../request.ts'
import { handleFile } from './file-handler.ts'
import type { FileDownload, ReadableFileStore } from './file-response.ts'

/** Answers a request for one file, whose token comes as a header; the call is noted as one of the endpoint that has the file. */
export function handleFileByName(context: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { filename = '' } = request.params as { filename?: string }
  const find = (caller: Caller): Promise<FileDownload> => findFile(caller, context.fileStore, filename)
  const endpoint = endpointOfFile(filename)
  request.accessRecord.endpoint = endpoint
  return handleFile(context, { endpoint, token: () => readBearerToken(request), find }, request, reply)
}

async function findFile(caller: Caller, fileStore: ReadableFileStore, filename: string): Promise<FileDownload> {
  const file = parseFileName(filename)
  if (file === null) throw new ApiError('no_data', { msg: 'There is no file of this name.' })
  const { name, kind, date } = file
  if (kind === 'snapshot' || kind === 'enriched') {
    authorizeSnapshot(caller.account, kind)
    return openSnapshot(fileStore, name)
  }
  authorizeDaily(caller)
  return openDaily(caller, fileStore, kind, date)
}

function endpointOfFile(filename: string): EndpointName {
  return filename.startsWith('domains-') ? 'snapshot' : 'daily'
}
