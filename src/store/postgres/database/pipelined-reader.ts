/** Reads share connections: each statement is sent immediately, without waiting for the results of earlier ones. */

import type pg from 'pg'
import { workerRetries } from './citus/lost-worker.ts'
import { type ClientConfig, WatchedClient } from './client.ts'
import type { Statement } from './connection.ts'
import { connectWithRetry, isConnectionLost, isServerSilent, isUnprepared } from './errors.ts'

/** Runs one statement. Rows are objects, or arrays if the statement says so. */
export type ReadStatement = <Row>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>

/** A connection and its number of pending statements. */
type ReadConnection = { client: pg.Client; pending: number }

/** Maximum sends of a statement if an earlier one, which was to prepare it, has failed. */
const MAX_PREPARE_TRIES = 3

export class PipelinedReader {
  readonly #config: ClientConfig
  readonly #max: number
  readonly #connections: ReadConnection[] = []
  #opening: Promise<ReadConnection> | null = null

  /** `max`: the maximum number of connections. */
  constructor(config: ClientConfig, max: number) {
    this.#config = config
    this.#max = max
  }

  /** Opens the first connection, without retries. */
  async connectFirst(): Promise<void> {
    await this.#connect()
  }

  async read<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const isRetried = workerRetries()
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#readWithReconnect(statement, values)
      } catch (error) {
        const isTriedAgain = (isUnprepared(error) && attempt < MAX_PREPARE_TRIES) || (await isRetried(error))
        if (!isTriedAgain) throw error
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

  /** Also closes a connection that is being opened. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => {})
    await Promise.all(this.#connections.splice(0).map(({ client }) => client.end()))
  }

  async #sendOnce<Row>(connection: ReadConnection, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    connection.pending++
    try {
      return (await connection.client.query({ ...statement, values: values as unknown[] })).rows as Row[]
    } catch (error) {
      if (isConnectionLost(error)) {
        this.#removeConnection(connection)
        connection.client.end().catch(() => {})
      }
      throw error
    } finally {
      connection.pending--
    }
  }

  /** The connection with the fewest pending statements. If it has any, opens another one. */
  #leastBusy(): ReadConnection | undefined {
    let best = this.#connections[0]
    for (const connection of this.#connections) if (connection.pending < best!.pending) best = connection
    if (best && best.pending > 0 && this.#connections.length < this.#max) this.#open().catch(() => {})
    return best
  }

  /** A new connection if the maximum allows: if one is lost, the others may be lost too, without having noticed. */
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
    const connection: ReadConnection = { client: new WatchedClient(this.#config), pending: 0 }
    connection.client.on('error', () => this.#removeConnection(connection))
    connection.client.on('end', () => this.#removeConnection(connection))
    try {
      await connection.client.connect()
    } catch (error) {
      connection.client.end().catch(() => {}) // otherwise a server that waits for a password would be waited for
      throw error
    }
    this.#connections.push(connection)
    return connection
  }

  /** Sends no more statements to a connection. */
  #removeConnection(connection: ReadConnection): void {
    const index = this.#connections.indexOf(connection)
    if (index >= 0) this.#connections.splice(index, 1)
  }
}
