/**
 * The server ends the connection of a writer before each of its statements, and before the commit. The transaction runs
 * again, and everything is stored once.
 */

import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { type Database, openDatabase } from '../../../src/store/postgres/database/database.ts'
import type { Session } from '../../../src/store/postgres/database/transaction.ts'
import { postgresObservations } from '../../../src/store/postgres/facts/observations.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { dns, faults, NOW, name, redirecting, seen, web } from '../conformance/world.ts'
import { noPostgres, postgresServer } from './server.ts'

const BACKEND = { name: 'test.backend', text: 'select pg_backend_pid() as pid' }
const TERMINATE = { name: 'test.terminate', text: 'select pg_terminate_backend($1::integer, 5000) as ended' }
const ONE = name('one.example')

/**
 * A database that ends the connection of the first transaction before its statement number `step`, or before its
 * commit.
 */
function endingBefore(step: number, database: Database, other: Database) {
  const state = { statements: 0, isKilled: false }
  const killAt = async (number: number, session: Session): Promise<void> => {
    if (state.isKilled || number !== step) return
    state.isKilled = true
    const [backend] = await session.rows<{ pid: number }>(BACKEND)
    await other.read(TERMINATE, [backend!.pid])
  }
  const counting = (session: Session): Session => {
    const before = <Values extends unknown[], Result>(send: (...values: Values) => Promise<Result>) => {
      return async (...values: Values): Promise<Result> => {
        if (!state.isKilled) await killAt(++state.statements, session)
        return send(...values)
      }
    }
    return { ...session, rows: before(session.rows) as Session['rows'], run: before(session.run) }
  }
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (session) => {
      const result = await work(counting(session))
      if (!state.isKilled) await killAt(++state.statements, session)
      return result
    })
  return { state, database: { ...database, transaction } }
}

/** Runs `write` until it has no statement left that its connection could end before, and checks the store each time. */
async function endEverywhere(
  t: TestContext,
  write: (store: Store) => Promise<unknown>,
  expected: object,
): Promise<void> {
  let step = 1
  for (let isKilled = true; isKilled; step++) {
    const { url, drop } = await (await postgresServer()).tables()
    const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
    const [database, other] = [
      await openDatabase(url, { pool: 2, applicationName: 'test' }),
      await openDatabase(url, { pool: 2, applicationName: 'test' }),
    ]
    await ingest(store, [seen(ONE, 1, dns({ A: ['192.0.2.1', '192.0.2.2'] }), redirecting('a.example'))])
    const { state, database: ending } = endingBefore(step, database, other)
    await write({ ...store, observations: postgresObservations(ending) })
    isKilled = state.isKilled
    const counts = await store.schedule.nameCounts(['192.0.2.1', '192.0.2.2', '192.0.2.3'] as IpAddress[])
    const redirects = await Promise.all(
      ['a.example', 'b.example'].map((to) => store.facts.redirects(name(to), null, 9)),
    )
    assert.deepEqual({ counts, redirects: redirects.map(({ count }) => count) }, expected, `before statement ${step}`)
    assert.deepEqual(await faults(store), [], `before statement ${step}`)
    for (const each of [store, database, other]) await each.close()
    await drop()
  }
  t.diagnostic(`the connection ended before each of ${step - 2} statements`)
  assert.ok(step > 8)
}

suite('a connection that ends', { skip: noPostgres }, () => {
  test('while observations are written', (t) =>
    endEverywhere(
      t,
      (store) =>
        ingest(store, [
          seen(ONE, 2, dns({ A: ['192.0.2.2', '192.0.2.3'] }), redirecting('b.example')),
          seen('two.example', 2, dns({ A: ['192.0.2.3'] }), web({ has_website: true, text: 'Some text.' })),
        ]),
      { counts: [0, 1, 2], redirects: [0, 1] },
    ))

  test('while a name is forgotten', (t) =>
    endEverywhere(t, (store) => store.observations.forget(ONE), { counts: [0, 0, 0], redirects: [0, 0] }))
})
