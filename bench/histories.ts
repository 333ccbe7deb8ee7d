/**
 * Random histories by the ten thousand on one engine: the properties of the conformance suite, with stores that are
 * emptied and used again. `--engine sqlite|postgres --runs N --seed N --seconds N`; a failure prints the seed, the path
 * and the history.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import pg from 'pg'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import { PROPERTIES } from '../test/store/conformance/histories.ts'
import { NOW } from '../test/store/conformance/world.ts'
import { figure, type Line, report } from './measure/report.ts'
import { startServer } from './world/postgres.ts'

/** A place that histories happen in one after another; `empty` takes away what one left. */
type Place = { url: string; empty(): Promise<void>; end(): Promise<void> }

const OPTIONS = {
  access: 'write',
  ledger: 'own',
  secret: 'a secret for the bench that is long enough',
  pool: 2,
} as const
/** Tables that a history fills, on either engine; LISTING are SQLite's. */
const TABLES = [
  'crawl_state',
  'facts',
  'dns_state',
  'address_first_seen',
  'presence',
  'address_count',
  'redirect',
  'redirect_count',
  'pending_page',
  'page_document',
]
const LISTING = ['orphan_document', 'pending_name', 'pending_removal', 'sorted_name']

/** Histories of one seed, so that time can be looked at between them; the seeds of a run are so far apart. */
const AT_ONCE = 100
const SEEDS = 1_000_003

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '600' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'domaindex-histories-'))
const place = await (values.engine === 'postgres' ? onPostgres() : onSqlite())
try {
  await runAll()
} finally {
  await place.end()
  rmSync(folder, { recursive: true, force: true })
}

async function runAll(): Promise<void> {
  const runs = Math.ceil(Number(values.runs) / PROPERTIES.length)
  const seconds = Number(values.seconds) / PROPERTIES.length
  const stores = await pooled()
  const lines: Line[] = []
  for (const { sentence, on } of PROPERTIES) {
    const until = performance.now() + 1000 * seconds
    let held = 0
    for (let seed = Number(values.seed); held < runs && performance.now() < until; seed += SEEDS) {
      const outcome = await fc.check(on({ open: stores.open }), { numRuns: Math.min(AT_ONCE, runs - held), seed })
      held += outcome.numRuns
      if (outcome.failed) fail(`${fc.defaultReportMessage(outcome)}\n${outcome.errorInstance}`)
    }
    console.log(`${held} histories: ${sentence}`)
    lines.push(figure(sentence.slice(0, 60), held, 'histories'))
  }
  await stores.end()
  report(`histories-${values.engine}`, lines, [`seed ${values.seed}`], values)
}

function fail(words: string): void {
  console.error(words)
  process.exitCode = 1
}

/** Two instances that every history finds open, and that are opened again only where it asks for that. */
async function pooled() {
  const openOne = (): Promise<Store> => openStore(place.url, { ...OPTIONS, now: () => NOW })
  let both = [await openOne(), await openOne()] as const
  return {
    async open() {
      return {
        url: place.url,
        store: both[0],
        another: async () => both[1],
        async reopen() {
          for (const store of both) await store.close()
          both = [await openOne(), await openOne()]
          return both[0]
        },
        close: place.empty,
      }
    },
    async end() {
      for (const store of both) await store.close()
    },
  }
}

async function onSqlite(): Promise<Place> {
  const path = join(folder, 'store.db')
  const url = `sqlite:${path}`
  await (await openStore(url, OPTIONS)).close()
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const deletions = [...TABLES, ...LISTING].map((table) => database.prepare(`delete from ${table}`))
  return {
    url,
    async empty() {
      database.exec('begin immediate')
      for (const deletion of deletions) deletion.run()
      database.exec('commit')
    },
    end: async () => database.close(),
  }
}

async function onPostgres(): Promise<Place> {
  const { started, socket } = await startServer(folder)
  const url = `postgres://bench:none@localhost/postgres?host=${socket}`
  await (await openStore(url, OPTIONS)).close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const deletions = [...TABLES, 'orphan_document'].map((table) => `delete from ${table}`).join(';')
  return {
    url,
    async empty() {
      await client.query(deletions)
    },
    async end() {
      await client.end()
      started.child.kill('SIGINT')
      await started.ended
    },
  }
}
