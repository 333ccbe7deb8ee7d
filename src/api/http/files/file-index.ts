/** GET /files: the files that an account may fetch, in pages. */

import { type FileManifest, parseFileName } from '../../../jobs/file-store/file-store.ts'
import { formatInstant } from '../../../values/time.ts'
import type { Caller } from '../../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../../auth/bearer.ts'
import type { ApiContext } from '../../context.ts'
import type { Parameters } from '../../endpoints/parameters.ts'
import { readLimitParameter, readTextParameter } from '../../endpoints/parameters.ts'
import { ApiError } from '../../errors.ts'
import type { ApiRequest } from '../exchange.ts'
import { acquireSlot } from '../limits/acquire-slot.ts'
import type { ApiResponse } from '../response.ts'
import { mayFetchFile } from './file-access.ts'
import { compareFiles } from './file-list.ts'
import { fileEtag } from './file-response.ts'

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
