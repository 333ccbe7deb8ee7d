/** Distributes the tables over the machines of Citus, if the database has that extension. */

import { StoreFault } from '../../port/fault.ts'
import { plainArray } from './arrays.ts'
import type { Database } from './database.ts'
import type { Session } from './transaction.ts'

/** The tables that Citus cuts by `part`, all alike, so that the rows of a partition are on one machine. */
export const DISTRIBUTED_TABLES: readonly string[] = [
  ...['crawl_state', 'facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page'],
  ...['presence', 'address_count', 'redirect', 'redirect_count', 'certificate', 'anchor'],
]
/**
 * This table stays on the coordinator, and Citus includes it in its prepared transactions. Otherwise the machines could
 * commit a transaction without its marker if the coordinator crashes.
 */
const MARKER_TABLE = 'commit_marker'

/** How `domaindex migrate` calls the distribution. */
export const DISTRIBUTION_STEP = 'citus/distribute-tables'

const READ_UNDISTRIBUTED = {
  name: 'distribution.missing',
  text: `select t.name from unnest($1::text[]) with ordinality t(name, position)
    where not exists (select 1 from pg_dist_partition p where p.logicalrelid = to_regclass(t.name)) order by t.position`,
}
/** The size is that on the coordinator alone. */
const READ_FORMER_ROWS = {
  name: 'distribution.former',
  text: `select t.name from unnest($1::text[]) t(name)
    join pg_dist_partition p on p.logicalrelid = to_regclass(t.name) where pg_relation_size(p.logicalrelid) > 0`,
}
const CHECK_COORDINATOR = {
  name: 'distribution.coordinator',
  text: `select exists (select 1 from pg_dist_node where groupid = 0) as "isKnown"`,
}
const COORDINATOR_UNKNOWN = `Citus does not know its coordinator: run "select citus_set_coordinator_host('HOST')", then domaindex migrate`
/** Tables are created one after another, with one connection to each machine. */
const BEGIN_DISTRIBUTION = `set local citus.multi_shard_modify_mode = 'sequential'`

/** The tables that are still to be distributed; none without Citus. */
export async function undistributedTables({ read, hasCitus }: Pick<Database, 'read' | 'hasCitus'>): Promise<string[]> {
  if (!hasCitus) return []
  const rows = await read<{ name: string }>(READ_UNDISTRIBUTED, [plainArray([...DISTRIBUTED_TABLES, MARKER_TABLE])])
  return rows.map(({ name }) => name)
}

/**
 * Distributes tables with their rows, in a transaction. The commit markers come first: Citus includes a table of the
 * coordinator only if the transaction has created no shards there by another connection. Throws StoreFault.
 */
export async function distributeTables({ script, rows }: Session, tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return
  await script(BEGIN_DISTRIBUTION)
  if (tables.includes(MARKER_TABLE)) {
    const [coordinator] = await rows<{ isKnown: boolean }>(CHECK_COORDINATOR)
    if (!coordinator!.isKnown) throw new StoreFault(COORDINATOR_UNKNOWN)
    await script(`select citus_add_local_table_to_metadata('${MARKER_TABLE}')`)
  }
  for (const table of tables) if (table !== MARKER_TABLE) await script(distributionSql(table))
}

/**
 * Removes the rows that tables had on the coordinator before they were distributed. Citus keeps them, but reads them no
 * more. Removes also what an earlier call has left because its process was killed.
 */
export async function removeFormerRows({ read, transactionOnce }: Pick<Database, 'read' | 'transactionOnce'>) {
  for (const { name } of await read<{ name: string }>(READ_FORMER_ROWS, [plainArray(DISTRIBUTED_TABLES)]))
    await transactionOnce(({ script }) => script(`select truncate_local_data_after_distributing_table('${name}')`))
}

function distributionSql(table: string): string {
  const model = table === DISTRIBUTED_TABLES[0] ? 'none' : DISTRIBUTED_TABLES[0]
  return `select create_distributed_table('${table}', 'part', colocate_with => '${model}')`
}
