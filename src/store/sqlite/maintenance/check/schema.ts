/** Checks a file's schema: it has each table, column, index and trigger of this release, with the same definition. */

import { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { problemReporter } from '../../../shared/check/slice.ts'
import { applySqliteMigrations, hasLaterMigration } from '../../database/migrate.ts'

/**
 * Compares with a new file in memory. A later release may have added columns or replaced triggers: then objects only
 * have to exist.
 */
export function schemaFaults(database: DatabaseSync, schema: URL, table: string): CheckFault[] {
  const isExpanded = hasLaterMigration(database, schema)
  const actual = schemaObjectsOf(database)
  const faults: CheckFault[] = []
  for (const [key, definition] of expectedObjects(schema)) {
    const report = problemReporter(faults, table, key)
    if (!actual.has(key)) report('is missing')
    else if (!isExpanded && actual.get(key) !== definition) report('differs from the definition of this release')
  }
  return faults
}

const EXPECTED_OBJECTS = new Map<string, Map<string, string>>()

/** The objects that the migrations of a folder create. They are the same for every check of a process. */
function expectedObjects(schema: URL): Map<string, string> {
  const known = EXPECTED_OBJECTS.get(schema.href)
  if (known !== undefined) return known
  const database = new DatabaseSync(':memory:')
  try {
    applySqliteMigrations(database, schema)
    const objects = schemaObjectsOf(database)
    EXPECTED_OBJECTS.set(schema.href, objects)
    return objects
  } finally {
    database.close()
  }
}

/**
 * Definitions by kind and name. The columns of a table are compared one by one, because a later release may have
 * appended some.
 */
function schemaObjectsOf(database: DatabaseSync): Map<string, string> {
  const statement = database.prepare(
    `select type || ' ' || name as key, case type when 'table' then '' else sql end as definition from sqlite_schema
     where sql is not null and name not like 'sqlite%'
     union all select 'column ' || t.name || '.' || c.name, concat_ws(' ', c.type, c."notnull", c.pk, c.dflt_value, c.hidden)
     from sqlite_schema t join pragma_table_xinfo(t.name) c where t.type = 'table' and t.name not like 'sqlite%' order by 1`,
  )
  return new Map(
    (statement.all() as { key: string; definition: string }[]).map(({ key, definition }) => [key, definition]),
  )
}
