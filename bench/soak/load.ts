/** The load of a soak: calls of all endpoints at a constant rate, whose answers the judge examines. */

import { Agent, request } from 'node:http'
import { addDays, dayOf } from '../../src/values/time.ts'
import { type Answer, type Judge, SOAK_ENDPOINTS, type SoakEndpoint } from './judge.ts'
import { type CrawledNames, type ImportedNames, redirectTarget } from './model.ts'
import { chooseByWeight } from './weighted.ts'

/** Wrong answers of an endpoint: how many, when the first and the last came (seconds of the load), and the first texts. */
type WrongAnswers = { count: number; first: number; last: number; texts: string[] }

/**
 * `omitted`: calls that were not sent because too many were open. `interrupted`: calls that had no answer, or 500, while
 * something was broken on purpose. `failed`: those that failed otherwise. `failures`: the first of these.
 */
export type LoadTally = {
  sent: number
  omitted: number
  answered: number
  interrupted: number
  wrong: number
  failed: number
  failures: string[]
  wrongBy: Partial<Record<SoakEndpoint, WrongAnswers>>
}

type Options = {
  rate: number
  /** The address of the server, which changes if it starts again. */
  origin(): string
  tokens: readonly string[]
  imported: ImportedNames
  crawled: CrawledNames
  judge: Judge
  random: () => number
  /** Whether something is broken on purpose, or was a moment ago. */
  isBroken(): boolean
}

/** Statuses that an endpoint may have. */
const RIGHT = [200, 404]
const TICK_MS = 20
const TIMEOUT_MS = 30_000
/** Fewer than the server accepts from one address. */
const MAX_SOCKETS = 64
/** More calls would wait in this process, until the judge could only say that every state is possible. */
const MAX_OPEN = 2 * MAX_SOCKETS
const MAX_KEPT = 20
const PRINT_MS = 60_000

export class SoakLoad {
  readonly tally: LoadTally = {
    sent: 0,
    omitted: 0,
    answered: 0,
    interrupted: 0,
    wrong: 0,
    failed: 0,
    failures: [],
    wrongBy: {},
  }
  readonly #options: Options
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })
  readonly #pending = new Set<Promise<void>>()
  readonly #timers: NodeJS.Timeout[]
  readonly #start = performance.now()
  #owed = 0
  #last = performance.now()

  constructor(options: Options) {
    this.#options = options
    this.#timers = [setInterval(() => this.#tick(), TICK_MS), setInterval(() => this.#print(), PRINT_MS)]
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#pending)
    this.#agent.destroy()
    this.#print()
  }

  #seconds(): number {
    return Math.round((performance.now() - this.#start) / 1_000)
  }

  #print(): void {
    const { answered, interrupted, omitted, wrong, failed, wrongBy } = this.tally
    const by = Object.entries(wrongBy).map(
      ([endpoint, { count, first, last }]) => `, ${endpoint} ${count} from ${first} to ${last} s`,
    )
    const counts = `answered ${answered}, interrupted ${interrupted}, failed ${failed}, omitted ${omitted}, wrong ${wrong}`
    console.error(`  ${this.#seconds()} s: ${counts}${by.join('')}`)
  }

  #tick(): void {
    const now = performance.now()
    this.#owed = Math.min(this.#owed + (this.#options.rate * (now - this.#last)) / 1_000, this.#options.rate)
    this.#last = now
    for (; this.#owed >= 1; this.#owed--) {
      if (this.#pending.size >= MAX_OPEN) {
        this.tally.omitted++
        continue
      }
      const call = this.#call()
      this.#pending.add(call)
      void call.finally(() => this.#pending.delete(call))
    }
  }

  async #call(): Promise<void> {
    const { judge, tokens, random, isBroken } = this.#options
    const { endpoint } = chooseByWeight(SOAK_ENDPOINTS, random)
    const query = this.#queryFor(endpoint)
    const check = judge.expect(endpoint, query)
    this.tally.sent++
    const isAnswerDue = !isBroken()
    let answer: Answer
    try {
      answer = await this.#get(endpoint, query, chosen(tokens, random))
      if (!RIGHT.includes(answer.status))
        throw new Error(`${endpoint} ${query}: ${answer.status} ${answer.body.toString().slice(0, 200)}`)
    } catch (error) {
      if (isAnswerDue && !isBroken()) this.#countFailure((error as Error).message)
      else this.tally.interrupted++
      return
    }
    this.tally.answered++
    const wrong = checkSafely(check, answer)
    if (wrong !== null) this.#countWrong(endpoint, wrong)
  }

  #countFailure(text: string): void {
    this.tally.failed++
    if (this.tally.failures.length < MAX_KEPT) this.tally.failures.push(`${this.#seconds()} s: ${text}`)
  }

  #countWrong(endpoint: SoakEndpoint, text: string): void {
    const seconds = this.#seconds()
    this.tally.wrong++
    this.tally.wrongBy[endpoint] ??= { count: 0, first: seconds, last: seconds, texts: [] }
    const wrong = this.tally.wrongBy[endpoint]
    wrong.count++
    wrong.last = seconds
    if (wrong.texts.length >= MAX_KEPT) return
    wrong.texts.push(`${seconds} s: ${text}`)
    console.error(`  ${seconds} s: ${endpoint}: ${text.slice(0, 300)}`)
  }

  #queryFor(endpoint: SoakEndpoint): string {
    const { imported, crawled, random } = this.#options
    if (endpoint === 'daily') return addDays(dayOf(Math.floor(Date.now() / 1_000)), -1)
    if (endpoint === 'redirect') return redirectTarget(Math.floor(random() * 10))
    const name = chosen(random() < 0.2 ? crawled.names : imported.names, random)
    return endpoint === 'search' ? name.slice(0, 4) : name
  }

  /** The seven endpoints take the token as a parameter, the others in a header. */
  #get(endpoint: SoakEndpoint, query: string, token: string): Promise<Answer> {
    const path = pathOf(endpoint, query, token)
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const options = { agent: this.#agent, timeout: TIMEOUT_MS, headers }
      const sent = request(`${this.#options.origin()}${path}`, options, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(parts) }))
        response.on('error', reject)
      })
      sent.on('timeout', () => sent.destroy(new Error(`${path.split('?')[0]}: no answer in ${TIMEOUT_MS / 1_000} s`)))
      sent.on('error', reject)
      sent.end()
    })
  }
}

const chosen = (list: readonly string[], random: () => number): string => list[Math.floor(random() * list.length)]!

/** An answer that cannot be read is wrong, too. */
function checkSafely(check: (answer: Answer) => string | null, answer: Answer): string | null {
  try {
    return check(answer)
  } catch (error) {
    return `${(error as Error).message}: ${answer.body.toString().slice(0, 200)}`
  }
}

function pathOf(endpoint: SoakEndpoint, query: string, token: string): string {
  if (endpoint === 'search') return `/search?${new URLSearchParams({ q: query })}`
  const values = new URLSearchParams({ token })
  if (endpoint === 'daily') values.set('date', query)
  else if (endpoint !== 'snapshot') values.set('query', query)
  if (endpoint === 'dnshistory') {
    values.set('type', 'A')
    values.set('limit', '100')
  }
  return `/v1.0/${endpoint}?${values}`
}
