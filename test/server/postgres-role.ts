/** A PostgreSQL role of one test, whose rights the test revokes and grants. */

import type { TestContext } from 'node:test'
import pg from 'pg'

let count = 0

/**
 * Creates the role with all rights in the schema of `url`, and drops it after the test. Returns the same store's URL
 * with that role.
 */
export async function roleOf(t: TestContext, url: string): Promise<{ url: string; name: string; client: pg.Client }> {
  const name = `role_${process.pid}_${count++}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select current_schema() as schema')
  const { schema } = rows[0]
  await client.query(`create role ${name} login; grant all on schema ${schema} to ${name};
    grant all on all tables in schema ${schema} to ${name}; grant all on all sequences in schema ${schema} to ${name}`)
  t.after(async () => {
    await client.query(`drop owned by ${name} cascade; drop role ${name}`)
    await client.end()
  })
  const place = new URL(url)
  place.username = name
  return { url: place.href, name, client }
}
