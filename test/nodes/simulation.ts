/** Runs a history: real API quotas, crawlers and job schedulers on simulated nodes over a real PostgreSQL store. */

import pg from 'pg'
import { VirtualClock } from '../../bench/crawl-simulation/clock.ts'
import { seededRandom } from '../../bench/world/random.ts'
import { openStore } from '../../src/store/open.ts'
import { UncertainWriteFault } from '../../src/store/port/fault.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type Instant, parseInstant, SECONDS_PER_DAY } from '../../src/values/time.ts'
import { know } from '../crawler/world.ts'
import { Books } from './books.ts'
import { BuiltFiles } from './built-files.ts'
import { CRAWLED_NAMES, CRAWLED_RANGES } from './crawled-names.ts'
import { HISTORY_SECONDS, type History, historyOf, NODES, type NodeEvent, type Role } from './history.ts'
import { type Running, type Surroundings, startApi, startCrawl, startJobs } from './roles.ts'
import { type Network, SimulatedNode } from './simulated-node.ts'
import { Witness } from './witness.ts'

/** Midnight, and with it the nightly round, is in the middle of a history. */
const START = parseInstant('2026-11-20T23:57:00Z')!
/** Seconds after a history in which all nodes run: longer than every outage and lease. */
const RECOVERY_SECONDS = 480
/** The maximum number of seconds until every process has stopped. */
const STOP_SECONDS = 300

const STARTERS: Readonly<Record<Role, typeof startApi>> = { api: startApi, crawler: startCrawl, jobs: startJobs }

type Place = { role: Role; node: SimulatedNode; running: Running | null }

export class Simulation {
  readonly books: Books
  readonly files = new BuiltFiles(START)
  readonly witness = new Witness()
  readonly clock = new VirtualClock()
  /** Faults that processes reported. */
  readonly faults: unknown[] = []
  /** The processes that died. */
  readonly dead = new Set<string>()
  /** Processes that started. */
  births = 0
  readonly #history: History
  readonly #url: string
  readonly #network: Network
  readonly #around: Surroundings
  readonly #places: Place[] = []
  readonly #stores: Store[] = []
  #turn: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(seed: number, url: string) {
    const random = seededRandom(seed, 0, 2)
    const { clock, witness, files, faults } = this
    this.#history = historyOf(seed)
    this.#url = url
    this.books = new Books(this.#history.limit)
    this.#network = { clock, random, now: () => this.now(), serial: (work) => this.#serial(work) }
    const onFault = (fault: unknown): void => void faults.push(fault)
    this.#around = { clock, random, books: this.books, files, witness, onFault }
  }

  now(): Instant {
    return START + Math.floor(this.clock.monotonicMs() / 1000)
  }

  /** A store beside the nodes, without a network. */
  open(): Promise<Store> {
    return openStore(this.#url, {
      access: 'write',
      ledger: 'own',
      secret: null,
      pool: 2,
      now: () => this.now(),
    })
  }

  /** Runs the history, lets the nodes recover, and stops them. */
  async run(): Promise<void> {
    const store = await this.open()
    await know(store, CRAWLED_NAMES, START - 1)
    await store.close()
    await this.#skipEmptyRanges()
    for (const role of NODES) this.#places.push(this.#placeOf(role))
    for (const event of this.#history.events) {
      await this.clock.run(event.at)
      this.#apply(event)
    }
    await this.clock.run(HISTORY_SECONDS * 1000)
    this.#isOver = true
    for (const { node } of this.#places) node.spare()
    await this.#pass(RECOVERY_SECONDS)
    await this.#stop()
  }

  /** Whether a write may be lost because nothing can tell whether it was committed. */
  get hasUncertainWrite(): boolean {
    return this.faults.some((fault) => fault instanceof UncertainWriteFault)
  }

  get violations(): string[] {
    return [this.books, this.files, this.witness].flatMap(({ violations }) => violations)
  }

  /** A crawler would spend most of a history on reading ranges without names. */
  async #skipEmptyRanges(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    const later = START + SECONDS_PER_DAY
    await client.query('update slot_lease set next_sweep = $1 where slot_range >= $2', [later, CRAWLED_RANGES])
    await client.end()
  }

  #pass(seconds: number, isDone?: () => boolean): Promise<void> {
    return this.clock.run(this.clock.monotonicMs() + seconds * 1000, isDone)
  }

  async #stop(): Promise<void> {
    let stopped = 0
    for (const { running } of this.#places) void running!.stop().then(() => stopped++)
    await this.#pass(STOP_SECONDS, () => stopped === this.#places.length)
    if (stopped < this.#places.length) throw new Error('a process does not stop')
    for (const store of this.#stores) await store.close()
  }

  #placeOf(role: Role): Place {
    const place: Place = { role, node: this.#nodeOf(role, () => place), running: null }
    void this.#start(place)
    return place
  }

  #nodeOf(role: Role, place: () => Place): SimulatedNode {
    const holder = `${role}-node ${++this.births} simulated`
    return new SimulatedNode(this.#network, holder, () => {
      this.dead.add(holder)
      place().running = null
    })
  }

  /** Starts the process of a node. If it cannot open its store, a supervisor starts it again. */
  async #start(place: Place): Promise<void> {
    const { node, role } = place
    const store = await node.call(() => this.open()).catch(() => null)
    if (store === null) {
      await this.clock.wait(1_000)
      return this.#start(place)
    }
    this.#stores.push(store)
    place.running = await STARTERS[role](node, node.wrap(this.witness.watch(store)), this.#around)
  }

  #apply(event: NodeEvent): void {
    const place = this.#places[event.node]!
    const { node } = place
    if (event.kind === 'calls') place.running?.call(event)
    else if (event.kind === 'partition') node.partition(event.seconds * 1000, event.from)
    else if (event.kind === 'freeze') node.freeze(event.seconds * 1000)
    else if (event.kind === 'clock') node.clockAhead = event.seconds
    else node.cutAt({ ...event }, event.kind === 'die')
    if (event.kind === 'die') void this.#replace(place, event.seconds)
  }

  async #replace(place: Place, seconds: number): Promise<void> {
    const { node } = place
    await this.clock.wait(seconds * 1000)
    while (!node.isDead && !this.#isOver) await this.clock.wait(1_000)
    if (!node.isDead || place.node !== node) return
    place.node = this.#nodeOf(place.role, () => place)
    await this.#start(place)
  }

  #serial<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}
