/** What the soak knows: which states of each name the answers may show at any moment. */

/** A name, the number of states that are stored for certain, and of those that may be stored. */
type KnownName = { name: string; stored: number; possible: number }

type Observation = { domain: string; observed_at: string; dns: { status: 'ok'; A: string[]; MX: [] } }

/** The addresses of the states of a name, newest first: those that an answer lists, and the number of all. */
export type ShownHistory = { addresses: readonly string[]; total: number }

/** Each state of a name has an address of its own, by its number from 1. */
const addressOf = (state: number): string => `198.51.${100 + Math.floor(state / 250)}.${state % 250}`

/** The names whose states come from imports: each has exactly the states that were imported, in order. */
export class ImportedNames {
  readonly #known: KnownName[]
  /** Seconds of the next observation: each is later than the one before. */
  #at: number

  constructor(count: number, from: number) {
    this.#known = Array.from({ length: count }, (_, index) => ({
      name: `s${index}.soak.example`,
      stored: 0,
      possible: 0,
    }))
    this.#at = from
  }

  get names(): string[] {
    return this.#known.map(({ name }) => name)
  }

  nameAt(index: number): string {
    return this.#known[index % this.#known.length]!.name
  }

  /** The next state of some names. They may be stored from now on. */
  begin(indexes: readonly number[]): Observation[] {
    this.#at++
    const observed_at = `${new Date(this.#at * 1_000).toISOString().slice(0, 19)}Z`
    return [...new Set(indexes)].map((index) => {
      const known = this.#known[index]!
      known.possible = known.stored + 1
      return { domain: known.name, observed_at, dns: { status: 'ok', A: [addressOf(known.possible)], MX: [] } }
    })
  }

  /** The import that began last is acknowledged: its states are stored for certain. */
  acknowledge(): void {
    for (const known of this.#known) known.stored = known.possible
  }

  /** What an answer may show at this moment. Take it before the call, and check the answer with the `check` of later. */
  expectation(name: string): { check(history: ShownHistory): string | null } {
    const known = this.#known.find((each) => each.name === name)!
    const min = known.stored
    return {
      check({ addresses, total }) {
        const { possible } = known
        const isRight = addresses.every((address, index) => address === addressOf(total - index))
        if (isRight && total >= min && total <= possible) return null
        return `${name} has ${total} states, expected ${min} to ${possible}: ${addresses.slice(0, 5).join(' ')}`
      },
    }
  }

  get states(): number {
    return this.#known.reduce((sum, { stored }) => sum + stored, 0)
  }
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
    return [addressOf(this.#states[index]!)]
  }

  /** Null if the addresses, newest first, are states that the name had, in this order. */
  check(name: string, { addresses }: ShownHistory): string | null {
    const newest = this.#states[this.names.indexOf(name)]!
    const numbers = addresses.map((address) => {
      const [, , third, fourth] = address.split('.').map(Number)
      return (third! - 100) * 250 + fourth!
    })
    const isRight = numbers.every((number, index) => number <= newest && (index === 0 || number < numbers[index - 1]!))
    return isRight ? null : `${name} shows ${addresses.slice(0, 5).join(' ')}, and had ${newest} states`
  }

  /** Whether the newest address is the one that the name has now. */
  isCurrent(index: number, newest: string | undefined): boolean {
    return newest === addressOf(this.#states[index]!)
  }
}
