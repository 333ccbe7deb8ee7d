/** An export of observations restores the store: random histories give the same answers after an import. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { nameHistories } from '../../src/export/export.ts'
import { readNameHistories } from '../../src/export/name-history.ts'
import { PARQUET_TABLES, writeParquet } from '../../src/export/parquet.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Store } from '../../src/store/port/store.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { ADDRESSES, type Event, NAMES, observations, TARGETS } from '../store/conformance/arbitraries.ts'
import { dns, minute, NOW, NXDOMAIN, SERVFAIL, seen, web } from '../store/conformance/world.ts'
import { EXPORTED_ENGINES, exported, noneUnread, openSqlite } from './stores.ts'

/** Everything that the endpoints answer, except the text of start pages. */
async function answersOf({ facts }: Store): Promise<unknown> {
  const names = await Promise.all(
    [...NAMES, ...TARGETS].map(async (name) => {
      const history = await facts.history(name, RECORD_TYPES, null, 1_000)
      const [lookup, profile] = [await facts.lookup(name), await facts.domainProfile(name, 100)]
      const rows = async (page: Promise<{ rows: readonly (string | Uint8Array)[] }>) =>
        (await page).rows.map((row) => Buffer.from(row as string).toString()).join('')
      const [redirects, neighbours] = await Promise.all([
        rows(facts.redirects(name, null, 100)),
        rows(facts.neighboursOf(name, null, 100).then(({ page }) => page)),
      ])
      const interruptions = await Promise.all(RECORD_TYPES.map((type) => facts.interruptions(name, type, null, 1_000)))
      const [clocks] = await facts.partClocks([name])
      const [websites, certificates] = [
        await facts.webHistory(name, null, 1_000),
        await facts.certificateHistory(name, null, 1_000),
      ]
      const present = { lookup, profile, redirects, neighbours, clocks }
      return { name, ...present, history, interruptions, websites, certificates }
    }),
  )
  const addresses = await Promise.all(ADDRESSES.map((address) => facts.addressProfile(address, 100)))
  return structuredClone({ names, addresses })
}

async function happen(store: Store, events: readonly Event[]): Promise<void> {
  for (const event of events) {
    if ('forget' in event) await store.observations.forget(event.forget)
    else await ingest(store, [event])
  }
}

for (const [engine, open, skip, numRuns] of EXPORTED_ENGINES) {
  test(`${engine}: an import of the export gives the same answers, and the same export`, { skip }, async () => {
    await fc.assert(
      fc.asyncProperty(observations(NAMES, 12), async (history) => {
        const [from, to] = [await open(), await open()]
        try {
          await happen(from.store, history)
          const lines = await exported(from.store, 'observations')
          for (const line of lines) {
            const observation = parseObservation(line)
            assert.ok(typeof observation !== 'string', `${observation}: ${line}`)
            await ingest(to.store, [observation])
          }
          assert.deepEqual(await answersOf(to.store), await answersOf(from.store))
          assert.deepEqual(await exported(to.store, 'observations'), lines)
          assert.deepEqual(await exported(to.store, 'cof'), await exported(from.store, 'cof'))
        } finally {
          await Promise.all([from.close(), to.close()])
        }
      }),
      { numRuns },
    )
  })
}

test('an export whose reader never waits lets signals through, so that it can be stopped', async () => {
  const { store, close } = await openSqlite()
  const names = Array.from({ length: 1_000 }, (_, number) =>
    seen(`name-${number}.example`, 1, dns({ A: ['192.0.2.1'] })),
  )
  await ingest(store, names)
  const controller = new AbortController()
  const listing = await store.listing.start({ signal: controller.signal })
  let read = 0
  await assert.rejects(async () => {
    for await (const batch of nameHistories(store, listing, controller.signal, noneUnread)) {
      if (read === 0) setImmediate(() => controller.abort(new Error('stopped')))
      read += batch.length
    }
  }, /stopped/)
  assert.ok(read < names.length, `${read} of ${names.length} names`)
  await listing.close()
  await close()
})

test('a failure is restored beside records of its second, and before a status without addresses', async () => {
  const [from, to] = [await openSqlite(), await openSqlite()]
  for (const [name, failure] of [
    ['a.example', NXDOMAIN],
    ['b.example', SERVFAIL],
  ] as const)
    await happen(from.store, [seen(name, 1, failure), seen(name, 1, dns({ A: ['192.0.2.2'], CNAME: [] }))])
  await happen(from.store, [seen('c.example', 1, SERVFAIL), seen('c.example', 2, dns({ MX: [] }))])
  const lines = await exported(from.store, 'observations')
  assert.equal(lines.length, 6)
  for (const line of lines) await ingest(to.store, [parseObservation(line) as Observation])
  assert.deepEqual(await answersOf(to.store), await answersOf(from.store))
  assert.deepEqual(await exported(to.store, 'observations'), lines)
  await Promise.all([from.close(), to.close()])
})

