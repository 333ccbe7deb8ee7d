/** Downloads a file into a temporary file, bounded in size, time, redirects and tries. */

import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type Dispatcher, request } from 'undici'
import { errorCause, InputError } from '../import/stream/input-error.ts'
import { UnnamedFile } from '../import/stream/unnamed-file.ts'

/** `token`: a Bearer token, null for none. Only the server of the URL receives it. */
export type DownloadOptions = {
  agent: string
  token: string | null
  maxBytes: number
  signal: AbortSignal
  /** Waits for a number of milliseconds, or until the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Called with the number of bytes downloaded so far, and their total, null if it is unknown. */
  onBytes(bytes: number, of: number | null): void
}

const MAX_TRIES = 4
const MAX_REDIRECTS = 5
const FIRST_RETRY_DELAY_MS = 5_000
const MAX_RETRY_DELAY_MS = 600_000
/** The server must begin its response, and send each further part of it, within this time. */
const IDLE_TIMEOUT_MS = 60_000
/** One try must end within this time. */
const TOTAL_TIMEOUT_MS = 3_600_000
/** A retry can help: the server is busy or failing. */
const RETRYABLE_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])

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
  const dispatcher = new Agent({
    connections: 1,
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connect: { timeout: IDLE_TIMEOUT_MS },
  })
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await downloadOnce(requireHttpUrl(url), options, dispatcher)
      } catch (error) {
        options.signal.throwIfAborted()
        if (!(error instanceof PassingFault)) throw error
        if (tries === MAX_TRIES) throw new InputError(error.message)
        const pause = error.retryAfterMs ?? FIRST_RETRY_DELAY_MS * 2 ** (tries - 1)
        await options.wait(Math.min(pause, MAX_RETRY_DELAY_MS), options.signal)
      }
    }
  } finally {
    await dispatcher.destroy()
  }
}

/** Throws InputError unless the text is an http:// or https:// URL without a password. */
export function requireHttpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InputError(`${JSON.stringify(text.slice(0, 200))} is no http:// or https:// URL without a password`)
  return url
}

async function downloadOnce(url: URL, options: DownloadOptions, dispatcher: Dispatcher): Promise<UnnamedFile> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)])
  const { body, headers } = await followRedirects(url, options, { dispatcher, signal })
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
  { agent, token }: DownloadOptions,
  how: { dispatcher: Dispatcher; signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  for (let [url, redirects] = [first, 0]; ; redirects++) {
    const authorization = token !== null && url.origin === first.origin ? { authorization: `Bearer ${token}` } : {}
    const headers = { 'user-agent': agent, accept: '*/*', ...authorization }
    const answer = await request(url, { ...how, headers }).catch((error: unknown) => {
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

function statusFault(url: URL, status: number, retryAfterMs: number): Error {
  const message = `${url.host} responded with status ${status}`
  if (RETRYABLE_STATUSES.has(status)) return new PassingFault(message, retryAfterMs > 0 ? retryAfterMs : null)
  return new InputError(status === 401 || status === 403 ? `${message}: it does not allow the download` : message)
}
