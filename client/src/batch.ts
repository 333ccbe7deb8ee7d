/** Sends many calls in few requests, and gives their answers in order as they come. */

import type {
  DnshistoryParameters,
  DnshistoryResponse,
  LookupParameters,
  LookupResponse,
  RedirectParameters,
  RedirectResponse,
  ReverseipParameters,
  ReverseipResponse,
  SearchParameters,
  SearchResponse,
  SimilarParameters,
  SimilarResponse,
} from './api-types.ts'
import { type DomaindexError, InvalidResponseError, NetworkError } from './errors.ts'
import { apiErrorOf, isObject, linesOf, parseObject } from './response-body.ts'
import { withResumption } from './retry.ts'
import type { Transport } from './transport.ts'

/** The endpoints whose calls a batch may have. The server takes those of the profiles, too. */
type Calls = {
  lookup: [LookupParameters, LookupResponse]
  redirect: [RedirectParameters, RedirectResponse]
  reverseip: [ReverseipParameters, ReverseipResponse]
  dnshistory: [DnshistoryParameters, DnshistoryResponse]
  similar: [SimilarParameters, SimilarResponse]
  search: [SearchParameters, SearchResponse]
}

/** A call: the name of its endpoint and its parameters. */
export type BatchRequest = { [Name in keyof Calls]: { endpoint: Name } & Calls[Name][0] }[keyof Calls]

/** The answer to a call: the body of the response, or an error. */
export type BatchAnswer<Request extends BatchRequest = BatchRequest> =
  | { request: Request; body: Calls[Request['endpoint']][1]; error: null }
  | { request: Request; body: null; error: DomaindexError }

/** What the server accepts in one request. */
const MAX_LINES = 1_000
const MAX_BYTES = 2 ** 20

type Line<Request> = { request: Request; text: string }

/** Answers the calls. After a fault, it sends those again that have no answer yet. */
export async function* batchAnswers<Request extends BatchRequest>(
  transport: Transport,
  requests: Iterable<Request> | AsyncIterable<Request>,
  signal: AbortSignal | undefined,
): AsyncGenerator<BatchAnswer<Request>, void, void> {
  for await (const lines of groupsOf(requests)) {
    let answered = 0
    async function* rest(): AsyncGenerator<BatchAnswer<Request>, void, void> {
      const unanswered = lines.slice(answered)
      for await (const answer of answersTo(transport, unanswered, signal)) {
        answered++
        yield answer
      }
    }
    yield* withResumption(transport.policy, rest, signal)
  }
}

/** Lines for one request each. */
async function* groupsOf<Request>(
  requests: Iterable<Request> | AsyncIterable<Request>,
): AsyncGenerator<Line<Request>[], void, void> {
  const encoder = new TextEncoder()
  let lines: Line<Request>[] = []
  let bytes = 0
  for await (const request of requests) {
    const text = `${JSON.stringify(request)}\n`
    const size = encoder.encode(text).length
    if (lines.length === MAX_LINES || (lines.length > 0 && bytes + size > MAX_BYTES)) {
      yield lines
      lines = []
      bytes = 0
    }
    lines.push({ request, text })
    bytes += size
  }
  if (lines.length > 0) yield lines
}

/** The answers of one request. Throws a NetworkError if some are missing. */
async function* answersTo<Request extends BatchRequest>(
  transport: Transport,
  lines: readonly Line<Request>[],
  signal: AbortSignal | undefined,
): AsyncGenerator<BatchAnswer<Request>, void, void> {
  const type = 'application/x-ndjson'
  const headers = { ...transport.bearer(), 'Content-Type': type, Accept: type }
  const body = lines.map(({ text }) => text).join('')
  const response = await transport.send({ method: 'POST', path: 'batch', headers, body }, signal)
  const requestId = response.headers.get('request-id')
  let count = 0
  for await (const text of linesOf(response, transport.maxResponseBytes)) {
    const line = lines[count++]
    if (line === undefined) throw new InvalidResponseError('The response has more lines than the batch.', 200)
    const answer = answerOf(line.request, text, requestId)
    transport.policy.withoutToken(answer.error)
    yield answer
  }
  if (count < lines.length) throw new NetworkError('The response ended before the last line of the batch.', null)
}

function answerOf<Request extends BatchRequest>(
  request: Request,
  text: string,
  requestId: string | null,
): BatchAnswer<Request> {
  const { status, body } = parseObject(text, 200)
  if (typeof status !== 'number' || !isObject(body))
    throw new InvalidResponseError('A line of the response has no "status" or no "body".', 200)
  if (status === 200) return { request, body: body as Calls[Request['endpoint']][1], error: null }
  return { request, body: null, error: apiErrorOf(body, { status, retryAfter: null, requestId }) }
}