test('a name that is changed during every try to read it is reported, and the others are read', async () => {
  const { store, close } = await openSqlite()
  const busy = 'busy.example'
  await ingest(
    store,
    [busy, 'calm.example', 'other.example'].map((name) => seen(name, 1, dns({ A: ['192.0.2.1'] }))),
  )
  let reads = 0
  const observations: Store['observations'] = {
    ...store.observations,
    async crawlStates(names) {
      const states = await store.observations.crawlStates(names)
      return states.map((state) => (state.name === busy ? { ...state, version: state.version + reads++ } : state))
    },
  }
  const { histories, unread } = await readNameHistories(
    { ...store, observations },
    ['busy.example', 'calm.example', 'other.example'].map((name) => parseName(name)!),
  )
  assert.deepEqual([histories.map(({ name }) => name), unread, reads], [['calm.example', 'other.example'], [busy], 10])
  await close()
})

test('a forgotten name is not exported', async () => {
  const { store, close } = await openSqlite()
  await happen(store, [
    { domain: NAMES[0]!, observed_at: NOW - 10, dns: null, web: null },
    { domain: NAMES[1]!, observed_at: NOW - 10, dns: null, web: null },
    { forget: NAMES[0]! },
  ])
  const lines = await exported(store, 'observations')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).domain),
    [NAMES[1]],
  )
  await close()
})

test('DuckDB reads the Parquet file: the current facts by column, and lists', async () => {
  const { store, close } = await openSqlite()
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-parquet-'))
  const path = join(folder, 'domains.parquet')
  await ingest(store, [
    seen(
      'a.example',
      1,
      dns({ A: ['192.0.2.2', '192.0.2.10'], MX: [], TXT: [['one "two"']] }),
      web({ has_website: true }),
    ),
    seen('b.example', 1, dns({ A: ['192.0.2.2'], NS: ['ns.example'] })),
    seen('b.example', 2, NXDOMAIN),
    seen('c.example', 3, null),
  ])
  const { signal } = new AbortController()
  const listing = await store.listing.start({ signal })
  assert.equal(await writeParquet('facts', path, nameHistories(store, listing, signal, noneUnread)), 3)
  await listing.close()
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const rows = async (sql: string) => (await connection.runAndReadAll(sql.replace('FILE', `'${path}'`))).getRowsJson()
  assert.deepEqual(
    (await rows('select column_name from (describe select * from FILE)')).flat(),
    PARQUET_TABLES.facts.columns.map(({ name }) => name),
  )
  assert.deepEqual(await rows('select domain, has_website, ip, ssl, a, mx, txt, ns from FILE order by domain'), [
    ['a.example', true, 'v4only', 'nocert', ['192.0.2.2', '192.0.2.10'], null, ['"one \\"two\\""'], null],
    ['b.example', null, 'nxdomain', null, null, null, null, null],
    ['c.example', null, null, null, null, null, null, null],
  ])
  assert.deepEqual(
    await rows("select epoch(dns_observed)::bigint::varchar, web_observed from FILE where domain = 'b.example'"),
    [[String(minute(2)), null]],
  )
  assert.deepEqual(await rows("select domain from FILE where list_contains(a, '192.0.2.10')"), [['a.example']])
  connection.closeSync()
  await rm(folder, { recursive: true })
  await close()
})

test('DuckDB reads the table of the DNS history: every state of every type, as the store has it', async () => {
  const { store, close } = await openSqlite()
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-parquet-'))
  const path = join(folder, 'history.parquet')
  await ingest(store, [
    seen('a.example', 1, dns({ A: ['192.0.2.1'], TXT: [['one']] })),
    seen('a.example', 2, dns({ A: ['192.0.2.2', '192.0.2.3'], TXT: [['one']] })),
    seen('a.example', 3, dns({ A: [], TXT: [['one']] })),
    seen('b.example', 2, NXDOMAIN),
  ])
  const { signal } = new AbortController()
  const listing = await store.listing.start({ signal })
  assert.equal(await writeParquet('states', path, nameHistories(store, listing, signal, noneUnread)), 4)
  await listing.close()
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const sql = `select domain, type, epoch(first_seen)::bigint::varchar, epoch(superseded)::bigint::varchar,
    epoch(last_seen)::bigint::varchar, records from '${path}' order by type, first_seen`
  const at = (time: number): string => String(minute(time))
  assert.deepEqual((await connection.runAndReadAll(sql)).getRowsJson(), [
    ['a.example', 'A', at(1), at(2), at(1), ['192.0.2.1']],
    ['a.example', 'A', at(2), at(3), at(2), ['192.0.2.2', '192.0.2.3']],
    ['a.example', 'A', at(3), null, at(3), []],
    ['a.example', 'TXT', at(1), null, at(3), ['"one"']],
  ])
  connection.closeSync()
  await rm(folder, { recursive: true })
  await close()
})
