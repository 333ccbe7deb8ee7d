/**
 * A client of CZDS, ICANN's Centralized Zone Data Service (REST API 1.0.9). It signs in, lists the zones of an account
 * and downloads them. It sends one request at a time.
 */

import { type Dispatcher, request } from 'undici'
import { InputError } from '../../import/stream/input-error.ts'
import { type DomainName, registrableDomain } from '../../values/domain-name.ts'
import { MAX_TRIES, openAgent, RETRYABLE_STATUSES, retryDelayMs } from '../download.ts'

/** `accounts`, `zones`: the base URLs of the two APIs. `agent`: the User-Agent, which CZDS requires. */
type CzdsAccount = { user: string; password: string; accounts: string; zones: string; agent: string }

/** The properties of a zone file before its download. `modified`: as the server writes it. `bytes`: null if unknown. */
export type ZoneFileInfo = { modified: string; bytes: number | null }

/** Waits for a number of milliseconds, or until the signal aborts. */
type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>
type CzdsResponse = Dispatcher.ResponseData
type CzdsRequest = { method: 'GET' | 'HEAD' | 'POST'; headers?: Record<string, string>; body?: string }

/** A token is valid for 24 hours. CZDS issues at most eight in five minutes. */
const TOKEN_LIFETIME_MS = 23 * 3_600_000
const MAX_TOKEN_RESPONSE_BYTES = 65_536
const MAX_LIST_RESPONSE_BYTES = 4_194_304
const MAX_ZONE_LINKS = 10_000

export class CzdsClient {
  readonly #account: CzdsAccount
  readonly #wait: Wait
  readonly #signal: AbortSignal
  readonly #dispatcher = openAgent({})
  #token: { text: string; until: number } | null = null

  constructor(account: CzdsAccount, signal: AbortSignal, wait: Wait) {
    this.#account = account
    this.#signal = signal
    this.#wait = wait
  }

  /** Returns the URLs of the zones approved for the account. */
  async links(): Promise<string[]> {
    const answer = await this.#authorizedRequest(`${this.#account.zones}/czds/downloads/links`, { method: 'GET' })
    const links = parseJsonOrNull(await readResponseText(answer, MAX_LIST_RESPONSE_BYTES))
    if (!Array.isArray(links) || links.length > MAX_ZONE_LINKS || !links.every((link) => typeof link === 'string'))
      throw new InputError(`${this.#account.zones} did not respond with a list of zones`)
    for (const link of links) this.#requireSameOwner(link)
    return links
  }

  async head(link: string): Promise<ZoneFileInfo> {
    const { headers, body } = await this.#authorizedRequest(link, { method: 'HEAD' })
    await body.dump()
    return zoneFileInfoOf(headers)
  }

  /**
   * Downloads a zone from byte `from`, or from its beginning if the server cannot. The returned `from` says which. It
   * tries once, and the stream may break off.
   */
  async bytes(
    link: string,
    from: number,
    modified: string,
  ): Promise<{ from: number; bytes: AsyncIterable<Uint8Array>; modified: string }> {
    const headers = from === 0 ? {} : { range: `bytes=${from}-`, 'if-range': modified }
    const answer = await this.#authorizedRequest(link, { method: 'GET', headers })
    const isPart = answer.statusCode === 206 && String(answer.headers['content-range']).startsWith(`bytes ${from}-`)
    if (answer.statusCode === 206 && !isPart) {
      await answer.body.dump()
      throw new InputError('the server sent another range than the requested one')
    }
    return { from: isPart ? from : 0, bytes: answer.body, modified: zoneFileInfoOf(answer.headers).modified }
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy()
  }

