/** The lines of a batch: reads the call of each, and answers them in their order, several at a time. */

import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { isObject } from '../../values/json-object.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { BATCH_ENDPOINTS } from '../endpoints/endpoints.ts'
import { ApiError } from '../http/errors.ts'
import { rejectIfOverloaded } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { type ApiResponse, errorResponse, toApiError } from '../http/response.ts'
import { bodyLength, type ResponseBody } from '../http/write-parts.ts'
import { answerQuery } from '../queries/answer-query.ts'

/** The maximum number of lines whose answers are not known yet. */
const MAX_OPEN_LINES = 8
/** Lines after which other requests run. */
const LINES_PER_TURN = 32
/** Answers with more bytes hold their slot until they are sent. */
const MAX_SHORT_BYTES = 8_192

/** The answer to a line, with its line feed. `release` frees its memory: call it once, when it is sent. */
export type LineAnswer = { parts: ResponseBody; bytes: number; release: () => void }

/**
 * The account of a batch. `authenticate` returns its caller as of now, and throws `token_invalid`. `count` is called for
 * each line with the name of its endpoint (`other` if the line names none) and its status. `expectCalls` announces the
 * lines to the quota limiter, and returns a function that takes them back as their answers are known.
 */
export type BatchAccount = {
  id: number
  authenticate: () => Caller | Promise<Caller>
  count: (endpoint: string, status: number) => void
  expectCalls: (count: number) => (done: number) => void
}

/**
 * Answers lines. Every line takes a slot of the account for batches and is authenticated, as a call is: a batch can
 * outlast its token and its day. A long answer holds its slot until it is released, so a client that reads slowly stops
 * the work, and lines of its other batches may wait too long for a slot.
 * If the consumer stops, no further line starts. `id`: the request in the log.
 */
export async function* answerLines(
  context: ApiContext,
  account: BatchAccount,
  lines: readonly string[],
  id: string,
): AsyncGenerator<LineAnswer> {
  const open: Promise<LineAnswer>[] = []
  let started = 0
  let expected = lines.length
  const takeBack = account.expectCalls(expected)
  try {
    while (started < lines.length || open.length > 0) {
      while (started < lines.length && open.length < MAX_OPEN_LINES) {
        open.push(answerLine(context, account, lines[started++]!, id))
        if (started % LINES_PER_TURN === 0) await yieldToEventLoop()
      }
      const answer = await open.shift()!
      expected--
      takeBack(1)
      yield answer
    }
  } finally {
    takeBack(expected)
    for (const answer of open) void answer.then(({ release }) => release())
  }
}

async function answerLine(context: ApiContext, account: BatchAccount, line: string, id: string): Promise<LineAnswer> {
  const { batchLimiter } = context
  let call: BatchCall | null = null
  let caller: Caller
  try {
    call = parseBatchLine(line)
    caller = await acquireAndAuthenticate(context, account)
  } catch (thrown) {
    const response = errorResponse(toApiError(context, id, thrown), call?.endpoint.envelope ?? 'top')
    account.count(call?.endpoint.name ?? 'other', response.status)
    return lineAnswer(response)
  }
  const response = await answerQuery(context, call.endpoint, caller, call.parameters, id)
  account.count(call.endpoint.name, response.status)
  const answer = lineAnswer(response)
  if (answer.bytes <= MAX_SHORT_BYTES) {
    batchLimiter.release(account.id)
    return answer
  }
  const release = (): void => {
    answer.release()
    batchLimiter.release(account.id)
  }
  return { ...answer, release }
}

/** Takes a slot of the account. The token is checked when the line has it, because the wait can be long. */
async function acquireAndAuthenticate(
  { batchLimiter, responses }: ApiContext,
  { id, authenticate }: BatchAccount,
): Promise<Caller> {
  rejectIfOverloaded(responses)
  const waiting = batchLimiter.acquire(id)
  if (waiting !== null) await waiting
  try {
    return await authenticate()
  } catch (error) {
    batchLimiter.release(id)
    throw error
  }
}

function lineAnswer({ status, body, release = () => {} }: ApiResponse): LineAnswer {
  const parts = [`{"status":${status},"body":`, ...body, '}\n']
  return { parts, bytes: bodyLength(parts), release }
}

/** The maximum number of lines of a batch. */
const MAX_BATCH_LINES = 1_000
/** The maximum size of a batch in bytes. A line with the longest name and a cursor has less than 1,000. */
export const MAX_BATCH_BODY_BYTES = 2 ** 20

/** A call of a batch. */
type BatchCall = { endpoint: Endpoint; parameters: Parameters }

/** The lines of a body that are not blank. Throws `batch_invalid` if there are none or too many. */
export function splitBatch(body: string): string[] {
  const lines: string[] = []
  for (let start = 0; start < body.length && lines.length <= MAX_BATCH_LINES; ) {
    const feed = body.indexOf('\n', start)
    const end = feed < 0 ? body.length : feed
    const line = body.slice(start, end).trim()
    if (line !== '') lines.push(line)
    start = end + 1
  }
  if (lines.length === 0) throw new ApiError('batch_invalid', { msg: NO_LINES_MESSAGE })
  if (lines.length > MAX_BATCH_LINES) throw new ApiError('batch_invalid')
  return lines
}

const NO_LINES_MESSAGE =
  'The batch is empty: send one JSON object per line, such as {"endpoint":"lookup","query":"example.com"}.'

/** The call of a line. Throws `line_invalid` if it is no JSON object, and `endpoint_unknown`. */
function parseBatchLine(line: string): BatchCall {
  const parameters = parseObject(line)
  if (parameters === null) throw new ApiError('line_invalid')
  const { endpoint: name } = parameters
  const endpoint = typeof name === 'string' ? BATCH_ENDPOINTS.get(name) : undefined
  if (endpoint === undefined) throw new ApiError('endpoint_unknown', { msg: UNKNOWN_ENDPOINT_MESSAGE })
  return { endpoint, parameters }
}

const UNKNOWN_ENDPOINT_MESSAGE = `The "endpoint" of a line must be one of ${[...BATCH_ENDPOINTS.keys()].join(', ')}.`

function parseObject(line: string): Parameters | null {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
