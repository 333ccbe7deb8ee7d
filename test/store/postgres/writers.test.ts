/** Concurrent writers on PostgreSQL. Locks of the test stop them at the critical moments, and nothing sleeps. */

import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { partitionOfName } from '../../../src/store/postgres/database/partition.ts'
import { agree } from '../conformance/answers.ts'
import { address, changesOf, dns, faults, NOW, name, redirecting, seen } from '../conformance/world.ts'
import { Model } from '../model.ts'
import { isDistributed, waiting, waitingSql } from './citus/waiting.ts'
import { proxyTo } from './proxy.ts'
import { noPostgres, postgresServer } from './server.ts'

const QUESTION = {
  names: ['a.example', 'b.example', 's.example', 't.example', 'u.example'].map(name),
  addresses: ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(address),
  limit: 2,
}

/** Two stores on one schema, as two processes have them, a connection of the test, and a model. */
async function worldOf(t: TestContext, lossy = false) {
  const place = await (await postgresServer()).tables()
  const proxy = lossy ? await proxyTo(place.url) : null
  const open = (): Promise<Store> =>
    openStore(proxy?.url ?? place.url, { access: 'write', ledger: 'own', secret: null, now: () => NOW, pool: 2 })
  const [one, other] = [await open(), await open()]
  const hand = new pg.Client({ connectionString: place.url })
  await hand.connect()
  t.after(async () => {
    await hand.end()
    for (const store of [one, other]) await store.close()
    await proxy?.close()
    await place.drop()
  })
  const model = new Model(NOW)
  const observe = async (store: Store, ...observations: Seen[]) => {
    for (const observation of observations) model.observe(observation)
    return ingest(store, observations)
  }
  const agrees = async (): Promise<void> => {
    await agree(one, model, QUESTION)
    assert.deepEqual(await faults(other), [])
  }
  /** Two observations that redirect to t.example: the second writer comes while the first one waits to commit. */
  const observeInTurn = async (earlier: Seen, later: Seen) => {
    const release = await holdTarget(hand, 't.example')
    const first = observe(one, earlier)
    await waiting(hand, 1)
    const second = observe(other, later)
    await waiting(hand, 2)
    await release()
    return [await first, await second]
  }
  return { one, other, hand, proxy: proxy!, observe, observeInTurn, agrees }
}

type Seen = ReturnType<typeof on>

function on(domain: string, at: number, ip: string, target: string) {
  return seen(domain, at, dns({ A: [ip] }), redirecting(target))
}

/** Locks the counter of a target, the last row that a save writes. Returns the unlock function. */
async function holdTarget(hand: pg.Client, target: string): Promise<() => Promise<unknown>> {
  await hand.query('begin')
  const { rowCount } = await hand.query('select 1 from redirect_count where part = $1 and target = $2 for update', [
    partitionOfName(name(target)),
    target,
  ])
  assert.equal(rowCount, 1)
  return () => hand.query('commit')
}

