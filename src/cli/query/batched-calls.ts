/** Collects the calls of many queries and sends them in batches; one by one to a server without batches. */

import type { BatchRequest, DomaindexClient, DomaindexError } from '../../../client/src/client.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { causeOf, isFinal, isNoSuchPath } from '../program/client-fault.ts'

/** The calls that the commands make for queries. */
export type QueryCalls = Pick<
  DomaindexClient,
  | 'lookup'
  | 'redirect'
  | 'reverseip'
  | 'dnshistory'
  | 'similar'
  | 'domain'
  | 'domainAsOf'
  | 'webhistory'
  | 'redirecthistory'
  | 'certificate'
  | 'certificatehistory'
  | 'namedcertificates'
  | 'addressTimes'
  | 'search'
  | 'registered'
  | 'dropped'
  | 'lookalikes'
>

/**
 * `queriesAtOnce`: how many queries may be asked at the same time. `countWaitingRows` is told how many rows of first
 * pages more, or fewer, wait to be written.
 */
export type CallControl = { readonly queriesAtOnce: number; countWaitingRows: (change: number) => void }

/** Calls that are made at the same time, if each is a request. */
const SINGLE_CALLS = 4
/** The calls of a batch. */
const BATCH_CALLS = 1_000
/** Answers and rows after which other work runs. */
const ROWS_PER_TURN = 100
/** If more rows wait to be written, the rest of a batch is not read. */
const MAX_WAITING_ROWS = 50_000

/** The calls of a client, each as a request. */
export function singleCalls(client: DomaindexClient): DomaindexClient & CallControl {
  return Object.assign(client, { queriesAtOnce: SINGLE_CALLS, countWaitingRows: () => {} })
}

/** `single`: makes the call by a request of its own, and repeats it after a fault of the server. */
type WaitingCall = {
  request: BatchRequest
  single: () => Promise<unknown>
  resolve: (body: never) => void
  reject: (error: unknown) => void
}

/** A call waits while a batch is under way. The next batch has all that wait. */
export class BatchedCalls implements QueryCalls, CallControl {
  readonly #client: DomaindexClient
  readonly #signal: AbortSignal
  #waiting: WaitingCall[] = []
  #isSending = false
  #isSupported = true
  #waitingRows = 0
  /** Resolves when a batch is read on; null if none is paused. */
  #pause: PromiseWithResolvers<void> | null = null
  /** Why a batch failed as a whole. Further calls fail like it: its repetitions have taken their time. */
  #failure: { error: unknown } | null = null

