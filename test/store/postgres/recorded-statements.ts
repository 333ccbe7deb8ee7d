/** Records the named statements that the clients of a test process send. */

import pg from 'pg'

/** The statements by name, from the call on. */
export function recordStatements(): ReadonlyMap<string, string> {
  const statements = new Map<string, string>()
  const client = pg.Client.prototype as unknown as { query(...values: unknown[]): unknown }
  const { query } = client
  client.query = function (this: unknown, ...values: unknown[]) {
    const { name, text } = (values[0] ?? {}) as { name?: string; text?: string }
    if (name !== undefined && text !== undefined) statements.set(name, text)
    return query.apply(this, values)
  }
  return statements
}
