/** Reads share connections: each is sent at once, behind those that are not answered yet, so that none waits for a free one. */

import type pg from 'pg'
import { type ClientConfig, WatchedClient } from './client.ts'
import type { Statement } from './connection.ts'
import { connectWithRetry, isConnectionLost, isServerSilent, isUnprepared } from './errors.ts'

/** Runs one statement; the rows are objects, or arrays where the statement says so. */
export type ReadStatement = <Row>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>

/** A connection and how many of its statements are not answered yet. */
type ReadConnection = { client: pg.Client; waiting: number }

/** How many connections there may be, and how many statements wait in each before another one is opened. */
type ReadConnectionLimits = { max: number; depth: number }

/** How often a statement is sent where one before it, which was to prepare it, has failed: that one alone is to blame. */
const MAX_PREPARE_TRIES = 3

export class PipelinedReader {
  readonly #config: ClientConfig
  readonly #max: number
  readonly #depth: number
  readonly #connections: ReadConnection[] = []
  #opening: Promise<ReadConnection> | null = null

  constructor(config: ClientConfig, { max, depth }: ReadConnectionLimits) {
    this.#config = config
    this.#max = max
    this.#depth = depth
  }

  /** Opens the first connection, without patience. */
  async connectFirst(): Promise<void> {
    await this.#connect()
  }

  async read<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    for (let tried = 1; ; tried++) {
      try {
        return await this.#readWithReconnect(statement, values)
      } catch (error) {
        if (!isUnprepared(error) || tried >= MAX_PREPARE_TRIES) throw error
      }
    }
  }

  async #readWithReconnect<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#sendOnce(this.#leastBusy() ?? (await this.#open()), statement, values)
    } catch (error) {
      if (!isConnectionLost(error) || isServerSilent(error)) throw error
      return this.#sendOnce(await this.#otherConnection(), statement, values)
    }
  }

  /** Also of the connection that is on its way. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => {})
    await Promise.all(this.#connections.splice(0).map(({ client }) => client.end()))
  }

  async #sendOnce<Row>(connection: ReadConnection, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    connection.waiting++
    try {
      return (await connection.client.query({ ...statement, values: values as unknown[] })).rows as Row[]
    } catch (error) {
      if (isConnectionLost(error)) {
        this.#removeConnection(connection)
        connection.client.end().catch(() => {})
      }
      throw error
    } finally {
      connection.waiting--
    }
  }

  /** The lane with the least before it; where that is much, another one is on its way. */
  #leastBusy(): ReadConnection | undefined {
    let best = this.#connections[0]
    for (const connection of this.#connections) if (connection.waiting < best!.waiting) best = connection
    if (best && best.waiting >= this.#depth && this.#connections.length < this.#max) this.#open().catch(() => {})
    return best
  }

  /** A new lane where there may be one more: when one is lost, so are its neighbours, which may not have noticed yet. */
  async #otherConnection(): Promise<ReadConnection> {
    return (this.#connections.length < this.#max ? null : this.#leastBusy()) ?? this.#open()
  }

  #open(): Promise<ReadConnection> {
    this.#opening ??= connectWithRetry(() => this.#connect()).finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connect(): Promise<ReadConnection> {
    const connection: ReadConnection = { client: new WatchedClient(this.#config), waiting: 0 }
    connection.client.on('error', () => this.#removeConnection(connection))
    connection.client.on('end', () => this.#removeConnection(connection))
    try {
      await connection.client.connect()
    } catch (error) {
      connection.client.end().catch(() => {}) // a server that waits for a password, say, would be waited for
      throw error
    }
    this.#connections.push(connection)
    return connection
  }

  /** Takes no more statements to a lane. */
  #removeConnection(connection: ReadConnection): void {
    const index = this.#connections.indexOf(connection)
    if (index >= 0) this.#connections.splice(index, 1)
  }
}
