/** Connection settings for PostgreSQL: the URL, the session settings, and the parsing of values. */

import type pg from 'pg'

/** A statement that is prepared by name, once per connection. */
export type Statement = { name: string; text: string; rowMode?: 'array' }

export const STATEMENT_TIMEOUT_MS = 60_000
/** The same time as a SQLite writer waits for another one. */
const LOCK_TIMEOUT_MS = 20_000
/** If a process hangs in a transaction, the server releases its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 60_000
export const CONNECT_TIMEOUT_MS = 10_000

/**
 * Every statement is a look-up by key, a range of one key, or one of these for each key of a list. These settings make
 * the planner use indexes: estimates from empty or unanalyzed tables would be wrong.
 */
const PLANNER_SETTINGS = [
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
  'TimeZone=UTC',
]

/** The settings that the workers of Citus need too. Each as PostgreSQL stores it. */
export const WORKER_SETTINGS: readonly string[] = [
  ...PLANNER_SETTINGS.filter((setting) => setting.endsWith('=off')),
  `lock_timeout=${LOCK_TIMEOUT_MS}`,
]

/** PostgreSQL plans a statement once. */
const PLAN_ONCE = ['plan_cache_mode=force_generic_plan']
/**
 * Citus needs the values of the parameters to find the shard. If a worker is unreachable, it gives up early enough for
 * the call to try again. Its default is 30 seconds.
 */
const CITUS_SETTINGS = ['plan_cache_mode=force_custom_plan', 'citus.node_connection_timeout=5000']

/** The configuration of a client. `applicationName`: how the server lists it. `hasCitus`: of the database. */
export function clientConfigOf(url: string, applicationName: string, hasCitus = false): pg.ClientConfig {
  const parsed = new URL(url)
  const userOptions = parsed.searchParams.get('options')
  const settings = [...PLANNER_SETTINGS, ...(hasCitus ? CITUS_SETTINGS : PLAN_ONCE)]
  const options = settings.map((setting) => `-c ${setting}`)
  parsed.searchParams.set('options', [...options, ...(userOptions ? [userOptions] : [])].join(' '))
  return {
    connectionString: parsed.href,
    pipeline: true,
    application_name: applicationName,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: typeParserOf as never },
  }
}

/**
 * By the object ids of pg_type: whole numbers (also int8, because none here exceeds 2^53), booleans, bytes; everything
 * else is text.
 */
const TYPE_PARSERS: Record<number, (text: string) => unknown> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  21: Number,
  23: Number,
}
const asText = (text: string): unknown => text

function typeParserOf(type: number): (text: string) => unknown {
  return TYPE_PARSERS[type] ?? asText
}
