/** Calls of the server: JSON in and out, with the CSRF token of the session; and the calls that are left today. */

import { createSignal } from './signal.ts'
import { callHeaders, forgetStarted, takeStarted } from './started-calls.ts'

/** `limit` null: the account has no limit. */
export type Quota = { limit: number | null; remaining: number | null }

/** Null until it is known. */
export const quota = createSignal<Quota | null>(null)

/** A call that failed. `status` 0: the server cannot be reached. */
export class CallError extends Error {
  readonly status: number
  /** The stable key of the error, such as `plan_required`. */
  readonly key: string
  /** The name of the field that is wrong; null if no field is. */
  readonly field: string | null
  /** Seconds after which the call may be repeated; null if unknown. */
  readonly retryAfter: number | null

  constructor(status: number, key: string, message: string, field: string | null, retryAfter: number | null) {
    super(message)
    this.status = status
    this.key = key
    this.field = field
    this.retryAfter = retryAfter
  }
}

type CallOptions = { method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH'; body?: object; signal?: AbortSignal }

let csrfToken: string | null = null

/** Sets the token that every call sends; null without a session. */
export function setCsrfToken(token: string | null): void {
  if (token !== window.started.session?.csrf) forgetStarted()
  csrfToken = token
}

/** Calls a path of the server. Resolves to the parsed body; undefined if there is none. Throws CallError. */
export async function callServer<Body>(
  path: string,
  { method = 'GET', body, signal }: CallOptions = {},
): Promise<Body> {
  const headers = callHeaders(csrfToken)
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const init: RequestInit = {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }
  const started = method === 'GET' ? takeStarted(path) : undefined
  const response = await (started ?? fetch(path, init)).catch(() => {
    throw new CallError(
      0,
      'offline',
      'The server cannot be reached. Check your connection, then try again.',
      null,
      null,
    )
  })
  readQuota(response.headers)
  const parsed = parseJson(await response.text().catch(() => ''))
  if (!response.ok) throw errorOf(response, parsed)
  return parsed as Body
}

type ErrorBody = { error?: string; msg?: string; field?: string }

function errorOf(response: Response, parsed: unknown): CallError {
  const envelope = parsed as { result?: ErrorBody } & ErrorBody
  const { error, msg, field } = envelope?.result ?? envelope ?? {}
  const retryAfter = Number(response.headers.get('Retry-After')) || null
  const message = msg ?? `The server answered ${response.status}. Try again.`
  return new CallError(response.status, error ?? 'internal_error', message, field ?? null, retryAfter)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads `RateLimit-Policy: "daily";q=100;w=86400` and `RateLimit: "daily";r=98;t=3600`. */
function readQuota(headers: Headers): void {
  const limit = numberAt(headers.get('RateLimit-Policy'), 'q')
  const remaining = numberAt(headers.get('RateLimit'), 'r')
  if (limit !== null && remaining !== null) quota.set({ limit, remaining })
}

function numberAt(header: string | null, key: string): number | null {
  const [, digits] = new RegExp(`;${key}=(\\d+)`).exec(header ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}
