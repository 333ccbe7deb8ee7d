/** Tests `domaindex copy`: copying a whole store from one engine to the other and back. */

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { after, suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import type { Observation } from '../../src/observe/observation.ts'
import { copyRows } from '../../src/store/copy-rows.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openBulkStore, openStore } from '../../src/store/open.ts'
import { BULK_TABLES } from '../../src/store/port/bulk.ts'
import type { Store } from '../../src/store/port/store.ts'
import { parseName, slotRangeOf } from '../../src/values/domain-name.ts'
import type { Day } from '../../src/values/time.ts'
import { documentOf, fileAll, holdOf, saying } from '../store/conformance/similar/filed-pages.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { fileOf, nameOf } from './import/lines.ts'
import { folderOf } from './run.ts'

const NAMES = 60
/** The cutoffs of the retention. */
const PRUNED = { A: 2_000_000_000 }
const [ONE, TWO, THREE] = ['p1.example', 'p2.example', 'p3.example']

/** The text of a start page on a day of January. */
function observationOf(domain: string, day: number, text: string): Observation {
  return { ...saying(domain, 1, text), observed_at: Date.UTC(2026, 0, day) / 1000 }
}

/**
 * Creates a SQLite store and returns its folder. It has an account with a crawl request, a forgotten name, a name that
 * lost its oldest states, and start pages: linked ones, a pending one, and the document of a deleted one.
 */
async function fill(): Promise<string> {
  const folder = folderOf({ after })
  await folder.run(['import', '-'], { input: fileOf(NAMES, 3) })
  await folder.run(['forget', nameOf(1)])
  for (const email of ['ann@example.com', 'bob@example.com']) await folder.run(['account', 'create', email])
  await folder.run(['account', 'delete', 'bob@example.com', '--yes'])
  await folder.run(['rotate-secret'])
  await folder.withStore(async (store) => {
    const { crawlRequests, schedule, now } = store
    const hold = await holdOf(store)
    for (const pages of [
      [observationOf(ONE, 1, 'the same'), observationOf(TWO, 1, 'the same')],
      [observationOf(THREE, 1, 'the last')],
    ]) {
      await ingest(store, pages)
      await fileAll(store, hold)
    }
    await store.jobs.releaseLock(hold)
    await ingest(store, [observationOf(TWO, 2, 'another')])
    await store.observations.forget(parseName(THREE)!)
    await crawlRequests.requestFromLookup({
      account: 1,
      day: '2026-11-20' as Day,
      name: parseName(nameOf(3))!,
      maxPerDay: 5,
    })
    const prune = (await store.jobs.acquireLock('prune', 'test'))!
    const { names } = (await store.pruning.prune(prune, [parseName(nameOf(3))!], PRUNED))!
    assert.equal(names, 1)
    await store.jobs.releaseLock(prune)
    await schedule.heartbeat('a crawler', '{}')
    const hour = 3600 * Math.floor((await now()) / 3600)
    await schedule.addOutcomes([
      { hour: hour - 3600, kind: 'due', probes: 900, servfail: 1, nxdomain: 20, noWebsite: 300 },
      { hour, kind: 'new', probes: 70, servfail: 0, nxdomain: 2, noWebsite: 30 },
    ])
  })
  return folder.path('.')
}

const filled = noPostgres ? null : await fill()

/** A filled SQLite store, an empty PostgreSQL schema, and another file. */
async function worldOf(t: TestContext) {
  const folder = folderOf(t)
  cpSync(filled!, folder.path('.'), { recursive: true })
  const { url: postgres, drop } = await (await postgresServer()).schema()
  t.after(drop)
  const back = `sqlite:${folder.path('back.db')}`
  const copy = (from: string, to: string) =>
    folder.run(['copy'], { env: { DOMAINDEX_STORE: from, DOMAINDEX_STORE_TO: to } })
  return { ...folder, postgres, back, copy }
}

/** Parses a comparison: table, rows and digest of each line. */
function tablesOf(stdout: string): string[] {
  return stdout.split('\n').filter((line) => /^\w+: \d+ rows, [\da-f]{32}$/.test(line))
}

/** Returns the terms of a pending page, or its document and vector. */
async function pageOf({ similar }: Store, domain: string): Promise<unknown> {
  const page = (await similar.page(parseName(domain)!))!
  return 'terms' in page ? [...page.terms] : [page.document, [...page.vector!]]
}

/** Returns the highest document number, which belongs to the deleted page. */
async function highestOf(url: string): Promise<number> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const { document: wording } = (await store.similarIndex.documents(0, 1000)).at(-1)!
  assert.equal(wording, await documentOf(store, 'the last'))
  await store.close()
  return wording
}

