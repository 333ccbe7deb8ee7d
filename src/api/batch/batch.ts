/** POST /batch: up to 1,000 calls in one request, answered as lines in their order. */

import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearer } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError } from '../http/errors.ts'
import { type ApiReply, type ApiRequest, countCall } from '../http/exchange.ts'
import { COMMON_HEADERS } from '../http/headers.ts'
import { acceptsGzip, isBodyTooLarge, NDJSON_TYPE } from '../http/request.ts'
import {
  bearerChallenge,
  crossOriginHeaders,
  errorResponse,
  isLastResponse,
  type ResponseContext,
  sendResponse,
  toApiError,
} from '../http/response.ts'
import { drained, type ResponseBody, writeParts } from '../http/write-parts.ts'
import { rateLimitHeaders } from '../quota/rate-limit.ts'
import { answerLines, type BatchAccount, type LineAnswer, MAX_BATCH_BODY_BYTES, splitBatch } from './batch-lines.ts'

/** The fastest level; what is written is sent, so that a client gets the answers as they are ready. */
const GZIP_OPTIONS = { level: 1, flush: constants.Z_SYNC_FLUSH }

/**
 * Handles a request. The checks of the batch come first: size, token, lines. The status is then 200, and each line has
 * its own status. Each line is charged as a call of its endpoint.
 */
export async function handleBatch(context: ApiContext, request: ApiRequest, reply: ApiReply): Promise<void> {
  try {
    const { body } = request
    if (isBodyTooLarge(body)) throw new ApiError('body_too_large', { msg: TOO_LARGE_MESSAGE })
    const caller = await authenticateBearer(context, request)
    request.accessRecord.account = caller.account.id
    requirePlainBody(request)
    const lines = splitBatch(String(body ?? ''))
    const headers = await headersOf(context, caller, request)
    const account: BatchAccount = {
      id: caller.account.id,
      authenticate: () => authenticateBearer(context, request),
      count(endpoint, lineStatus) {
        context.metrics.countBatchLine(endpoint, lineStatus)
        countCall(request.accessRecord, endpoint)
      },
      expectCalls: (count) => context.quotaLimiter.expectCalls(caller, count),
    }
    const answers = answerLines(context, account, lines, request.id)
    await sendAnswers(context, request, reply, headers, answers)
  } catch (thrown) {
    if (reply.raw.headersSent) throw thrown
    const error = toApiError(context, request.id, thrown)
    const response = errorResponse(error, 'top', bearerChallenge(request, error))
    await sendResponse(context.responses, request, reply, response)
  }
}

const TOO_LARGE_MESSAGE = `The body of a batch may have at most ${MAX_BATCH_BODY_BYTES / 2 ** 20} MiB.`

/** Throws `batch_invalid` for a compressed body, which would be no lines. */
function requirePlainBody({ headers }: ApiRequest): void {
  const coding = headers['content-encoding'] ?? 'identity'
  if (coding.toLowerCase() !== 'identity')
    throw new ApiError('batch_invalid', { msg: 'Send the lines of a batch without Content-Encoding.' })
}

async function headersOf({ responses, quotaLimiter }: ApiContext, caller: Caller, request: ApiRequest) {
  const { dailyCalls } = caller.limits
  const remaining = dailyCalls === null ? 0 : Math.max(0, dailyCalls - (await quotaLimiter.used(caller)))
  return [
    ...['Request-Id', request.id, ...COMMON_HEADERS, ...crossOriginHeaders(responses, request)],
    ...rateLimitHeaders(caller, remaining),
    ...['Content-Type', NDJSON_TYPE],
  ]
}

/**
 * Sends the answers as fast as the client reads them. If it disconnects, the lines that are not started stay undone.
 */
async function sendAnswers(
  { responses }: ApiContext,
  request: ApiRequest,
  { raw }: ApiReply,
  headers: readonly string[],
  answers: AsyncGenerator<LineAnswer>,
): Promise<void> {
  const gzip = acceptsGzip(request.headers['accept-encoding']) ? createGzip(GZIP_OPTIONS) : null
  if (responses.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  raw.writeHead(200, gzip === null ? [...headers] : [...headers, 'Content-Encoding', 'gzip'])
  if (gzip !== null) void pipeline(gzip, raw).catch(() => raw.destroy())
  const writer = new AnswerWriter(responses, gzip ?? raw)
  for await (const answer of answers) {
    await writer.add(answer)
    if (raw.destroyed) break
  }
  writer.end()
}

/** Bytes of answers that are written at once, if so many are ready. */
const CHUNK_BYTES = 65_536

/** Writes the answers of a batch, many at once: a write to a connection costs more than a look-up. */
class AnswerWriter {
  readonly #responses: Pick<ResponseContext, 'unsentBytes'>
  readonly #sink: Writable
  #ready: LineAnswer[] = []
  #bytes = 0
  #isWaiting = false

  constructor(responses: Pick<ResponseContext, 'unsentBytes'>, sink: Writable) {
    this.#responses = responses
    this.#sink = sink
  }

  /**
   * Adds an answer. It is written when many bytes are ready, or when no answer was added in one iteration of the event
   * loop. It is released when the client has taken it, or has disconnected. Resolves when the client can take more.
   */
  async add(answer: LineAnswer): Promise<void> {
    this.#ready.push(answer)
    this.#writeWhenIdle()
    this.#bytes += answer.bytes
    if (this.#bytes < CHUNK_BYTES) return
    this.#write()
    if (this.#sink.writableNeedDrain) await drained(this.#sink)
  }

  /** Writes the rest. */
  end(): void {
    this.#write()
    this.#sink.end()
  }

  #writeWhenIdle(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const count = this.#ready.length
    setImmediate(() => {
      this.#isWaiting = false
      if (this.#ready.length > count) this.#writeWhenIdle()
      else this.#write()
    })
  }

  #write(): void {
    const answers = this.#ready
    const bytes = this.#bytes
    if (answers.length === 0) return
    this.#ready = []
    this.#bytes = 0
    this.#responses.unsentBytes += bytes
    writeParts(this.#sink, joinTexts(answers), () => {
      this.#responses.unsentBytes -= bytes
      for (const { release } of answers) release()
    })
  }
}

/** The parts of answers; texts that follow each other are one part. */
function joinTexts(answers: readonly LineAnswer[]): ResponseBody {
  const joined: (string | Uint8Array)[] = []
  let text = ''
  for (const { parts } of answers) {
    for (const part of parts) {
      if (typeof part === 'string') text += part
      else {
        joined.push(text, part)
        text = ''
      }
    }
  }
  return [...joined, text]
}
