/** Reads the bodies of responses up to a maximum size, and the errors in them. */

import { DomaindexError, InvalidResponseError, NetworkError } from './errors.ts'

/** Bytes of the body of an error. A longer one is no error of the API. */
const MAX_ERROR_BYTES = 65_536
/** Characters of a message that comes from a server. */
const MAX_MESSAGE_LENGTH = 1_000
/** The control characters of ASCII and Latin-1 (Unicode category Cc). */
const CONTROL_CHARACTERS = /\p{Cc}+/gu

/** Bytes as `fetch` gives them. */
export type Bytes = Uint8Array<ArrayBuffer>
export type JsonObject = Record<string, unknown>

/** The text of a body. Throws an InvalidResponseError if it has more bytes than `maxBytes`. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.length
    if (bytes > maxBytes)
      throw new InvalidResponseError(
        `The response has more than ${maxBytes} bytes (maxResponseBytes).`,
        response.status,
      )
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The lines of a body. Throws an InvalidResponseError if one has more characters than `maxLength`. */
export async function* linesOf(response: Response, maxLength: number): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(response)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() as string
    yield* lines
    if (rest.length > maxLength)
      throw new InvalidResponseError(
        `A line has more than ${maxLength} characters (maxResponseBytes).`,
        response.status,
      )
  }
  // A last line without a line feed is cut off.
}

/** The chunks of a body. Throws a NetworkError if it breaks off. If the reader stops early, the connection ends. */
export async function* chunksOf({ body }: Response): AsyncGenerator<Bytes, void, void> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error) => {
        throw networkErrorOf(error)
      })
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {}) // it has failed before
  }
}

/** The object that a text contains as JSON. Throws an InvalidResponseError if it is none. */
export function parseObject(text: string, status: number, retryAfter: number | null = null): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // the error below describes it
  }
  const start = /^\s*</.test(text) ? 'HTML or XML, as a proxy sends it' : 'something else'
  throw new InvalidResponseError(
    `The response with status ${status} is not a JSON object but ${start}: check the address of the server.`,
    status,
    retryAfter,
  )
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The error that a response with a status other than 2xx reports. */
export async function errorOf(response: Response): Promise<DomaindexError | InvalidResponseError> {
  const { status, headers } = response
  const retryAfter = wholeNumber(headers.get('retry-after'))
  try {
    const body = parseObject(await readText(response, MAX_ERROR_BYTES), status, retryAfter)
    return apiErrorOf(body, { status, retryAfter, requestId: headers.get('request-id') })
  } catch (error) {
    if (error instanceof InvalidResponseError) return new InvalidResponseError(error.message, status, retryAfter)
    throw error
  }
}

type ResponseFacts = { status: number; retryAfter: number | null; requestId: string | null }

/**
 * The error in a body. It is inside `result` or is the whole body (section Errors of the specification). Throws an
 * InvalidResponseError if there is none.
 */
export function apiErrorOf(body: JsonObject, { status, retryAfter, requestId }: ResponseFacts): DomaindexError {
  const { error, msg, rcode, limit, used } = isObject(body.result) ? body.result : body
  if (typeof error !== 'string')
    throw new InvalidResponseError(`The response with status ${status} has no "error": check the address.`, status)
  return new DomaindexError(typeof msg === 'string' ? printable(msg) : error, {
    status,
    rcode: numberOf(rcode) ?? status,
    error: printable(error),
    limit: numberOf(limit),
    used: numberOf(used),
    retryAfter,
    requestId,
  })
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

function printable(text: string): string {
  return text.slice(0, MAX_MESSAGE_LENGTH).replace(CONTROL_CHARACTERS, ' ')
}

/** A fault of `fetch`. Runtimes put its reason into `cause`, Node as a chain. Only the text and the code are kept. */
export function networkErrorOf(thrown: unknown): NetworkError {
  if (thrown instanceof NetworkError) return thrown
  const texts: string[] = []
  let code: string | null = null
  for (let error = thrown; error instanceof Error && texts.length < 5; error = error.cause) {
    if (error.message !== '') texts.push(error.message)
    if ('code' in error && typeof error.code === 'string') code = error.code
  }
  const text = printable(texts.join(': ') || String(thrown))
  return new NetworkError(
    `The server cannot be reached, or the connection broke off: ${text}${code === null ? '' : ` (${code})`}`,
    code,
  )
}
