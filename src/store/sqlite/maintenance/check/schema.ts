/** The check of a file's schema: each table, column, index and trigger of this release is there, and is this release's. */

import { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { problemReporter } from '../../../shared/check/slice.ts'
import { applySqliteMigrations, hasLaterMigration } from '../../database/migrate.ts'

/** Compares with a new file in memory. A later release may have added to it, or made triggers anew: those only have to be there. */
export function schemaFaults(database: DatabaseSync, schema: URL, table: string): CheckFault[] {
  const fresh = new DatabaseSync(':memory:')
  try {
    applySqliteMigrations(fresh, schema)
    const isExpanded = hasLaterMigration(database, schema)
    const there = schemaObjectsOf(database)
    const faults: CheckFault[] = []
    for (const [key, definition] of schemaObjectsOf(fresh)) {
      const report = problemReporter(faults, table, key)
      if (!there.has(key)) report('is not there')
      else if (!isExpanded && there.get(key) !== definition) report('is not as this release makes it')
    }
    return faults
  } finally {
    fresh.close()
  }
}

/** By kind and name; of a table its columns are compared one by one, because later ones may follow. */
function schemaObjectsOf(database: DatabaseSync): Map<string, string> {
  const named = database.prepare(
    `select type || ' ' || name as key, case type when 'table' then '' else sql end as definition from sqlite_schema
     where sql is not null and name not like 'sqlite%'
     union all select 'column ' || t.name || '.' || c.name, concat_ws(' ', c.type, c."notnull", c.pk, c.dflt_value, c.hidden)
     from sqlite_schema t join pragma_table_xinfo(t.name) c where t.type = 'table' and t.name not like 'sqlite%' order by 1`,
  )
  return new Map((named.all() as { key: string; definition: string }[]).map(({ key, definition }) => [key, definition]))
}
