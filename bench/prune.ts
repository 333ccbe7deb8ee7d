/**
 * `npm run bench:prune`: removes old history from a new store of each engine, and counts processor time and statements.
 * Each name has six states of A and SOA, of which four go. The pauses of the job are skipped.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { ingest } from '../src/store/ingest.ts'
import { openStore } from '../src/store/open.ts'
import { pruneHistory } from '../src/store/prune-history.ts'
import { dns, minute, seen, soa } from '../test/store/conformance/world.ts'
import { noPostgres, postgresServer } from '../test/store/postgres/server.ts'
import { readTexts } from './measure/options.ts'
import { treeCpuSeconds } from './measure/processor-time.ts'
import { type Metric, metric, report } from './measure/report.ts'

const values = readTexts({ names: '2000' })
const NAMES = Number(values.names)
const ROUNDS = [1, 2, 3, 4, 5, 6]
const KEPT_ROUNDS = 2
const BATCH = 500
const CUTOFF = minute(ROUNDS.at(-KEPT_ROUNDS)!)

let statements = 0
const query = pg.Client.prototype.query as (...values: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...values: unknown[]) {
  statements++
  return query.apply(this, values)
} as typeof pg.Client.prototype.query

const metrics: Metric[] = []
const folder = mkdtempSync(join(tmpdir(), 'domaindex-prune-'))
try {
  metrics.push(...(await measure('SQLite', `sqlite:${join(folder, 'store.db')}`)))
} finally {
  rmSync(folder, { recursive: true })
}
if (noPostgres === false) {
  const place = await (await postgresServer()).tables()
  metrics.push(...(await measure('PostgreSQL', place.url)))
  await place.drop()
}
report('prune', metrics, [`${NAMES} names; the runs of the inverse index are not merged`], values)

async function measure(engine: string, url: string): Promise<Metric[]> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  try {
    for (const round of ROUNDS)
      for (let from = 0; from < NAMES; from += BATCH)
        await ingest(
          store,
          Array.from({ length: Math.min(BATCH, NAMES - from) }, (_, index) => observationOf(from + index, round)),
        )
    const hold = await store.jobs.acquireLock('prune', 'bench')
    const [cpuBefore, statementsBefore] = [treeCpuSeconds(process.pid), statements]
    const pruned = await pruneHistory(store, {
      cutoffs: { A: CUTOFF, SOA: CUTOFF },
      hold,
      clock: { monotonicMs: () => performance.now(), wait: async () => {} },
      signal: new AbortController().signal,
    })
    const [cpu, sent] = [treeCpuSeconds(process.pid) - cpuBefore, statements - statementsBefore]
    const states = 2 * (ROUNDS.length - KEPT_ROUNDS) * NAMES
    if (pruned?.names !== NAMES || pruned.states !== states) throw new Error(`${engine}: it pruned something else`)
    return [
      metric(`${engine}: processor time per name`, (1000 * cpu) / NAMES, 'ms'),
      metric(`${engine}: names per second of processor time`, NAMES / cpu, 'names/s'),
      ...(sent === 0 ? [] : [metric(`${engine}: statements per name`, sent / NAMES, 'statements')]),
    ]
  } finally {
    await store.close()
  }
}

function observationOf(n: number, round: number) {
  const A = [`10.${(n >> 8) & 255}.${n & 255}.${round}`]
  return seen(`n${n}.example`, round, dns({ A, NS: ['ns1.example'], SOA: [soa(round)] }))
}
