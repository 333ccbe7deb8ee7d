/** Answers the lines of a batch in their order, several at a time. */

import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { answerQuery } from '../answer-query.ts'
import type { Caller } from '../auth/authenticator.ts'
import { type ApiContext, toApiError } from '../context.ts'
import { rejectIfOverloaded } from '../http/limits/acquire-slot.ts'
import { type ApiResponse, errorResponse } from '../http/response.ts'
import { bodyLength, type ResponseBody } from '../http/write-parts.ts'
import { type BatchCall, parseBatchLine } from './lines.ts'

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
 * each line with the name of its endpoint (`other` if the line names none) and its status.
 */
export type BatchAccount = {
  id: number
  authenticate: () => Caller | Promise<Caller>
  count: (endpoint: string, status: number) => void
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
  try {
    while (started < lines.length || open.length > 0) {
      while (started < lines.length && open.length < MAX_OPEN_LINES) {
        open.push(answerLine(context, account, lines[started++]!, id))
        if (started % LINES_PER_TURN === 0) await yieldToEventLoop()
      }
      yield await open.shift()!
    }
  } finally {
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
