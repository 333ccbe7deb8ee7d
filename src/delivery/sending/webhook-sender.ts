/** Sends one message of a webhook by HTTP, to vetted addresses only, bounded in time and in what it reads. */

import { Agent, type Dispatcher, request } from 'undici'
import { isVettedTarget, type MayConnect, RefusedAddress, vettedLookup } from '../../fetch/vetted-target.ts'

/** One attempt. `status`: null if no response came. `retryAfter`: seconds that the receiver asks for; null: none. */
export type Attempt = {
  isDelivered: boolean
  status: number | null
  error: string | null
  retryAfter: number | null
}

/** Sends a body with headers. It never rejects. */
export type SendMessage = (url: string, headers: Record<string, string>, body: string) => Promise<Attempt>

/** Milliseconds for an attempt: from the resolution of the host to the end of the response. */
const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000
/** Milliseconds for which a connection without a request stays open: the events of one webhook follow each other. */
const IDLE_MS = 1_000
/** What is read of a response, so that its connection can be used again. */
const MAX_RESPONSE_BYTES = 4_096
const MAX_HEADER_BYTES = 16_384
const MAX_ERROR_LENGTH = 200

/** `agent`: the User-Agent header. */
export function openWebhookSender(
  mayConnect: MayConnect,
  agent: string,
): { send: SendMessage; close(): Promise<void> } {
  const dispatcher = new Agent({
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: { lookup: vettedLookup(mayConnect), timeout: CONNECT_TIMEOUT_MS },
  })
  return {
    async send(url, headers, body) {
      if (!isVettedTarget(new URL(url), mayConnect)) return failure(new RefusedAddress().message)
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const options = {
        dispatcher,
        signal,
        method: 'POST',
        headers: { 'user-agent': agent, ...headers },
        body,
      } as const
      try {
        const response = await request(url, options)
        await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => {}) // its status has come
        return attemptOf(response)
      } catch (error) {
        return failure(signal.aborted ? `no response within ${TIMEOUT_MS / 1_000} seconds` : causeOf(error))
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function attemptOf({ statusCode: status, headers }: Dispatcher.ResponseData): Attempt {
  const isDelivered = status >= 200 && status < 300
  const isRedirect = status >= 300 && status < 400
  const error = isDelivered ? null : `HTTP status ${status}${isRedirect ? ': redirects are not followed' : ''}`
  const seconds = Number(headers['retry-after'] ?? Number.NaN) // a date is not honoured
  return { isDelivered, status, error, retryAfter: isDelivered || !(seconds > 0) ? null : Math.ceil(seconds) }
}

function failure(error: string): Attempt {
  return { isDelivered: false, status: null, error: error.slice(0, MAX_ERROR_LENGTH), retryAfter: null }
}

/** What went wrong, without the URL. */
function causeOf(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? message : `no response: ${code}`
}