/** Returns the number of the next new document of a store. */
async function nextOf(url: string): Promise<number> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  await ingest(store, [observationOf(ONE, 3, 'what nobody said before')])
  await fileAll(store, await holdOf(store))
  const wording = (await documentOf(store, 'what nobody said before'))!
  await store.close()
  return wording
}

async function answersOf(url: string): Promise<unknown> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const name = parseName(nameOf(3))!
  const answers = {
    lookup: await store.facts.lookup(name),
    prunedUntil: await store.facts.prunedUntil(),
    history: await store.facts.history(name, ['A', 'NS'], null, 10),
    visits: await store.observations.crawlStates([name, parseName(nameOf(1))!]),
    accounts: await store.ledger.accounts(null, 10),
    secrets: (await store.ledger.secrets(2_000_000_000)).map(({ number }) => number),
    requested: await store.crawlRequests.inRange('lookup', slotRangeOf(name), 10),
    ranges: await store.schedule.ranges(),
    outcomes: await store.schedule.outcomes(0),
    pages: await Promise.all([ONE, TWO].map((page) => pageOf(store, page))),
    same: await store.similar.names([(await documentOf(store, 'the same'))!], 10),
  }
  await store.close()
  return JSON.parse(JSON.stringify(answers))
}

/** How far the inverse index of a store is filled. */
async function inverseShareOf(url: string): Promise<number> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  return store.inverse.progress().then(({ share }) => store.close().then(() => share))
}

