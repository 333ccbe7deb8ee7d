/** The statements of a migration are sent one by one, because Citus rejects some of them in a script. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCHEMA_PARTS, sqlStatements } from '../../../src/store/postgres/database/migrate.ts'
import { readMigrations } from '../../../src/store/shared/migrations.ts'

test('a script is split at its semicolons, except in quotes, comments and bodies', () => {
  const statements = [
    `create table a (b text default ';''"');`,
    `\n-- one; two 'three\ncreate index c on a (b);`,
    '\ncreate function f() returns void language sql as $body$ select 1; select $$;$$ $body$;',
    '\nselect ";" from a',
  ]
  assert.deepEqual(sqlStatements(statements.join('')), statements)
  assert.deepEqual(sqlStatements('select 1;\n-- the end;\n'), ['select 1;'])
})

test('every landed migration is split without loss', () => {
  for (const [, folder] of SCHEMA_PARTS)
    for (const { name, sql } of readMigrations(folder)) {
      const statements = sqlStatements(sql)
      assert.ok(statements.length > 0 && sql.startsWith(statements.join('')), name)
      for (const statement of statements) assert.match(statement, /^(\s|--.*\n)*\w+ /, name)
    }
})
