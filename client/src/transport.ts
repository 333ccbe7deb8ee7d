/** Sends requests to one server: addresses, token, retries, and the limits of what a response may be. */

import { DomaindexError, InvalidResponseError, NetworkError } from './errors.ts'
import { errorOf, isObject, type JsonObject, networkErrorOf, parseObject, readText } from './response-body.ts'
import { type RetryPolicy, type Wait, waitByTimer, withRetries } from './retry.ts'
import type { Sha256Hasher } from './sha256.ts'

/** The function `fetch` of the runtime, or a replacement. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type ClientOptions = {
  /** The address of the server, with or without `v1.0/` at its end. */
  server: string | URL
  /** The API token. A server that needs none may be asked without it. */
  token?: string | undefined
  /** Replaces `fetch` of the runtime, for a proxy or a test. */
  fetch?: Fetch | undefined
  /** How often a call is repeated after a fault of the network or status 500, 502, 503 or 504. Default: 20. */
  retries?: number | undefined
  /**
   * The time in which a call is repeated, in seconds from its first attempt. Every wait counts, and a Retry-After that
   * does not fit ends the call with its error at once. Default: 60.
   */
  maxRetrySeconds?: number | undefined
  /**
   * The longest Retry-After of status 429 to wait for, in seconds, within `maxRetrySeconds`. Default: 0, which never
   * repeats a call after 429.
   */
  maxRetryAfter?: number | undefined
  /** The maximum size of a JSON response, in bytes after decompression. Default: 64 MiB. */
  maxResponseBytes?: number | undefined
  /** The header User-Agent. Default: that of the runtime. */
  userAgent?: string | undefined
  /** Makes a SHA-256 for a download. Default: one in JavaScript. In Node, that of node:crypto is faster. */
  sha256?: (() => Sha256Hasher) | undefined
  /** Waits before a repetition. Default: by a timer. */
  wait?: Wait | undefined
  /** Milliseconds of a monotonic clock. Default: performance.now. */
  monotonicMs?: (() => number) | undefined
  /** The source of jitter, from 0 to less than 1. Default: Math.random. */
  random?: (() => number) | undefined
}

/** Each method takes one. The call ends with the reason of `signal` when that aborts. */
export type CallOptions = { signal?: AbortSignal | undefined }

/** `body`: the parameters of an endpoint under `/v1.0/`, or a text. */
type OutgoingRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Without a leading slash. */
  path: string
  headers?: Record<string, string>
  body?: string
}

const DEFAULT_RETRIES = 20
const DEFAULT_MAX_RETRY_SECONDS = 60
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 2 ** 20
/** The characters of a header value without spaces (RFC 9110, section 5.5). */
const TOKEN_FORMAT = /^[\x21-\x7e]+$/

export class Transport {
  readonly #root: string
  readonly #token: string | undefined
  readonly #fetch: Fetch
  readonly #headers: Record<string, string>
  readonly maxResponseBytes: number
  readonly policy: RetryPolicy