suite('concurrent writers on PostgreSQL', { skip: noPostgres, concurrency: 2 }, () => {
  test('a writer within its transaction does not delay a writer of other names', async (t) => {
    const { one, other, hand, observe, agrees } = await worldOf(t)
    await observe(one, on('s.example', 1, '192.0.2.3', 't.example'))
    const release = await holdTarget(hand, 't.example')
    let ended = false
    const held = observe(one, on('a.example', 1, '192.0.2.1', 't.example')).finally(() => {
      ended = true
    })
    await waiting(hand, 1)
    const free = on('b.example', 1, '192.0.2.2', 'u.example')
    assert.deepEqual(await observe(other, free, { ...free, observed_at: free.observed_at + 60 }), [
      'applied',
      'unchanged',
    ])
    assert.equal((await other.facts.lookup(name('b.example')))?.ip, 'v4only')
    assert.equal(await other.facts.lookup(name('a.example')), null, 'what is not committed is not seen')
    assert.equal(ended, false)
    await release()
    assert.deepEqual(await held, ['applied'])
    await agrees()
  })

  test('of two writers of the same name the second waits, is rejected, and applies its observations to the new state', async (t) => {
    const { one, observe, observeInTurn, agrees } = await worldOf(t)
    await observe(one, on('s.example', 1, '192.0.2.3', 't.example'))
    await observe(one, on('a.example', 1, '192.0.2.3', 'u.example'))
    const later = on('a.example', 3, '192.0.2.2', 't.example')
    assert.deepEqual(await observeInTurn(on('a.example', 2, '192.0.2.1', 't.example'), later), [
      ['applied'],
      ['applied'],
    ])
    const { A } = (await one.facts.history(name('a.example'), ['A'], null, 10)).byType
    assert.equal(A.total, 3)
    await agrees()
  })

  test('two writers that create the same new name create it once', async (t) => {
    const { one, observe, observeInTurn, agrees } = await worldOf(t)
    await observe(one, on('s.example', 1, '192.0.2.3', 't.example'))
    const later = on('a.example', 2, '192.0.2.1', 't.example')
    assert.deepEqual(await observeInTurn(on('a.example', 2, '192.0.2.1', 't.example'), later), [['applied'], ['stale']])
    await agrees()
  })

  test('counters that two writers change at once are exact', async (t) => {
    const { one, other, hand, observe, agrees } = await worldOf(t)
    await observe(one, on('s.example', 1, '192.0.2.1', 't.example'))
    const release = await holdTarget(hand, 't.example')
    const first = observe(one, on('a.example', 1, '192.0.2.1', 't.example'))
    const second = observe(other, on('b.example', 1, '192.0.2.1', 't.example'))
    await waiting(hand, 2)
    await release()
    await Promise.all([first, second])
    assert.equal((await one.facts.lookup(name('s.example')))?.reverse_ip_count, 2)
    await agrees()
  })

  for (const [what, code] of [
    ['a deadlock', '40P01'],
    ['a serialization failure', '40001'],
  ] as const) {
    test(`${what} is retried, but not forever`, async (t) => {
      const { one, hand, observe, agrees } = await worldOf(t)
      if (await isDistributed(hand)) return t.skip('Citus has no triggers on distributed tables')
      await hand.query(`create sequence tries; create table allowed (failures integer); insert into allowed values (3);
        create function collide() returns trigger language plpgsql as $$ begin
          if nextval('tries') <= (select failures from allowed) then raise exception 'planted' using errcode = '${code}'; end if;
          return new; end $$;
        create trigger collide before insert on facts for each row execute function collide()`)
      assert.deepEqual(await observe(one, on('a.example', 1, '192.0.2.1', 't.example')), ['applied'])
      assert.equal((await hand.query('select last_value from tries')).rows[0].last_value, '4')
      await hand.query('update allowed set failures = 1000000')
      const changes = await changesOf(one, [on('b.example', 1, '192.0.2.1', 't.example')])
      await assert.rejects(one.observations.save(changes), /planted/)
      await agrees()
    })
  }

  for (const when of ['before', 'after'] as const) {
    test(`a save whose connection is lost ${when} its commit is written once, and its outcome is reported correctly`, async (t) => {
      const { one, proxy, observe, agrees } = await worldOf(t, true)
      await observe(one, on('s.example', 1, '192.0.2.3', 't.example'))
      proxy.loseCommit(when)
      assert.deepEqual(await observe(one, on('a.example', 1, '192.0.2.1', 't.example')), ['applied'])
      assert.equal(proxy.lost(), 1)
      assert.equal((await one.observations.crawlStates([name('a.example')]))[0]!.version, 1)
      await agrees()
    })
  }

  test('a save whose connection is lost during its statements is repeated, and nothing else ends', async (t) => {
    const { one, hand, observe, agrees } = await worldOf(t)
    await observe(one, on('a.example', 1, '192.0.2.1', 't.example'))
    await hand.query('begin')
    await hand.query(`select 1 from facts where part = $1 and name = 'a.example' for update`, [
      partitionOfName(name('a.example')),
    ])
    const moved = observe(one, on('a.example', 2, '192.0.2.2', 't.example'))
    await waiting(hand, 1)
    await hand.query(`select pg_terminate_backend(pid) from (${await waitingSql(hand)}) w`)
    await hand.query('commit')
    assert.deepEqual(await moved, ['applied'])
    await agrees()
  })

  test('reads and writes continue after all connections were lost', async (t) => {
    const { one, proxy, observe, agrees } = await worldOf(t, true)
    await observe(one, on('s.example', 1, '192.0.2.3', 't.example'))
    proxy.loseAll()
    assert.equal((await one.facts.lookup(name('s.example')))?.ip, 'v4only')
    proxy.loseAll()
    assert.deepEqual(await observe(one, on('a.example', 1, '192.0.2.1', 't.example')), ['applied'])
    await agrees()
  })
})
