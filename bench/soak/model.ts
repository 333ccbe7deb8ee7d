/** What the soak knows: which states of each name the answers may show at any moment. */

/** `has_website` comes with `text`, and a redirect without it. */
type Web = {
  has_website: boolean
  redirect_to_https: false
  redirect_to_www: false
  only_with_www: false
  redirects_to: string | null
  ssl: 'valid'
  social_accounts: []
  text?: string
}

type Observation = {
  domain: string
  observed_at: string
  dns: { status: 'ok'; A: string[]; MX: [] }
  web: Web
}

/** The states of a name in an answer, newest first, and the number of all. */
export type ShownHistory = { states: readonly { address: string; since: string }[]; total: number }

const REDIRECT_TARGETS = 10
const TOPICS = 20
const WORDS_OF_TOPIC = 60
/**
 * Imports are observed so many seconds ahead of the clock: then they are newer than what the crawler finds out about
 * their names, which no DNS server knows. A store accepts 300 seconds. Each name is imported again before they are over.
 */
const AHEAD_SECONDS = 290
/** A website changes its topic once in so many states. */
const STATES_OF_TOPIC = 8

/** Each state of an imported name has an address of its own, by its number from 1. */
export const addressOf = (state: number): string => `198.51.${100 + Math.floor(state / 250)}.${state % 250}`
const crawledAddressOf = (state: number): string => `203.0.${100 + Math.floor(state / 250)}.${state % 250}`

export const redirectTarget = (number: number): string => `soak-target${number % REDIRECT_TARGETS}.example`

/** Names with even indexes have a website, the others redirect. */
const isWebsite = (index: number): boolean => index % 2 === 0
const topicOf = (index: number, state: number): number => (index / 2 + Math.floor(state / STATES_OF_TOPIC)) % TOPICS

/** Words that no other topic has. */
function textOf(topic: number): string {
  const letters = (number: number): string => [...String(number)].map((digit) => 'bdfgklmnpr'[Number(digit)]).join('a')
  return Array.from({ length: WORDS_OF_TOPIC }, (_, word) => `o${letters(topic)}u${letters(word)}e`).join(' ')
}

function webOf(index: number, state: number): Web {
  const common = { redirect_to_https: false, redirect_to_www: false, only_with_www: false, ssl: 'valid' } as const
  return isWebsite(index)
    ? { ...common, has_website: true, redirects_to: null, social_accounts: [], text: textOf(topicOf(index, state)) }
    : { ...common, has_website: false, redirects_to: redirectTarget(index + state), social_accounts: [] }
}

/** The first and the last state that a name may have had while a call was open. 0: no state. */
export type StateRange = { first: number; last: number }

/** The states of all names while a call was open. */
export class Moment {
  readonly names: ImportedNames
  readonly #first: Int32Array
  readonly #last: Int32Array

  constructor(names: ImportedNames, first: Int32Array, last: Int32Array) {
    this.names = names
    this.#first = first
    this.#last = last
  }

