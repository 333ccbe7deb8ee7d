/** Reads share connections: each is sent at once, behind those that are not answered yet, so that none waits for a free one. */

import type pg from 'pg'
import { Client, type ClientConfig } from './client.ts'
import type { Statement } from './connection.ts'
import { isLost, isSilent, isUnprepared, patiently } from './trouble.ts'

/** Runs one statement; the rows are objects, or arrays where the statement says so. */
export type Read = <Row>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>

/** A connection and how many of its statements are not answered yet. */
type Lane = { client: pg.Client; waiting: number }

/** How many connections there may be, and how many statements wait in each before another one is opened. */
type Lanes = { most: number; depth: number }

/** How often a statement is sent where one before it, which was to prepare it, has failed: that one alone is to blame. */
const PREPARING = 3

export class Reader {
  readonly #config: ClientConfig
  readonly #most: number
  readonly #depth: number
  readonly #lanes: Lane[] = []
  #opening: Promise<Lane> | null = null

  constructor(config: ClientConfig, { most, depth }: Lanes) {
    this.#config = config
    this.#most = most
    this.#depth = depth
  }

  /** Opens the first connection, without patience. */
  async begin(): Promise<void> {
    await this.#connect()
  }

  async read<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    for (let tried = 1; ; tried++) {
      try {
        return await this.#patient(statement, values)
      } catch (error) {
        if (!isUnprepared(error) || tried >= PREPARING) throw error
      }
    }
  }

  async #patient<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#once(this.#shortest() ?? (await this.#open()), statement, values)
    } catch (error) {
      if (!isLost(error) || isSilent(error)) throw error
      return this.#once(await this.#another(), statement, values)
    }
  }

  /** Also of the connection that is on its way. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => {})
    await Promise.all(this.#lanes.splice(0).map(({ client }) => client.end()))
  }

  async #once<Row>(lane: Lane, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    lane.waiting++
    try {
      return (await lane.client.query({ ...statement, values: values as unknown[] })).rows as Row[]
    } catch (error) {
      if (isLost(error)) {
        this.#leave(lane)
        lane.client.end().catch(() => {})
      }
      throw error
    } finally {
      lane.waiting--
    }
  }

  /** The lane with the least before it; where that is much, another one is on its way. */
  #shortest(): Lane | undefined {
    let best = this.#lanes[0]
    for (const lane of this.#lanes) if (lane.waiting < best!.waiting) best = lane
    if (best && best.waiting >= this.#depth && this.#lanes.length < this.#most) this.#open().catch(() => {})
    return best
  }

  /** A new lane where there may be one more: when one is lost, so are its neighbours, which may not have noticed yet. */
  async #another(): Promise<Lane> {
    return (this.#lanes.length < this.#most ? null : this.#shortest()) ?? this.#open()
  }

  #open(): Promise<Lane> {
    this.#opening ??= patiently(() => this.#connect()).finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connect(): Promise<Lane> {
    const lane: Lane = { client: new Client(this.#config), waiting: 0 }
    lane.client.on('error', () => this.#leave(lane))
    lane.client.on('end', () => this.#leave(lane))
    try {
      await lane.client.connect()
    } catch (error) {
      lane.client.end().catch(() => {}) // a server that waits for a password, say, would be waited for
      throw error
    }
    this.#lanes.push(lane)
    return lane
  }

  /** Takes no more statements to a lane. */
  #leave(lane: Lane): void {
    const place = this.#lanes.indexOf(lane)
    if (place >= 0) this.#lanes.splice(place, 1)
  }
}
