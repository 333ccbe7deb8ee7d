/** Answers the requests of the client library from the local store, without a server, a token or a write. */

import type { Fetch } from '../../../client/src/client.ts'
import { DEFAULT_PLAN_LIMITS } from '../../accounts/plan.ts'
import type { Caller } from '../../api/auth/authenticator.ts'
import type { QueryContext } from '../../api/context/context.ts'
import { ENDPOINTS, PROFILE_ROUTES } from '../../api/endpoints/endpoints.ts'
import { readFiles } from '../../api/files/file-list.ts'
import { filePage, findFile } from '../../api/files/file-routes.ts'
import { ApiError } from '../../api/http/errors.ts'
import { prepareFileResponse } from '../../api/http/files/file-response.ts'
import { type ApiResponse, errorResponse, toApiError } from '../../api/http/response.ts'
import { answerQuery } from '../../api/queries/answer-query.ts'
import type { Reservation } from '../../api/quota/reservation.ts'
import { cursorKeys } from '../../api/signing/cursor.ts'
import type { Settings } from '../../config/settings.ts'
import type { OpenedFile } from '../../jobs/file-store/file-store.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { openSimilarityService } from '../../similar/query/similarity-service.ts'
import { openStore } from '../../store/open.ts'
import { addDays, dayOf, formatInstant, startOfDay } from '../../values/time.ts'

/** The address of the store, in the place of a server. Nothing connects to it. */
export const LOCAL_SERVER = 'http://localhost/'

/** `fault`: why the store failed, since a response tells a client no details; null if it did not. */
type LocalSource = { fetch: Fetch; fault: () => unknown; close: () => Promise<void> }

/** Requests have no ID without a server. */
const REQUEST_ID = 'local'
/** Nobody else sees these cursors, so no secret signs them. A server knows no key with this name. */
const LOCAL_KEYS = cursorKeys([{ number: 0, bytes: Buffer.from('the cursors of a local store') }])
const NO_QUOTA: Reservation = { remaining: Number.POSITIVE_INFINITY, charge: () => {}, release: async () => {} }
const OWNER: Omit<Caller, 'now' | 'today'> = {
  account: { id: 0, email: '', role: 'user', plan: 'local', periods: [], addons: [], created: 0, suspended: null },
  token: 0,
  limits: DEFAULT_PLAN_LIMITS.local,
}

/** Opens the store of the settings, which must exist. */
export async function openLocalSource(settings: Settings): Promise<LocalSource> {
  const { store: location, secret, pool } = settings
  const fileStore = await openFileStore(settings)
  const store = await openStore(location, { access: 'read', ledger: 'own', secret, pool })
  let fault: unknown = null
  const context: QueryContext = {
    facts: store.facts,
    inverse: store.inverse,
    similarSearch: openSimilarityService(store),
    fileStore,
    quotaLimiter: { reserve: () => NO_QUOTA },
    cursorKeyring: { keys: LOCAL_KEYS },
    requestCrawl: () => {},
    log: { error: ({ err }: { err: unknown }) => (fault = err) } as QueryContext['log'],
  }
  return {
    fetch: async (url, init) => {
      init.signal?.throwIfAborted()
      return answerRequest(context, new URL(url), init)
    },
    fault: () => fault,
    close: () => store.close(),
  }
}

async function answerRequest(context: QueryContext, url: URL, init: RequestInit): Promise<Response> {
  const now = Math.floor(Date.now() / 1000)
  const caller: Caller = { ...OWNER, now, today: dayOf(now) }
  try {
    const [, folder = '', name, part] = url.pathname.split('/').map(decodeURIComponent)
    if (folder === 'files' && name !== undefined) return await answerFile(context, caller, name, init)
    return toResponse(await answerPath(context, caller, { folder, name, part }, url, init))
  } catch (thrown) {
    return toResponse(errorResponse(toApiError(context, REQUEST_ID, thrown), 'top'))
  }
}

async function answerPath(
  context: QueryContext,
  caller: Caller,
  { folder, name, part }: { folder: string; name: string | undefined; part: string | undefined },
  { searchParams }: URL,
  { body }: RequestInit,
): Promise<ApiResponse> {
  if (folder === 'files') return filePage(await readFiles(context.fileStore), caller, Object.fromEntries(searchParams))
  if (folder === 'account') return quotaResponse(caller)
  const path = [`/${folder}`, ...(name === undefined ? [] : [':query']), ...(part === undefined ? [] : [part])].join(
    '/',
  )
  const profile = PROFILE_ROUTES.find((each) => each.path === path)?.endpoint
  const endpoint = profile ?? ENDPOINTS.find((each) => folder === 'v1.0' && each.name === name)
  if (!endpoint?.handle) throw new ApiError('endpoint_unknown')
  const parameters =
    profile === undefined
      ? JSON.parse(String(body))
      : { ...Object.fromEntries(searchParams), ...(name !== undefined && { query: name }) }
  return answerQuery(context, endpoint, caller, parameters, REQUEST_ID)
}

/** What /account/quota answers to an account without a limit. */
function quotaResponse({ today }: Caller): ApiResponse {
  const reset = `${formatInstant(startOfDay(addDays(today, 1)))}+00:00`
  return { status: 200, body: [JSON.stringify({ limit: null, used: 0, remaining: null, reset })], headers: [] }
}

async function answerFile(
  { fileStore }: QueryContext,
  caller: Caller,
  name: string,
  { method = 'GET', headers: sent }: RequestInit,
): Promise<Response> {
  const download = await findFile(caller, fileStore, name)
  const headers = Object.fromEntries(new Headers(sent))
  const { status, range, headers: list } = prepareFileResponse({ method, headers }, download)
  const { file } = download
  if (range === null) await file.close()
  const body = range === null ? null : fileStream(file, range)
  return new Response(body, { status, headers: pairsOf(list) })
}

/** The bytes of a range, read when they are asked for. It closes the file at its end, also if nobody reads it. */
function fileStream(file: OpenedFile, { start, end }: { start: number; end: number }): ReadableStream<Uint8Array> {
  const chunks = file.read(start, end)[Symbol.asyncIterator]()
  const source: ConstructorParameters<typeof ReadableStream<Uint8Array>>[0] = {
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (!done) return controller.enqueue(Uint8Array.from(value)) // a chunk is valid until the next one is read
      await file.close()
      controller.close()
    },
    async cancel() {
      await chunks.return?.()
      await file.close()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

function toResponse({ status, body, headers, release }: ApiResponse): Response {
  const bytes = Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  release?.()
  return new Response(bytes, { status, headers: pairsOf(headers) })
}

function pairsOf(list: readonly string[]): [name: string, value: string][] {
  return list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]!] as [string, string]] : []))
}