  constructor(client: DomaindexClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  get queriesAtOnce(): number {
    return this.#isSupported && this.#pause === null ? BATCH_CALLS : SINGLE_CALLS
  }

  countWaitingRows(change: number): void {
    this.#waitingRows += change
    if (this.#waitingRows <= MAX_WAITING_ROWS) this.#pause?.resolve()
  }

  lookup: QueryCalls['lookup'] = (query, options) =>
    this.#call({ endpoint: 'lookup', query }, () => this.#client.lookup(query, options))

  redirect: QueryCalls['redirect'] = (query, options) =>
    this.#call({ endpoint: 'redirect', query, ...pageOf(options) }, () => this.#client.redirect(query, options))

  reverseip: QueryCalls['reverseip'] = (query, options) =>
    this.#call({ endpoint: 'reverseip', query, ...pageOf(options) }, () => this.#client.reverseip(query, options))

  dnshistory: QueryCalls['dnshistory'] = (query, options) =>
    this.#call({ endpoint: 'dnshistory', query, ...pageOf(options) }, () => this.#client.dnshistory(query, options))

  similar: QueryCalls['similar'] = (query, options) =>
    this.#call({ endpoint: 'similar', query, ...pageOf(options) }, () => this.#client.similar(query, options))

  /** No batch has these. */
  domain: QueryCalls['domain'] = (name, options) => this.#client.domain(name, options)
  domainAsOf: QueryCalls['domainAsOf'] = (name, at, options) => this.#client.domainAsOf(name, at, options)
  webhistory: QueryCalls['webhistory'] = (name, options) => this.#client.webhistory(name, options)
  redirecthistory: QueryCalls['redirecthistory'] = (name, options) => this.#client.redirecthistory(name, options)
  certificate: QueryCalls['certificate'] = (sha256, options) => this.#client.certificate(sha256, options)
  certificatehistory: QueryCalls['certificatehistory'] = (name, options) =>
    this.#client.certificatehistory(name, options)
  namedcertificates: QueryCalls['namedcertificates'] = (name, options) => this.#client.namedcertificates(name, options)
  addressTimes: QueryCalls['addressTimes'] = (query, options) => this.#client.addressTimes(query, options)
  search: QueryCalls['search'] = (text, options) => this.#client.search(text, options)
  registered: QueryCalls['registered'] = (date, options) => this.#client.registered(date, options)
  dropped: QueryCalls['dropped'] = (date, options) => this.#client.dropped(date, options)
  lookalikes: QueryCalls['lookalikes'] = (brand, options) => this.#client.lookalikes(brand, options)

  #call<Body>(request: object, single: () => Promise<Body>): Promise<Body> {
    if (this.#failure !== null) return Promise.reject(this.#failure.error)
    if (!this.#isSupported || this.#pause !== null) return single()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request: request as BatchRequest, single, resolve, reject })
      if (this.#isSending) return
      this.#isSending = true
      setImmediate(() => void this.#sendWaiting())
    })
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0, BATCH_CALLS)
      const isBatch = this.#isSupported && this.#failure === null && calls.length > 1
      await (isBatch ? this.#sendBatch(calls) : this.#sendSingly(calls))
    }
    this.#isSending = false
  }

  async #sendBatch(calls: readonly WaitingCall[]): Promise<void> {
    const faulty: WaitingCall[] = []
    let count = 0
    let unwritten = 0
    try {
      const requests = calls.map(({ request }) => request)
      for await (const { body, error } of this.#client.batch(requests, { signal: this.#signal })) {
        const call = calls[count++]!
        if (error === null) call.resolve(body as never)
        else if (isFaultOfServer(error)) faulty.push(call)
        else call.reject(error)
        unwritten += 1 + rowsIn(body)
        if (unwritten < ROWS_PER_TURN) continue
        unwritten = 0
        await yieldToEventLoop() // the rows are counted, and written if no others wait before them
        if (this.#waitingRows > MAX_WAITING_ROWS) await this.#pauseReading(faulty)
      }
    } catch (error) {
      this.#isSupported = !isNoSuchPath(error)
      if (this.#isSupported) this.#failure ??= { error }
    }
    await this.#sendSingly([...faulty, ...calls.slice(count)])
  }

  /** Makes meanwhile the calls that the queries before the waiting rows need. */
  async #pauseReading(faulty: WaitingCall[]): Promise<void> {
    this.#pause = Promise.withResolvers()
    await this.#sendSingly([...faulty.splice(0), ...this.#waiting.splice(0)])
    this.countWaitingRows(0)
    await this.#pause.promise
    this.#pause = null
  }

  /** Makes the calls a few at a time. A failure that further calls would have too ends them all. */
  async #sendSingly(calls: readonly WaitingCall[]): Promise<void> {
    const rest = calls.values()
    const sendRest = async (): Promise<void> => {
      for (const { single, resolve, reject } of rest)
        try {
          if (this.#failure !== null) throw this.#failure.error
          resolve((await single()) as never)
        } catch (error) {
          const cause = causeOf(error)
          if (cause !== null && isFinal(cause)) this.#failure ??= { error }
          reject(error)
        }
    }
    await Promise.all(Array.from({ length: SINGLE_CALLS }, sendRest))
  }
}

/** The parameters of a page: the options of a call without the signal. */
function pageOf({ signal: _signal, ...page }: { signal?: unknown } = {}): object {
  return page
}

/** About how many rows a body has. */
function rowsIn(body: { result: object } | null): number {
  if (Array.isArray(body?.result)) return body.result.length
  return Object.values(body?.result ?? {}).reduce((sum, states) => sum + (Array.isArray(states) ? states.length : 0), 0)
}

/** A line that the server was too busy to answer, or failed to: the batch goes on, and the call may be repeated. */
function isFaultOfServer({ status }: DomaindexError): boolean {
  return status >= 500
}
