/** The check of the database's schema: each table, column, index, trigger and function of this release is there and works. */

import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, problemReporter } from '../../../shared/check/slice.ts'
import { readMigrations } from '../../../shared/migrations.ts'
import { SCHEMA_PARTS } from '../../database/migrate.ts'
import type { Session } from '../../database/transaction.ts'

/** What there is, and whether it works: an index may be invalid, a trigger switched off. `body`: of a function. */
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

/** What a later release has made anew only has to be there. */
export async function checkSchema({ rows }: Session): Promise<CheckSlice> {
  const [found, applied] = await Promise.all([
    rows<PresentObject>(LIST_SCHEMA_OBJECTS),
    rows<{ part: string; last: number }>(HAS_LATER_MIGRATION),
  ])
  const there = new Map(found.map((each) => [each.key, each]))
  const faults: CheckFault[] = []
  for (const [part, folder] of SCHEMA_PARTS) {
    const known = readMigrations(folder)
    const isExpanded = applied.some((each) => each.part === part && each.last > known.at(-1)!.number)
    for (const [key, body] of objectsCreatedBy(known.map(({ sql }) => sql).join('\n'))) {
      const report = problemReporter(faults, 'schema', key)
      const object = there.get(key)
      if (object === undefined) report('is not there')
      else if (!object.works) report('is switched off or not whole')
      else if (!isExpanded && body !== null && body !== object.body) report('is not as this release makes it')
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

/** What SQL of migrations makes, by kind and name; the text of a function, and null for all else. */
export function objectsCreatedBy(sql: string): Map<string, string | null> {
  const text = sql.replace(SQL_COMMENT, '')
  const made = new Map<string, string | null>()
  for (const [, verb, kind, name] of text.matchAll(CREATE_STATEMENT)) {
    if (verb!.toLowerCase() === 'create') made.set(`${kind} ${name}`, null)
    else made.delete(`${kind} ${name}`)
  }
  for (const [, name, body] of text.matchAll(FUNCTION_BODY)) made.set(`function ${name}`, body!)
  for (const [, table, column] of text.matchAll(ADDED_COLUMN)) made.set(`column ${table}.${column}`, null)
  for (const [, table, columns] of text.matchAll(TABLE_DEFINITION))
    for (const key of columnsOfTable(table!, columns!)) made.set(key, null)
  return made
}

/** The columns of a table, one a line, and the indexes of its keys. */
function columnsOfTable(table: string, lines: string): string[] {
  return lines.split('\n').flatMap((line) => {
    const words = line.trim()
    const [column] = words.split(' ')
    const keys = TABLE_CONSTRAINT.test(words) ? [] : [`column ${table}.${column}`]
    if (/\bprimary key\b/i.test(words)) keys.push(`index ${table}_pkey`)
    if (/\bunique\b/i.test(words)) keys.push(`index ${table}_${column}_key`)
    return keys
  })
}
