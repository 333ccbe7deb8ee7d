/**
 * The rule of statements for Citus: for each distributed table that a statement touches, it names the partition by
 * `part = $n` or `part = any($n)`, or joins it on `part` with a table for which it does. Otherwise Citus sends the
 * statement to every shard, and a write blocks all other writers.
 */

import { DISTRIBUTED_TABLES } from '../../../src/store/postgres/database/distribution.ts'

/** A table after one of these words, with its alias if it has one. */
const REFERENCE = new RegExp(
  `\\b(from|join|using|update|into|,)\\s+"?(${DISTRIBUTED_TABLES.join('|')})\\b"?(?:\\s+(?:as\\s+)?(?!(?:${[
    ...[
      'where',
      'set',
      'using',
      'join',
      'on',
      'left',
      'cross',
      'order',
      'limit',
      'select',
      'values',
      'natural',
      'group',
    ],
    ...['for', 'union'],
  ].join('|')})\\b)([a-z]\\w*))?`,
  'gi',
)
/** The part of a row of a table, equal to a parameter or to one of an array. */
const NAMED_PART = /(?:\b([a-z]\w*)\.)?\bpart\s*=\s*(?:any\s*\(\s*)?\$\d+/gi
const JOINED_PARTS = /\b([a-z]\w*)\.part\s*=\s*([a-z]\w*)\.part\b/gi
/** An insert takes the partition from a parameter, or from a table that names it. */
const INSERTED = /\binsert\s+into\s+(\w+)\s*\(\s*part\b[^)]*\)\s*(?:values\s*\(\s*\$\d|select\s+([a-z]\w*)\.part\b)/gi

/** The distributed tables of a statement for which it does not name the partition. Empty if it follows the rule. */
export function tablesWithoutPart(sql: string): string[] {
  const references = [...sql.matchAll(REFERENCE)].map(([, word, table, alias]) => ({
    isTarget: word!.toLowerCase() === 'into',
    table: table!.toLowerCase(),
    alias: (alias ?? table)!.toLowerCase(),
  }))
  const named = new Set([...sql.matchAll(NAMED_PART)].map(([, alias]) => alias?.toLowerCase() ?? ''))
  const [only, ...others] = references.filter(({ isTarget }) => !isTarget)
  if (named.has('') && only !== undefined && others.length === 0) named.add(only.alias)
  const aliases = new Set(references.map(({ alias }) => alias))
  const joins = [...sql.matchAll(JOINED_PARTS)].filter(([, a, b]) => aliases.has(a!) && aliases.has(b!))
  for (let size = -1; size !== named.size; ) {
    size = named.size
    for (const [, a, b] of joins) if (named.has(a!) || named.has(b!)) named.add(a!).add(b!)
  }
  const inserted = new Set(
    [...sql.matchAll(INSERTED)].flatMap(([, table, source]) =>
      source === undefined || named.has(source) ? [table!] : [],
    ),
  )
  return references
    .filter(({ isTarget, table, alias }) => !(isTarget ? inserted.has(table) : named.has(alias)))
    .map(({ table }) => table)
}