  /** Throws a TypeError if the address or the token cannot be one. The message does not repeat them. */
  constructor({ server, token, userAgent, ...options }: ClientOptions) {
    this.#root = rootOf(server)
    this.#token = token?.trim()
    if (this.#token !== undefined && !TOKEN_FORMAT.test(this.#token))
      throw new TypeError('The token is empty, or has a character that no token has.')
    if (options.fetch === undefined && typeof fetch !== 'function')
      throw new TypeError('This runtime has no fetch: use Node 18 or later, or pass the option fetch.')
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init))
    this.maxResponseBytes = options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES
    this.#headers = userAgent === undefined ? {} : { 'User-Agent': userAgent }
    this.policy = {
      retries: options.retries ?? DEFAULT_RETRIES,
      retryMs: 1_000 * (options.maxRetrySeconds ?? DEFAULT_MAX_RETRY_SECONDS),
      maxRetryAfter: options.maxRetryAfter ?? 0,
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
      wait: options.wait ?? waitByTimer,
      random: options.random ?? Math.random,
      withoutToken: (error) => this.#withoutToken(error),
    }
  }

  /** Calls an endpoint under `/v1.0/`. The token is sent in the body. */
  query<T>(endpoint: string, parameters: object, signal: AbortSignal | undefined): Promise<T> {
    const body = JSON.stringify({ ...parameters, token: this.#token })
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
    const isAnswer = ({ meta, result }: JsonObject) => isObject(meta) && (isObject(result) || Array.isArray(result))
    return this.#json({ method: 'POST', path: `v1.0/${endpoint}`, headers, body }, signal, isAnswer)
  }

  /** Gets JSON from a path outside `/v1.0/`. The token is sent in the header Authorization. */
  get<T>(path: string, signal: AbortSignal | undefined): Promise<T> {
    return this.#json({ method: 'GET', path, headers: { Accept: 'application/json', ...this.bearer() } }, signal)
  }

  /**
   * Sends a change to a path outside `/v1.0/`, once: after a fault of the network, nobody knows whether it was made.
   * Returns null if the response has no body.
   */
  async change<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object | null,
    signal: AbortSignal | undefined,
  ): Promise<T | null> {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', ...this.bearer() }
    const request: OutgoingRequest = { method, path, headers, ...(body !== null && { body: JSON.stringify(body) }) }
    const send = async (): Promise<T | null> => {
      const response = await this.send(request, signal)
      const text = await readText(response, this.maxResponseBytes)
      return text === '' ? null : (parseObject(text, response.status) as T)
    }
    return withRetries({ ...this.policy, retries: 0 }, send, signal)
  }

  /** The header with the token for the paths outside `/v1.0/`. */
  bearer(): Record<string, string> {
    return this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` }
  }

  #json<T>(
    request: OutgoingRequest,
    signal: AbortSignal | undefined,
    isAnswer: (body: JsonObject) => boolean = () => true,
  ): Promise<T> {
    const read = async (): Promise<T> => {
      const response = await this.send(request, signal)
      const body = parseObject(await readText(response, this.maxResponseBytes), response.status)
      if (!isAnswer(body))
        throw new InvalidResponseError('The response has no "meta" or no "result": check the address.', response.status)
      return body as T
    }
    return withRetries(this.policy, read, signal)
  }

  /** Sends a request once. Throws the error that the response reports, if its status is not 2xx. */
  async send({ method, path, headers, body }: OutgoingRequest, signal: AbortSignal | undefined): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: new Headers({ ...this.#headers, ...headers }),
      redirect: 'manual', // another address never gets the token
      credentials: 'omit',
      signal: signal ?? null,
    }
    if (body !== undefined) init.body = body
    const response = await this.#fetch(`${this.#root}${path}`, init).catch((error) => {
      throw networkErrorOf(error)
    })
    if (response.ok) return response
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      throw new InvalidResponseError('The server redirects: give the address it redirects to.', response.status)
    }
    throw await errorOf(response)
  }

  /** A server or a runtime may repeat what it received. Removes the token from the message of an error. */
  #withoutToken<T>(error: T): T {
    if (this.#token !== undefined && (error instanceof NetworkError || error instanceof DomaindexError))
      error.message = error.message.replaceAll(this.#token, '[token]')
    return error
  }
}

/** The address to which paths are appended. It ends with a slash. */
function rootOf(server: string | URL): string {
  let url: URL
  try {
    url = new URL(server)
  } catch {
    throw new TypeError('The address of the server is not a URL, such as https://api.example.com.')
  }
  const { protocol, username, password, search, hash, origin, pathname } = url
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('The address of the server has no http(s)://.')
  if (`${username}${password}${search}${hash}` !== '')
    throw new TypeError('The address of the server must not have a user, a password, a query or a fragment.')
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1\.0$/, '')}/`
}
