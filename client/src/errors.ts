/** The errors that a client throws. An aborted call throws the reason of its AbortSignal instead. */

import type { ErrorKey } from './api-types.ts'

/** What a response says besides the message of an error. */
type ErrorDetails = {
  /** The status code of HTTP. */
  status: number
  /** The number in the body, equal to the status. */
  rcode: number
  /** The key to branch on. It never changes, the message may. A newer server may send further keys. */
  error: ErrorKey | (string & {})
  /** Calls per day, with `rate_limited`; null otherwise. */
  limit: number | null
  /** Calls charged today, with `rate_limited`; null otherwise. */
  used: number | null
  /** The seconds after which to try again; null if the server names none. */
  retryAfter: number | null
  /** The ID of the request in the log of the server; null if there is none. */
  requestId: string | null
}

/** The server refused a call, or failed to answer it. */
export class DomaindexError extends Error implements ErrorDetails {
  override readonly name = 'DomaindexError'
  readonly status: number
  readonly rcode: number
  readonly error: ErrorKey | (string & {})
  readonly limit: number | null
  readonly used: number | null
  readonly retryAfter: number | null
  readonly requestId: string | null

  constructor(message: string, { status, rcode, error, limit, used, retryAfter, requestId }: ErrorDetails) {
    super(message)
    this.status = status
    this.rcode = rcode
    this.error = error
    this.limit = limit
    this.used = used
    this.retryAfter = retryAfter
    this.requestId = requestId
  }
}

/** No response came, or it broke off. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  /** The code of the fault where the runtime names one, such as `ECONNREFUSED`; null otherwise. */
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

/** A response is not one of the API: the page of a proxy, a redirect, a body that is too large or not JSON. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError'
  /** The status code of HTTP; 0 if a browser hides it. */
  readonly status: number
  /** The seconds after which to try again; null if the response names none. */
  readonly retryAfter: number | null

  constructor(message: string, status: number, retryAfter: number | null = null) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** A download cannot be completed with the bytes so far: start it anew. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  /** `file_changed`: the server has a newer file of the name. `digest_mismatch`: bytes are wrong or missing. */
  readonly reason: 'file_changed' | 'digest_mismatch'

  constructor(reason: DownloadError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
