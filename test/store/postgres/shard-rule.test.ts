/** The check of statements for Citus finds tables for which a statement names no partition. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tablesWithoutPart } from './shard-rule.ts'

for (const sql of [
  'select 1 from facts where part = $1 and id = $2',
  'select 1 from crawl_state v join facts f on f.part = v.part and f.id = v.id where v.part = $1',
  'update facts f set ip = k.ip from unnest($1) k where f.part = k.part and ($2::smallint[] is null or f.part = any($2))',
  'delete from presence p using unnest($1) k(part) where p.part = k.part and p.part = any($2)',
  'insert into presence (part, name) select a.part, k.name from unnest($1) k join anchor a on a.part = k.part where a.part = any($2)',
  'insert into crawl_state (part, slot) values ($1, $2) on conflict (part, slot) do update set version = 1',
  'select 1 from account, token where true',
  'select (select name from facts f where f.part = p.part) from pending_page p where p.part = any($1)',
])
  test(`a statement names each partition: ${sql}`, () => assert.deepEqual(tablesWithoutPart(sql), []))

for (const [sql, ...tables] of [
  ['select 1 from facts where id = $1', 'facts'],
  ['select 1 from crawl_state v join facts f on f.id = v.id where v.part = $1', 'facts'],
  ['select 1 from crawl_state v join facts f on f.part = v.part', 'crawl_state', 'facts'],
  ['update facts f set ip = k.ip from unnest($1) k where f.part = k.part', 'facts'],
  ['insert into presence (part, name) select k.part, k.name from unnest($1) k', 'presence'],
  [
    'insert into presence (part, name) select a.part, k.name from unnest($1) k join anchor a on a.part = k.part',
    'presence',
    'anchor',
  ],
  ['with gone as (delete from redirect r where r.target = $1) select 1 from facts f where f.part = $2', 'redirect'],
] as const)
  test(`a statement is found: ${sql}`, () => assert.deepEqual(tablesWithoutPart(sql), tables))
