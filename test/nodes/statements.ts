/** Cuts the connections of a node at a statement: intercepts what the PostgreSQL client sends. */

import pg from 'pg'

/** Sees the statements of a node before they are sent. Returns false if the node is dead and sends nothing. */
export type StatementObserver = { onStatement(client: pg.Client): boolean }

let current: StatementObserver | null = null

/** Runs a call of a node: every statement until its end is that node's. Calls must not overlap. */
export async function observed<Result>(observer: StatementObserver, work: () => Promise<Result>): Promise<Result> {
  current = observer
  try {
    return await work()
  } finally {
    current = null
  }
}

/** Breaks a connection now, or when the statement that is about to be sent is on its way. */
export function breakConnection(client: pg.Client, lost: 'request' | 'reply'): void {
  const { stream } = (client as unknown as { connection: { stream: import('node:net').Socket } }).connection
  if (lost === 'request') stream.destroy()
  else setImmediate(() => stream.destroy())
}

const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]): unknown {
    if (current?.onStatement(this) === false) return Promise.reject(new Error('the node is dead'))
    return query.apply(this, args)
  },
})
