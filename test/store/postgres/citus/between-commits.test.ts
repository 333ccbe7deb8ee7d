/** Shards commit one after another. Between their commits, and on rows of no shard, responses and the check hold. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ingest } from '../../../../src/store/ingest.ts'
import { openStore } from '../../../../src/store/open.ts'
import { openDatabase } from '../../../../src/store/postgres/database/database.ts'
import { postgresFacts } from '../../../../src/store/postgres/facts/facts.ts'
import { postgresMaintenance } from '../../../../src/store/postgres/maintenance/maintenance.ts'
import { checkAll } from '../../check-all.ts'
import { address, dns, NOW, name, seen } from '../../conformance/world.ts'
import { noPostgres, postgresServer } from '../server.ts'
import { withShards } from './artificial-shards.ts'

const ADDRESS = '192.0.2.1'
const ALL_ROWS = 100

test('the count of a look-up is that of its list while the shard of the address has not committed', {
  skip: noPostgres,
}, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  const domains = ['a', 'b', 'c'].map((label) => `${label}.example`)
  await ingest(
    store,
    domains.map((domain) => seen(domain, 1, dns({ A: [ADDRESS] }))),
  )
  await store.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // The shard of the address as it was before c.example arrived.
  await client.query(`delete from presence where name = 'c.example'`)
  await client.query('update address_count set names = names - 1')
  await client.end()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  t.after(() => database.close())
  const facts = postgresFacts(database.hasCitus ? database : withShards(database, 8))
  for (const domain of domains.map(name)) {
    const { count } = await facts.neighbours([address(ADDRESS)], domain, null, ALL_ROWS)
    assert.equal((await facts.lookup(domain))!.reverse_ip_count, count, domain)
  }
})

test('the check goes on after a row of a partition that does not exist, and reports it', {
  skip: noPostgres,
}, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  await ingest(store, [seen('a.example', 1, dns({ A: [ADDRESS] }))])
  await store.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`insert into page_document (part, id, document, name) values (14, 7, null, 'b.example')`)
  await client.end()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  t.after(() => database.close())
  const asked: unknown[] = []
  const sharded = database.hasCitus ? database : withShards(database, 8)
  const watched = {
    ...sharded,
    snapshot: ((work) =>
      sharded.snapshot((session) =>
        work({
          ...session,
          rows: (statement, values) => {
            if (/check\.(facts|owners)/.test(statement.name)) asked.push(values!.at(-1))
            return session.rows(statement, values)
          },
        }),
      )) as typeof sharded.snapshot,
  }
  const { faults } = await checkAll({ maintenance: postgresMaintenance(watched) } as never)
  assert.ok(faults.some(({ table, key, problem }) => table === 'facts' && key === '14 7' && /no name/.test(problem)))
  assert.ok(asked.length > 0 && asked.every((parts) => typeof parts === 'string'), 'each statement names its shard')
})