suite('copy', { skip: noPostgres, concurrency: 2 }, () => {
  test('a store that is copied to PostgreSQL and back has the same rows in every table and the same responses', async (t) => {
    const { url, postgres, back, copy, run } = await worldOf(t)
    const there = await copy(url, postgres)
    assert.deepEqual([there.code, there.stderr], [0, ''], there.stdout)
    assert.equal(tablesOf(there.stdout).length, BULK_TABLES.length)
    assert.match(there.stdout, new RegExp(`crawl_state: ${NAMES + 3} rows,`))
    assert.doesNotMatch(there.stdout, /not-asked-for/)
    assert.match(there.stdout, /pending_page: 1 rows,.*page_document: 55 rows,.*\ndocument: 54 rows,/s)
    assert.match(there.stdout, /crawl_request: 1 rows,.*lookup_request_count: 1 rows,.*probe_outcome: 2 rows,/s)
    const again = await copy(postgres, back)
    assert.deepEqual(tablesOf(again.stdout), tablesOf(there.stdout), again.stderr)
    const answers = await answersOf(url)
    assert.deepEqual((answers as { prunedUntil: unknown }).prunedUntil, PRUNED)
    for (const store of [postgres, back]) {
      assert.match((await run(['check'], { env: { DOMAINDEX_STORE: store } })).stdout, /faults 0\n$/)
      assert.deepEqual(await answersOf(store), answers)
      assert.ok((await inverseShareOf(store)) < 1)
      const index = await run(['index'], { env: { DOMAINDEX_STORE: store } })
      assert.equal(index.code, 0, index.stderr)
      assert.equal(await inverseShareOf(store), 1)
      assert.match((await run(['check'], { env: { DOMAINDEX_STORE: store } })).stdout, /faults 0\n$/)
    }
  })

  test('new names, accounts and documents in a copy continue after the copied ones', async (t) => {
    const { url, postgres, back, copy, run } = await worldOf(t)
    await copy(url, postgres)
    await copy(postgres, back)
    for (const store of [postgres, back]) {
      const env = { DOMAINDEX_STORE: store }
      const { stdout } = await run(['import', '-'], { input: fileOf(NAMES + 20, 3), env })
      assert.match(stdout, /applied 58, unchanged 2, stale 180,/)
      assert.match((await run(['check'], { env })).stdout, /faults 0\n$/)
      await run(['account', 'create', 'cyd@example.com'], { env })
    }
    const highest = await highestOf(url)
    for (const store of [postgres, back]) {
      const next = await nextOf(store)
      assert.ok(next > highest, `${next} after ${highest}`)
      const { accounts } = (await answersOf(store)) as { accounts: { id: number }[] }
      assert.deepEqual(
        accounts.map(({ id }) => id),
        [1, 3],
      )
    }
  })

  for (const direction of ['to PostgreSQL', 'from PostgreSQL'] as const) {
    test(`a stopped copy continues where it was, ${direction}, and nothing else opens the target until then`, async (t) => {
      const { url, postgres, back, copy, run, path } = await worldOf(t)
      if (direction === 'from PostgreSQL') await copy(url, postgres)
      const [from, to] = direction === 'to PostgreSQL' ? [url, postgres] : [postgres, back]
      const [source, target] = [await openBulkStore(from, 'read'), await openBulkStore(to, 'write')]
      const stop = new AbortController()
      let written = 0
      const whole = await copyRows(source, target, stop.signal, (done) => {
        written = done
        if (done > NAMES) stop.abort()
      })
      await source.close()
      await target.close()
      assert.equal(whole, false)
      assert.ok(written > NAMES)
      const refused = await run(['check'], { env: { DOMAINDEX_STORE: to } })
      assert.match(refused.stderr, /holds an unfinished copy of another store: run domaindex copy again/)
      const further = await copy(to, `sqlite:${path('part.db')}`)
      assert.match(further.stderr, /holds an unfinished copy of another store: run domaindex copy again/)
      const { code, stdout } = await copy(from, to)
      assert.equal(code, 0, stdout)
      assert.match((await run(['check'], { env: { DOMAINDEX_STORE: to } })).stdout, /faults 0\n$/)
    })
  }

  test("the demo's world is not copied", async (t) => {
    const { postgres, copy, path } = await worldOf(t)
    const demo = `sqlite:${path('demo.db')}`
    await (await openStore(demo, { access: 'write', ledger: 'own', secret: null, demo: true })).close()
    assert.match((await copy(demo, postgres)).stderr, /holds the generated data of a demo/)
  })

  test('a difference is reported with its table, and the copy stays unfinished', async (t) => {
    const { url, postgres, copy } = await worldOf(t)
    const [source, target] = [await openBulkStore(url, 'read'), await openBulkStore(postgres, 'write')]
    assert.equal(await copyRows(source, target, new AbortController().signal, () => {}), true)
    await source.close()
    await target.close()
    const client = new pg.Client({ connectionString: postgres })
    await client.connect()
    await client.query(`update facts set ssl = 'nocert' where name = '${nameOf(5)}'`)
    await client.end()
    const { code, stdout, stderr } = await copy(url, postgres)
    assert.match(stdout, /^facts: \d+ rows, [\da-f]{32}, but \d+ rows, [\da-f]{32} in the copy$/m)
    assert.match(stderr, /the stores differ/)
    assert.equal(code, 1)
  })

  test('a copy that another release began is not continued, because its tables may be others', async (t) => {
    const { url, postgres, copy } = await worldOf(t)
    const [source, target] = [await openBulkStore(url, 'read'), await openBulkStore(postgres, 'write')]
    const stop = new AbortController()
    await copyRows(source, target, stop.signal, () => stop.abort())
    const { tables, ...rest } = JSON.parse((await target.progress())!) as { tables: string }
    const shorter = { ...rest, tables: tables.replace(' session', '') }
    await target.write(BULK_TABLES[0]!, [], JSON.stringify(shorter))
    await source.close()
    await target.close()
    const { code, stderr } = await copy(url, postgres)
    assert.deepEqual([code, /another release of domaindex began this copy/.test(stderr)], [1, true], stderr)
  })

  test('copy rejects a target that is not empty, the source itself, and a missing target', async (t) => {
    const { url, postgres, copy, run } = await worldOf(t)
    await run(['account', 'create', 'cyd@example.com'], { env: { DOMAINDEX_STORE: postgres } })
    for (const [to, words] of [
      [postgres, /the target store is not empty/],
      [url, /name the same store/],
      ['', /name the store to copy to with DOMAINDEX_STORE_TO/],
    ] as const) {
      const { code, stderr } = await copy(url, to)
      assert.match(stderr, words)
      assert.equal(code, 1)
    }
  })
})
