/** The load of a soak: calls of all endpoints at a constant rate, whose answers are compared with the model. */

import { Agent, request } from 'node:http'
import { addDays, dayOf } from '../../src/values/time.ts'
import type { CrawledNames, ImportedNames, ShownHistory } from './model.ts'
import { chooseByWeight } from './weighted.ts'

/**
 * `interrupted`: calls that had no answer, or 500, while something was broken on purpose. `failed`: those that failed
 * otherwise. `texts`: the first of the wrong answers and failures.
 */
export type LoadTally = {
  sent: number
  answered: number
  interrupted: number
  wrong: number
  failed: number
  texts: string[]
}

type Options = {
  rate: number
  /** The address of the server, which changes if it starts again. */
  origin(): string
  tokens: readonly string[]
  imported: ImportedNames
  crawled: CrawledNames
  random: () => number
  /** Whether something is broken on purpose, or was a moment ago. */
  isBroken(): boolean
}

const ENDPOINTS = [
  { weight: 35, endpoint: 'lookup' },
  { weight: 35, endpoint: 'dnshistory' },
  { weight: 10, endpoint: 'reverseip' },
  { weight: 5, endpoint: 'redirect' },
  { weight: 5, endpoint: 'similar' },
  { weight: 5, endpoint: 'search' },
  { weight: 3, endpoint: 'daily' },
  { weight: 2, endpoint: 'snapshot' },
] as const
/** Statuses that an endpoint may have. */
const RIGHT = [200, 404]
const TICK_MS = 20
const TIMEOUT_MS = 30_000
const MAX_KEPT = 20

export class SoakLoad {
  readonly tally: LoadTally = { sent: 0, answered: 0, interrupted: 0, wrong: 0, failed: 0, texts: [] }
  readonly #options: Options
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 100 })
  readonly #pending = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #owed = 0
  #last = performance.now()

  constructor(options: Options) {
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
    this.#agent.destroy()
  }

  #tick(): void {
    const now = performance.now()
    this.#owed = Math.min(this.#owed + (this.#options.rate * (now - this.#last)) / 1_000, this.#options.rate)
    this.#last = now
    for (; this.#owed >= 1; this.#owed--) {
      const call = this.#call()
      this.#pending.add(call)
      void call.finally(() => this.#pending.delete(call))
    }
  }

  async #call(): Promise<void> {
    const { imported, crawled, random, tokens, isBroken } = this.#options
    const { endpoint } = chooseByWeight(ENDPOINTS, random)
    const isCrawled = random() < 0.2
    const query = isCrawled
      ? crawled.names[Math.floor(random() * crawled.names.length)]!
      : imported.nameAt(Math.floor(random() * 1e6))
    const expectation = isCrawled ? null : imported.expectation(query)
    this.tally.sent++
    const isAnswerDue = !isBroken()
    try {
      const { status, text } = await this.#get(endpoint, query, chosen(tokens, random))
      if (!RIGHT.includes(status)) throw new Error(`${endpoint} ${query}: ${status} ${text.slice(0, 200)}`)
      this.tally.answered++
      if (endpoint !== 'dnshistory' || status !== 200) return
      const history = historyIn(text)
      const wrong = expectation === null ? crawled.check(query, history) : expectation.check(history)
      if (wrong !== null) this.#count('wrong', wrong)
    } catch (error) {
      if (isAnswerDue && !isBroken()) this.#count('failed', (error as Error).message)
      else this.tally.interrupted++
    }
  }

  #count(what: 'wrong' | 'failed', text: string): void {
    this.tally[what]++
    if (this.tally.texts.length < MAX_KEPT) this.tally.texts.push(text)
  }

  /** The seven endpoints take the token as a parameter, the others in a header. */
  #get(endpoint: string, query: string, token: string): Promise<{ status: number; text: string }> {
    const path = pathOf(endpoint, query, token)
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const options = { agent: this.#agent, timeout: TIMEOUT_MS, headers }
      const sent = request(`${this.#options.origin()}${path}`, options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
        response.on('error', reject)
      })
      sent.on('timeout', () => sent.destroy(new Error(`${path.split('?')[0]}: no answer in ${TIMEOUT_MS / 1_000} s`)))
      sent.on('error', reject)
      sent.end()
    })
  }
}

const chosen = (tokens: readonly string[], random: () => number): string =>
  tokens[Math.floor(random() * tokens.length)]!

function pathOf(endpoint: string, query: string, token: string): string {
  if (endpoint === 'search') return `/search?${new URLSearchParams({ q: query.slice(0, 4) })}`
  const values = new URLSearchParams({ token })
  if (endpoint === 'daily') values.set('date', addDays(dayOf(Math.floor(Date.now() / 1_000)), -1))
  else if (endpoint !== 'snapshot') values.set('query', query)
  if (endpoint === 'dnshistory') {
    values.set('type', 'A')
    values.set('limit', '100')
  }
  return `/v1.0/${endpoint}?${values}`
}

/** The states of type A in a body of /dnshistory. */
export function historyIn(text: string): ShownHistory {
  const { meta, result } = JSON.parse(text) as {
    meta: { totals: { A: number } }
    result: { A: { records: { ipv4_address: string }[] }[] }
  }
  return { addresses: result.A.map(({ records }) => records[0]?.ipv4_address ?? ''), total: meta.totals.A }
}
