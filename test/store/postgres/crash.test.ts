/** PostgreSQL dies during an import, or loses a page of a table. */

import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import type { Observation } from '../../../src/observe/observation.ts'
import { parseObservation } from '../../../src/observe/observation-parser.ts'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { hosted } from '../../spec/observations.ts'
import { until } from '../../until.ts'
import { checkAll } from '../check-all.ts'
import { fillEveryTable } from '../every-table.ts'
import { noPostgres, postgresServer } from './server.ts'

const CROWDED = '192.0.2.1' as IpAddress
const BATCH = 20
const notOurs = noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server is not ours to restart' : false)

if (!notOurs) await postgresServer() // for the whole file

/** New names, all on one address, and those of a batch on another one. */
function batchOf(importer: number, batch: number): Observation[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const addresses = [CROWDED, `198.51.100.${batch % 250}`]
    return parseObservation(JSON.stringify(hosted(`n${batch}-${index}.i${importer}.example`, addresses))) as Observation
  })
}

test('acknowledged observations are present once, and the counters match', { skip: notOurs }, async (t) => {
  const server = await postgresServer()
  const { url, drop } = await server.tables()
  const place = new URL(url)
  place.searchParams.set('options', `${place.searchParams.get('options')} -csynchronous_commit=on`)
  const open = () => openStore(place.href, { access: 'write', ledger: 'own', secret: null })
  const stores = [await open(), await open()]
  t.after(async () => {
    for (const store of stores) await store.close()
    await drop()
  })
  const outcomes: string[] = []
  let last = Number.POSITIVE_INFINITY
  const imports = stores.map(async (store, importer) => {
    for (let batch = 0; outcomes.length < last; batch++)
      outcomes.push(...(await ingest(store, batchOf(importer, batch))))
  })
  await until(() => outcomes.length >= 10 * BATCH)
  await server.restart()
  last = outcomes.length + 10 * BATCH
  await Promise.all(imports)
  assert.deepEqual(new Set(outcomes), new Set(['applied']))
  const { count } = await stores[0]!.facts.neighbours([CROWDED], null, null, 1_000_000)
  assert.equal(count, outcomes.length)
  assert.deepEqual((await checkAll(stores[0]!)).faults, [])
})

test('given a server that does not wait for its log, what was synced survives its death', {
  skip: notOurs,
}, async (t) => {
  const server = await postgresServer()
  const { url, drop } = await server.tables()
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const setDelay = async (change: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`alter system ${change}`)
    await client.query('select pg_reload_conf()')
    assert.equal((await client.query('show synchronous_commit')).rows[0].synchronous_commit, 'off')
    await client.end()
  }
  await setDelay("set wal_writer_delay = '500ms'")
  t.after(async () => {
    await setDelay('reset wal_writer_delay')
    await store.close()
    await drop()
  })
  await ingest(store, batchOf(0, 1))
  await store.observations.sync()
  await server.restart()
  const { count } = await store.facts.neighbours([CROWDED], null, null, 1_000)
  assert.equal(count, BATCH)
})

/** Changes a counter and overwrites the pages of a table's file, or that in its middle. Returns the statement. */
async function spoilPage(
  url: string,
  table: string,
  place: 'every' | 'middle',
  restart: () => Promise<void>,
): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select current_setting('data_directory') || '/' || pg_relation_filepath($1::regclass) as path,
      pg_relation_size($1::regclass) / 8192 as pages`,
    [table],
  )
  const counter = `update redirect_count set sources = sources + 1 where target = 't0.example'`
  await client.query(counter)
  await client.query('checkpoint')
  await client.end()
  const { path, pages } = rows[0] as { path: string; pages: string }
  assert.ok(Number(pages) >= 3, `${table} has ${pages} pages`)
  const file = openSync(path, 'r+')
  const all = Array.from({ length: Number(pages) }, (_, page) => page)
  for (const page of place === 'every' ? all : [Math.floor(all.length / 2)])
    writeSync(file, Buffer.alloc(8192, 0xa5), 0, 8192, 8192 * page)
  closeSync(file)
  await restart()
  return counter
}

for (const [table, place] of [
  ['facts', 'middle'],
  ['dns_state', 'middle'],
  ['posting', 'every'],
] as const) {
  test(`check continues after an unreadable page of ${table}: ${place}`, { skip: notOurs }, async (t) => {
    const server = await postgresServer()
    const { url, drop } = await server.tables()
    let store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
    t.after(() => store.close().then(drop))
    await fillEveryTable(store, 500)
    const sound = await checkAll(store)
    assert.deepEqual(sound.faults, [])
    await store.close()
    const counter = await spoilPage(url, table, place, server.restart)
    store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
    const { faults, checked } = await checkAll(store)
    const [unreadable] = faults.filter(({ problem }) => /^cannot be read after this key/.test(problem))
    assert.match(unreadable?.problem ?? JSON.stringify(faults.slice(0, 5)), /: invalid page in block \d+ of relation/)
    assert.ok(
      faults.some(
        ({ table, key, problem }) => table === 'redirect_count' && key === 't0.example' && /^counts/.test(problem),
      ),
      `${counter} is found in a table behind the page`,
    )
    assert.ok(checked > 0.8 * sound.checked, `${checked} of ${sound.checked} rows were checked`)
    t.diagnostic(`${table}: ${faults.length} faults, ${checked} of ${sound.checked} rows checked`)
  })
}
