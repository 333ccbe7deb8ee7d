/** Downloads a file into a temporary file, bounded in size, time, redirects and tries. */

import { randomUUID } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type Dispatcher, request } from 'undici'
import { errorCause, InputError } from '../import/stream/input-error.ts'
import { UnnamedFile } from '../import/stream/unnamed-file.ts'
import { isVettedTarget, type MayConnect, publicOnly, RefusedAddress, vettedLookup } from './vetted-target.ts'

/** `token`: a Bearer token, null for none. Only the server of the URL receives it, before any redirect to another. */
export type DownloadOptions = {
  agent: string
  token: string | null
  maxBytes: number
  signal: AbortSignal
  /** Waits for a number of milliseconds, or until the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /**
   * Whether a redirect to another server may connect to an address and port. By default, the guard of the crawler says
   * so.
   */
  mayConnect?: MayConnect
  /** Called with the number of bytes downloaded so far, and their total, null if it is unknown. */
  onBytes(bytes: number, of: number | null): void
}

/**
 * `first`: of the server that the operator named, until it redirects to another. `others`: of every server after that,
 * also of the first one again, whose addresses are vetted.
 */
type Dispatchers = { first: Agent; others: Agent }

export const MAX_TRIES = 4
const FIRST_RETRY_DELAY_MS = 5_000
const MAX_RETRY_DELAY_MS = 600_000
const MAX_REDIRECTS = 5
/** The server must begin its response, and send each further part of it, within this time. */
const IDLE_TIMEOUT_MS = 60_000
/** One try must end within this time. */
const TOTAL_TIMEOUT_MS = 3_600_000
/** A retry can help: the server is busy or failing. */
export const RETRYABLE_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])

/** A failure that may pass. `retryAfterMs`: what the server requests, or null. */
class PassingFault extends Error {
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Returns the complete file, which the caller closes. Throws InputError if the URL is unusable or the download fails,
 * and StorageError if the temporary folder is.
 */
export async function download(url: string, options: DownloadOptions): Promise<UnnamedFile> {
  const mayConnect = options.mayConnect ?? publicOnly()
  const dispatchers: Dispatchers = { first: openAgent({}), others: openAgent({ lookup: vettedLookup(mayConnect) }) }
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await downloadOnce(requireHttpUrl(url), { ...options, mayConnect }, dispatchers)
      } catch (error) {
        options.signal.throwIfAborted()
        if (!(error instanceof PassingFault)) throw error
        if (tries === MAX_TRIES) throw new InputError(error.message)
        await options.wait(retryDelayMs(tries, error.retryAfterMs), options.signal)
      }
    }
  } finally {
    await Promise.all([dispatchers.first.destroy(), dispatchers.others.destroy()])
  }
}

/** Milliseconds to wait after a number of failed tries. `retryAfterMs`: what the server requests, or null. */
export function retryDelayMs(tries: number, retryAfterMs: number | null): number {
  return Math.min(retryAfterMs ?? FIRST_RETRY_DELAY_MS * 2 ** (tries - 1), MAX_RETRY_DELAY_MS)
}

export function openAgent(connect: { lookup?: LookupFunction }): Agent {
  return new Agent({
    connections: 1,
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connect: { timeout: IDLE_TIMEOUT_MS, ...connect },
  })
}

/**
 * Throws InputError unless the text is an http:// or https:// URL without user and password, which it does not repeat.
 */
function requireHttpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && (url.username !== '' || url.password !== ''))
    throw new InputError(`the URL of ${url.host} contains a user or a password: leave them out`)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InputError(`${JSON.stringify(text.slice(0, 200))} is no http:// or https:// URL`)
  return url
}

type VettedOptions = DownloadOptions & { mayConnect: MayConnect }

async function downloadOnce(url: URL, options: VettedOptions, dispatchers: Dispatchers): Promise<UnnamedFile> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)])
  const { body, headers } = await followRedirects(url, options, dispatchers, signal)
  const length = Number(headers['content-length'] ?? Number.NaN)
  const total = Number.isSafeInteger(length) ? length : null
  const folder = tmpdir()
  const file = new UnnamedFile(
    join(folder, `domaindex-download-${randomUUID()}`),
    (cause) => `the temporary folder ${folder} cannot be used: ${cause}; TMPDIR names another`,
  )
  try {
    for await (const chunk of chunksOf(body)) {
      if (file.bytes + chunk.length > options.maxBytes)
        throw new InputError(`it has more than ${options.maxBytes} bytes, the most that is accepted`)
      file.append(chunk)
      options.onBytes(file.bytes, total)
    }
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** Undici compares the length of a body with its header, so a body that was cut off fails here. */
async function* chunksOf(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        throw new PassingFault(`the download broke off: ${errorCause(error)}`)
      })
      if (next.done) return
      yield next.value
    }
  } finally {
    body.destroy()
  }
}

async function followRedirects(
  first: URL,
  { agent, token, mayConnect }: VettedOptions,
  dispatchers: Dispatchers,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  for (let [url, redirects, isFirst] = [first, 0, true]; ; redirects++) {
    isFirst &&= url.origin === first.origin // another server may not name an address by way of the first one
    if (!isFirst && !isVettedTarget(url, mayConnect)) throw refusedTarget(url)
    const dispatcher = isFirst ? dispatchers.first : dispatchers.others
    const authorization = token !== null && isFirst ? { authorization: `Bearer ${token}` } : {}
    const headers = { 'user-agent': agent, accept: '*/*', ...authorization }
    const answer = await request(url, { dispatcher, signal, headers }).catch((error: unknown) => {
      if (error instanceof RefusedAddress) throw refusedTarget(url)
      throw new PassingFault(`${url.host} cannot be reached: ${errorCause(error)}`)
    })
    const { statusCode, headers: received, body } = answer
    if (statusCode === 200) return answer
    await body.dump()
    const location = String(received.location ?? '')
    if (statusCode >= 300 && statusCode < 400 && URL.canParse(location, url.href)) {
      if (redirects === MAX_REDIRECTS) throw new InputError(`it redirects more than ${MAX_REDIRECTS} times`)
      const next = requireHttpUrl(new URL(location, url).href)
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw new InputError(`${url.host} redirects from https:// to http://, which is not followed`)
      url = next
    } else throw statusFault(url, statusCode, Number(received['retry-after']) * 1000)
  }
}

function refusedTarget({ host }: URL): InputError {
  return new InputError(`it redirects to ${host}, which has no public address, or a port other than 80 and 443`)
}

function statusFault(url: URL, status: number, retryAfterMs: number): Error {
  const message = `${url.host} responded with status ${status}`
  if (RETRYABLE_STATUSES.has(status)) return new PassingFault(message, retryAfterMs > 0 ? retryAfterMs : null)
  return new InputError(status === 401 || status === 403 ? `${message}: it does not allow the download` : message)
}
