/** The listing reads each name once: a page ends its search of the index where its range ends. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { READ_ROWS_PAGE } from '../../../src/store/sqlite/listing/listing.ts'

const TABLES = `create table sorted_name (name text primary key) without rowid;
  create table sorted_line (name text primary key, fields text) without rowid;
  insert into sorted_name values ('a.example'), ('b.example'), ('c.example')`

test('a page of rows searches the names between two bounds, and the last range has no upper bound', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  database.exec(TABLES)
  const plan = database.prepare(`explain query plan ${READ_ROWS_PAGE}`).all('', null)
  assert.match(
    plan.map(({ detail }) => detail).join('\n'),
    /SEARCH sorted_name USING PRIMARY KEY \(name>\? AND name<\?\)/,
  )
  const read = database.prepare(READ_ROWS_PAGE)
  const namesOf = (after: string, end: string | null): string[] => {
    const { text } = read.get(after, end) as { text: Uint8Array }
    return Array.from(
      Buffer.from(text)
        .toString()
        .matchAll(/^[^,\n]+/gm),
      ([name]) => name,
    )
  }
  assert.deepEqual(namesOf('', 'c.example'), ['a.example', 'b.example'])
  assert.deepEqual(namesOf('a.example', null), ['b.example', 'c.example'])
})
