/**
 * Checks the database's schema: it has each table, column, index, trigger and function of this release, and each works.
 */

import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, problemReporter } from '../../../shared/check/slice.ts'
import { readMigrations } from '../../../shared/migrations.ts'
import { SCHEMA_PARTS } from '../../database/migrate.ts'
import type { Session } from '../../database/transaction.ts'

/**
 * The objects of the schema, and whether each works: an index may be invalid, a trigger disabled. `body`: that of a
 * function.
 */
export const LIST_SCHEMA_OBJECTS = {
  name: 'check.schema',
  text: `with here as (select to_regnamespace(quote_ident(current_schema())) as schema)
    select 'table ' || relname as key, true as works, null as body from pg_class, here where relnamespace = schema and relkind in ('r', 'p')
    union all select 'sequence ' || relname, true, null from pg_class, here where relnamespace = schema and relkind = 'S'
    union all select 'index ' || c.relname, i.indisvalid and i.indisready, null
      from pg_index i join pg_class c on c.oid = i.indexrelid, here where c.relnamespace = schema
    union all select 'trigger ' || t.tgname, t.tgenabled in ('O', 'A'), null
      from pg_trigger t join pg_class c on c.oid = t.tgrelid, here where c.relnamespace = schema and not t.tgisinternal
    union all select 'function ' || proname, true, prosrc from pg_proc, here where pronamespace = schema
    union all select 'column ' || c.relname || '.' || a.attname, true, null
      from pg_attribute a join pg_class c on c.oid = a.attrelid, here
      where c.relnamespace = schema and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
    order by 1`,
}
type PresentObject = { key: string; works: boolean; body: string | null }

const HAS_LATER_MIGRATION = {
  name: 'check.schema-later',
  text: 'select schema_part as part, max(number)::integer as last from migration group by schema_part',
}

/** Objects that a later release has replaced only have to exist. */
export async function checkSchema({ rows }: Session): Promise<CheckSlice> {
  const [found, applied] = await Promise.all([
    rows<PresentObject>(LIST_SCHEMA_OBJECTS),
    rows<{ part: string; last: number }>(HAS_LATER_MIGRATION),
  ])
  const existing = new Map(found.map((schemaObject) => [schemaObject.key, schemaObject]))
  const faults: CheckFault[] = []
  for (const [part, folder] of SCHEMA_PARTS) {
    const known = readMigrations(folder)
    const isExpanded = applied.some((migration) => migration.part === part && migration.last > known.at(-1)!.number)
    for (const [key, body] of objectsCreatedBy(known.map(({ sql }) => sql).join('\n'))) {
      const report = problemReporter(faults, 'schema', key)
      const object = existing.get(key)
      if (object === undefined) report('is missing')
      else if (!object.works) report('is disabled or invalid')
      else if (!isExpanded && body !== null && body !== object.body)
        report('differs from the definition of this release')
    }
  }
  return { faults, checked: 0, last: null }
}

const SQL_COMMENT = /--.*$/gm
const CREATE_STATEMENT =
  /\b(create|drop)\s+(?:or\s+replace\s+)?(?:unique\s+|constraint\s+)?(table|index|trigger|function|sequence)\s+(?:if\s+(?:not\s+)?exists\s+)?(\w+)/gi
const FUNCTION_BODY = /create\s+(?:or\s+replace\s+)?function\s+(\w+)[^$]*\$\$([\s\S]*?)\$\$/gi
const TABLE_DEFINITION = /create\s+table\s+(\w+)\s*\(\n([\s\S]*?)\n\)/gi
const ADDED_COLUMN = /alter\s+table\s+(\w+)\s+add\s+column\s+(\w+)/gi
const TABLE_CONSTRAINT = /^(primary|unique|check|foreign|constraint)\b/i

/**
 * The objects that migrations create, by kind and name. The value is the body of a function, and null for other
 * objects.
 */
export function objectsCreatedBy(sql: string): Map<string, string | null> {
  const text = sql.replace(SQL_COMMENT, '')
  const created = new Map<string, string | null>()
  for (const [, verb, kind, name] of text.matchAll(CREATE_STATEMENT)) {
    if (verb!.toLowerCase() === 'create') created.set(`${kind} ${name}`, null)
    else created.delete(`${kind} ${name}`)
  }
  for (const [, name, body] of text.matchAll(FUNCTION_BODY))
    if (created.has(`function ${name}`)) created.set(`function ${name}`, body!)
  for (const [, table, column] of text.matchAll(ADDED_COLUMN)) created.set(`column ${table}.${column}`, null)
  for (const [, table, columns] of text.matchAll(TABLE_DEFINITION))
    for (const key of columnsOfTable(table!, columns!)) created.set(key, null)
  return created
}

/** The columns of a table, one per line, and the indexes of its keys. */
function columnsOfTable(table: string, lines: string): string[] {
  return lines.split('\n').flatMap((line) => {
    const definition = line.trim()
    const [column] = definition.split(' ')
    const keys = TABLE_CONSTRAINT.test(definition) ? [] : [`column ${table}.${column}`]
    if (/\bprimary key\b/i.test(definition)) keys.push(`index ${table}_pkey`)
    if (/\bunique\b/i.test(definition)) keys.push(`index ${table}_${column}_key`)
    return keys
  })
}