  /** Sends a request with a token. Replaces a rejected token once. */
  async #authorizedRequest(link: string, options: CzdsRequest): Promise<CzdsResponse> {
    for (let isSecond = false; ; isSecond = true) {
      const authorization = `Bearer ${await this.#signIn()}`
      const answer = await this.#requestWithRetries(link, {
        ...options,
        headers: { ...options.headers, authorization },
      })
      if (answer.statusCode === 200 || answer.statusCode === 206) return answer
      await answer.body.dump()
      if (answer.statusCode === 401 && !isSecond) this.#token = null
      else throw new InputError(statusMessage(answer.statusCode))
    }
  }

  async #signIn(): Promise<string> {
    if (this.#token !== null && Date.now() < this.#token.until) return this.#token.text
    const { user, password, accounts } = this.#account
    const body = JSON.stringify({ username: user, password })
    const headers = { 'content-type': 'application/json' }
    const answer = await this.#requestWithRetries(`${accounts}/api/authenticate`, { method: 'POST', headers, body })
    const text = await readResponseText(answer, MAX_TOKEN_RESPONSE_BYTES)
    if (answer.statusCode === 401 || answer.statusCode === 400 || answer.statusCode === 404)
      throw new InputError('CZDS does not accept the account: check DOMAINDEX_CZDS_USER and DOMAINDEX_CZDS_PASSWORD')
    const token = answer.statusCode === 200 ? tokenFromResponse(text) : null
    if (token === null) throw new InputError(`${accounts} issued no token (status ${answer.statusCode})`)
    this.#token = { text: token, until: Date.now() + TOKEN_LIFETIME_MS }
    return token
  }

  /** Repeats a request until its response is final, at most MAX_TRIES times. */
  async #requestWithRetries(url: string, { method, headers, body }: CzdsRequest): Promise<CzdsResponse> {
    const requestHeaders = {
      accept: 'application/json, application/gzip, */*;q=0.1',
      'user-agent': this.#account.agent,
      ...headers,
    }
    for (let tries = 1; ; tries++) {
      const options = {
        method,
        headers: requestHeaders,
        body: body ?? null,
        dispatcher: this.#dispatcher,
        signal: this.#signal,
      }
      const answer = await request(url, options).catch((error: Error) => error)
      this.#signal.throwIfAborted()
      if (!(answer instanceof Error) && !RETRYABLE_STATUSES.has(answer.statusCode)) return answer
      if (!(answer instanceof Error)) await answer.body.dump()
      if (tries === MAX_TRIES)
        throw new InputError(
          answer instanceof Error
            ? `${new URL(url).host} cannot be reached: ${answer.message}`
            : statusMessage(answer.statusCode),
        )
      const retryAfterMs = answer instanceof Error ? Number.NaN : Number(answer.headers['retry-after']) * 1000
      await this.#wait(retryDelayMs(tries, retryAfterMs > 0 ? retryAfterMs : null), this.#signal)
    }
  }

  /** The token is sent only to the host of the list, or over TLS to another host of the same owner. */
  #requireSameOwner(link: string): void {
    const [base, url] = [new URL(this.#account.zones), URL.canParse(link) ? new URL(link) : null]
    const isOwn = url?.origin === base.origin
    const isSameOwner =
      url?.protocol === 'https:' &&
      registrableDomain(url.hostname as DomainName) === registrableDomain(base.hostname as DomainName)
    if (!isOwn && !isSameOwner)
      throw new InputError(
        `${base.host} names a zone at an address of another owner: ${JSON.stringify(link.slice(0, 200))}`,
      )
  }
}

function tokenFromResponse(text: string): string | null {
  const { accessToken } = (parseJsonOrNull(text) ?? {}) as { accessToken?: unknown }
  return typeof accessToken === 'string' && /^[!-~]+$/.test(accessToken) ? accessToken : null
}

/** Returns null if the text is not JSON, such as the error page of a proxy. */
function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function zoneFileInfoOf(headers: CzdsResponse['headers']): ZoneFileInfo {
  const bytes = Number(headers['content-length'] ?? Number.NaN)
  return { modified: String(headers['last-modified'] ?? ''), bytes: Number.isSafeInteger(bytes) ? bytes : null }
}

function statusMessage(status: number): string {
  if (status === 401 || status === 403)
    return `the account is not approved for it (status ${status}): check its approvals at CZDS`
  if (status === 404) return 'there is no such zone (status 404)'
  return `the server responded with status ${status}`
}

/** Reads the body of a response. Throws if it has more than `maxBytes` bytes. */
async function readResponseText({ body }: CzdsResponse, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > maxBytes) throw new InputError(`a response of CZDS has more than ${maxBytes} bytes`)
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof InputError || (error as Error).name === 'AbortError') throw error
    throw new InputError(`a response of CZDS broke off: ${(error as Error).message}`)
  }
  return Buffer.concat(pieces).toString()
}
