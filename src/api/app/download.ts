/** GET /app/files/NAME?link=…: downloads a file by a signed link, in the session for which it was made. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileName } from '../../jobs/file-store/file-store.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { ApiContext } from '../context.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import { ApiError } from '../errors.ts'
import { handleFile } from '../http/files/file-handler.ts'
import { type FileDownload, fileEtag } from '../http/files/file-response.ts'
import { endpointOfFile, findFile } from '../http/files/files-by-name.ts'
import { verifyLink } from './download-links.ts'

const REPLACED_MESSAGE = 'The file was replaced since the link was made: load the list again.'

/**
 * The link stands for the header X-CSRF-Token: no other page knows it, so none can make the browser spend a call. It is
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
