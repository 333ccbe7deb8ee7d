/** A simulated node: its network to the store, its clock, and how it freezes and dies. */

import type pg from 'pg'
import type { VirtualClock } from '../../bench/crawl-simulation/clock.ts'
import { type RandomSource, randomInt } from '../../bench/world/random.ts'
import type { Timers } from '../../src/api/http/timers.ts'
import type { CrawlClock } from '../../src/crawler/notifier.ts'
import type { MachineClock } from '../../src/server/processes/store-monitor.ts'
import type { Instant } from '../../src/values/time.ts'
import type { Cut } from './history.ts'
import { breakConnection, observed, type StatementObserver } from './statements.ts'

/** The maximum time of a request or a reply on the network. */
const MAX_LATENCY_MS = 4

/** What all nodes share. */
export type Network = {
  clock: VirtualClock
  random: RandomSource
  /** The time of the store. */
  now(): Instant
  /** Runs one call of a store at a time, so that a seed always gives the same history. */
  serial<Result>(work: () => Promise<Result>): Promise<Result>
}

const never = (): Promise<never> => new Promise(() => {})

export class SimulatedNode implements StatementObserver {
  /** Unique among all processes of the history. */
  readonly holder: string
  isDead = false
  /** Seconds by which the clock of the node is ahead of the store's. */
  clockAhead = 0
  readonly #network: Network
  readonly #deathWork: (() => void)[]
  readonly #clients = new Set<pg.Client>()
  #partitionedUntil = 0
  #frozenUntil = 0
  /** The length of the partition that begins with the next reply. */
  #nextReplyDelay = 0
  #cut: (Cut & { isDeath: boolean }) | null = null

  constructor(network: Network, holder: string, onDeath: () => void) {
    this.#network = network
    this.holder = holder
    this.#deathWork = [onDeath]
  }

  /** Calls `work` when the process dies. */
  onDeath(work: () => void): void {
    this.#deathWork.push(work)
  }

  /** `from`: now, or when the next call has reached the store, so that its reply is late. */
  partition(milliseconds: number, from: 'now' | 'reply'): void {
    if (from === 'reply') this.#nextReplyDelay = milliseconds
    else this.#partitionedUntil = Math.max(this.#partitionedUntil, this.#network.clock.monotonicMs() + milliseconds)
  }

  freeze(milliseconds: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#network.clock.monotonicMs() + milliseconds)
  }

  /** Breaks all connections at a statement. With `isDeath`, the process dies with them. */
  cutAt(cut: Cut, isDeath: boolean): void {
    if (this.#cut?.isDeath !== true) this.#cut = { ...cut, isDeath }
  }

  /** Ends what the history has planned for this node. */
  spare(): void {
    this.#cut = null
    this.#nextReplyDelay = 0
    this.clockAhead = 0
  }

  onStatement(client: pg.Client): boolean {
    if (this.isDead) return false
    this.#clients.add(client)
    const cut = this.#cut
    if (cut === null || --cut.statement > 0) return true
    this.#cut = null
    for (const each of this.#clients) breakConnection(each, each === client ? cut.lost : 'request')
    this.#clients.clear()
    if (cut.isDeath) {
      this.isDead = true
      for (const work of this.#deathWork) work()
    }
    return !cut.isDeath || cut.lost === 'reply'
  }

  /** Runs a call of the store: its request and its reply take time, and wait while the node is cut off. */
  async call<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#travel()
    const { clock, serial } = this.#network
    const outcome = await clock.hold(
      serial(async () => {
        if (this.isDead) return null
        return await observed(this, work).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
      }),
    )
    if (this.#nextReplyDelay > 0) this.partition(this.#nextReplyDelay, 'now')
    this.#nextReplyDelay = 0
    await this.#travel()
    if (outcome === null) return never()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }

  /** Returns a proxy whose methods, also those of nested objects, are calls over the network. */
  wrap<Thing extends object>(target: Thing): Thing {
    return new Proxy(target, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value === 'function') return (...args: unknown[]) => this.call(() => value.apply(target, args))
        return typeof value === 'object' && value !== null ? this.wrap(value) : value
      },
    })
  }

  /** The clock and the timers of the process, which stop while it is frozen, and for good when it dies. */
  get clock(): CrawlClock & MachineClock & Timers {
    const { clock, now } = this.#network
    return {
      now: () => now() + this.clockAhead,
      monotonicMs: () => clock.monotonicMs(),
      wait: (milliseconds: number, signal?: AbortSignal) => this.#wait(milliseconds, signal),
      every: (milliseconds, work) => this.#every(milliseconds, work),
    }
  }

  async #wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#network
    await clock.wait(milliseconds, signal)
    while (this.#frozenUntil > clock.monotonicMs()) await clock.wait(this.#frozenUntil - clock.monotonicMs())
    if (this.isDead) await never()
  }

  #every(milliseconds: number, work: () => void): () => void {
    let isOn = true
    const repeat = async (): Promise<void> => {
      for (;;) {
        await this.#wait(milliseconds)
        if (!isOn) return
        work()
      }
    }
    void repeat()
    return () => {
      isOn = false
    }
  }

  /** One way between the node and the store. */
  async #travel(): Promise<void> {
    const { clock, random } = this.#network
    await this.#wait(randomInt(random, MAX_LATENCY_MS))
    while (this.#partitionedUntil > clock.monotonicMs()) await this.#wait(this.#partitionedUntil - clock.monotonicMs())
  }
}