  range(index: number): StateRange {
    return { first: this.#first[index]!, last: this.#last[index]! }
  }

  /** The indexes of the names that had such a state for certain, and of those that may have had one. */
  namesWith(isSuch: (index: number, state: number) => boolean): { certain: Set<number>; possible: Set<number> } {
    const found = { certain: new Set<number>(), possible: new Set<number>() }
    for (let index = 0; index < this.#first.length; index++) {
      const [first, last] = [this.#first[index]!, this.#last[index]!]
      let such = 0
      for (let state = Math.max(1, first); state <= last; state++) if (isSuch(index, state)) such++
      if (such > 0) found.possible.add(index)
      if (such === last - first + 1) found.certain.add(index)
    }
    return found
  }
}

export const statesIn = ({ first, last }: StateRange): number[] =>
  Array.from({ length: last - first + 1 }, (_, offset) => first + offset)

/** The names whose states come from imports: each has exactly the states that were imported, in order. */
export class ImportedNames {
  readonly names: readonly string[]
  readonly #indexes: Map<string, number>
  /** The number of states of each name that are stored for certain, and of those that may be stored. */
  readonly #stored: Int32Array
  readonly #possible: Int32Array
  /** When the states of each name were observed. */
  readonly #instants: string[][]
  /** When the topic of each name changed last, by performance.now(). */
  readonly #topicChanged: Float64Array
  /** Seconds of the last observation: each is later than the one before. */
  #at = 0

  constructor(count: number) {
    this.names = Array.from({ length: count }, (_, index) => `s${index}.soak.example`)
    this.#indexes = new Map(this.names.map((name, index) => [name, index]))
    this.#stored = new Int32Array(count)
    this.#possible = new Int32Array(count)
    this.#instants = this.names.map(() => [])
    this.#topicChanged = new Float64Array(count)
  }

  /** Undefined if it is no name of an import. */
  indexOf(name: string): number | undefined {
    return this.#indexes.get(name)
  }

  /** The next state of some names. They may be stored from now on. */
  begin(indexes: readonly number[]): Observation[] {
    this.#at = Math.max(this.#at + 1, Math.floor(Date.now() / 1_000) + AHEAD_SECONDS)
    const instant = new Date(this.#at * 1_000).toISOString().slice(0, 19)
    return [...new Set(indexes)].map((index) => {
      const state = this.#stored[index]! + 1
      this.#possible[index] = state
      this.#instants[index]![state] = instant
      const dns = { status: 'ok', A: [addressOf(state)], MX: [] } as const
      return {
        domain: this.names[index]!,
        observed_at: `${instant}Z`,
        dns: { ...dns, A: [...dns.A], MX: [] },
        web: webOf(index, state),
      }
    })
  }

  /** The import that began last is acknowledged: its states are stored for certain. */
  acknowledge(): void {
    for (const [index, state] of this.#possible.entries()) {
      const former = this.#stored[index]!
      this.#stored[index] = state
      if (state !== former && (former === 0 || topicOf(index, former) !== topicOf(index, state)))
        this.#topicChanged[index] = performance.now()
    }
  }

  /** Take it before a call, and call it after the answer. */
  beginMoment(): () => Moment {
    const stored = this.#stored.slice()
    return () => new Moment(this, stored, this.#possible.slice())
  }

  instantOf(index: number, state: number): string {
    return this.#instants[index]![state]!
  }

  /**
   * The topics that a website may be found by: of its states, and of the states before if it changed its topic in the
   * last `lag` milliseconds. None if it is no website. `certain`: the one that it is found by for certain.
   */
  topicsOf(index: number, { first, last }: StateRange, lag: number): { possible: Set<number>; certain: number | null } {
    if (!isWebsite(index) || last === 0) return { possible: new Set(), certain: null }
    const isRecent = performance.now() - this.#topicChanged[index]! < lag
    const oldest = Math.max(1, isRecent ? first - STATES_OF_TOPIC : first)
    const possible = new Set(statesIn({ first: oldest, last }).map((state) => topicOf(index, state)))
    return { possible, certain: first > 0 && !isRecent && possible.size === 1 ? [...possible][0]! : null }
  }

  get states(): number {
    return this.#stored.reduce((sum, stored) => sum + stored, 0)
  }
}

export function checkHistory(names: ImportedNames, index: number, range: StateRange, shown: ShownHistory) {
  const { states, total } = shown
  const isRight = states.every(
    ({ address, since }, position) =>
      address === addressOf(total - position) && since === names.instantOf(index, total - position),
  )
  if (isRight && total >= range.first && total <= range.last) return null
  const text = states.slice(0, 5).map(({ address }) => address)
  return `${names.names[index]} has ${total} states, expected ${range.first} to ${range.last}: ${text.join(' ')}`
}

/** The names that the crawler probes: the resolver of the soak gives each a further address now and then. */
export class CrawledNames {
  readonly names: readonly string[]
  readonly #states: number[]

  constructor(count: number) {
    this.names = Array.from({ length: count }, (_, index) => `c${index}.soak-crawl.example`)
    this.#states = this.names.map(() => 1)
  }

  /** Gives a share of the names another address. */
  change(random: () => number, share: number): void {
    for (const index of this.#states.keys()) if (random() < share) this.#states[index]!++
  }

  addressesOf(index: number): string[] {
    return [crawledAddressOf(this.#states[index]!)]
  }

  /** Null if the addresses, newest first, are states that the name had, in this order. */
  check(name: string, { states }: ShownHistory): string | null {
    const newest = this.#states[this.names.indexOf(name)]!
    const numbers = states.map(({ address }) => {
      const [, , third, fourth] = address.split('.').map(Number)
      return (third! - 100) * 250 + fourth!
    })
    const isRight = numbers.every((number, index) => number <= newest && (index === 0 || number < numbers[index - 1]!))
    return isRight ? null : `${name} shows ${numbers.slice(0, 5).join(' ')}, and had ${newest} states`
  }

  /** Whether the newest address is the one that the name has now. */
  isCurrent(index: number, newest: string | undefined): boolean {
    return newest === crawledAddressOf(this.#states[index]!)
  }
}
