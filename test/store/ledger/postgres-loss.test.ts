/** The PostgreSQL ledger with lost connections, differing secrets, and a database with a language. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { StoreFault, UncertainWriteFault } from '../../../src/store/port/fault.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { applyPostgresMigrations } from '../../../src/store/postgres/database/migrate.ts'
import { openPostgresLedger, POSTGRES_LEDGER_SCHEMA } from '../../../src/store/postgres/ledger/ledger.ts'
import { TESTER } from '../../tester.ts'
import { proxyTo } from '../postgres/proxy.ts'
import { noPostgres, type Place, postgresServer } from '../postgres/server.ts'
import { ANN, made, NOW, newToken, TODAY } from './engine.ts'
import { type LeasedUnits, postgresLeasedUnits } from './leased-units.ts'

const ask = { account: 1, day: TODAY, limit: 25_000, requested: 64, holder: 'one' }
const SECRET = 's'.repeat(32)
const OTHER = 'o'.repeat(32)

if (!noPostgres) await postgresServer() // for the whole file

const ends = new WeakMap<TestContext, (() => Promise<void>)[]>()

/** What a test opened last is closed first. */
function atEnd(t: TestContext, end: () => Promise<void>): void {
  if (!ends.has(t)) {
    ends.set(t, [])
    t.after(async () => {
      for (const each of ends.get(t)!.toReversed()) await each()
    })
  }
  ends.get(t)!.push(end)
}

async function open(t: TestContext, url: string, secret: string | null = null) {
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  atEnd(t, () => database.close())
  await applyPostgresMigrations(database, 'ledger', POSTGRES_LEDGER_SCHEMA)
  return openPostgresLedger(database, { secret, now: () => NOW })
}

async function placeOf(t: TestContext, make: () => Promise<Place>): Promise<string> {
  const { url, drop } = await make()
  atEnd(t, drop)
  return url
}

const tablesOf = (t: TestContext) => placeOf(t, async () => (await postgresServer()).tables())

/** A ledger behind a proxy, and one with a direct connection. */
async function behindProxy(t: TestContext) {
  const url = await tablesOf(t)
  const proxy = await proxyTo(url)
  atEnd(t, () => proxy.close())
  return { ledger: await open(t, proxy.url), beside: await open(t, url), proxy, leasedUnits: await leasesIn(t, url) }
}

/** Reads the leases on a connection of its own. */
async function leasesIn(t: TestContext, url: string): Promise<LeasedUnits> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  atEnd(t, () => client.end())
  return postgresLeasedUnits(client)
}

for (const when of ['before', 'after'] as const) {
  const moment = when === 'before' ? 'before the server heard of its commit' : 'after its commit, unanswered'
  test(`a write whose connection is lost ${moment} is written once`, { skip: noPostgres }, async (t) => {
    const { ledger, beside, proxy, leasedUnits } = await behindProxy(t)
    await ledger.takeQuota(ask)
    proxy.loseCommit(when)
    await ledger.settleQuota([{ account: 1, day: TODAY, holder: 'one', spent: 10, returned: 20 }])
    assert.deepEqual(await beside.takeQuota({ ...ask, limit: 44 }), {
      granted: 0,
      used: 10,
      retryLater: true,
    })
    assert.equal(await leasedUnits(1, TODAY), 34)
    proxy.loseCommit(when)
    assert.deepEqual(await ledger.takeQuota(ask), { granted: 64, used: 10, retryLater: false })
    assert.equal(await leasedUnits(1, TODAY), 98)
    proxy.loseCommit(when)
    const account = await ledger.as(TESTER).createAccount(ANN, NOW)
    assert.deepEqual(await beside.account(ANN.email), account)
    proxy.loseCommit(when)
    const token = await ledger.as(TESTER).createToken(account!.id, newToken('laptop', 1), NOW)
    const note = { account: account!.id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 3, lastCall: NOW }
    proxy.loseCommit(when)
    await ledger.recordUsage([note])
    assert.deepEqual(await beside.usage(account!.id, TODAY, TODAY), [
      { day: TODAY, endpoint: 'lookup', token: token.id, calls: 3 },
    ])
    assert.equal(proxy.lost(), 5)
  })
}

test('a write with an unknown outcome spends what its process held and grants nothing', {
  skip: noPostgres,
}, async (t) => {
  const url = await tablesOf(t)
  const beside = await open(t, url)
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  atEnd(t, () => database.close())
  let isDoubtful = false
  const ledger = await openPostgresLedger(
    {
      ...database,
      async transaction(work) {
        const result = await database.transaction(work)
        if (isDoubtful) throw new UncertainWriteFault('the server is out of reach')
        return result
      },
    },
    { secret: null, now: () => NOW },
  )
  const settle = (spent: number, returned: number) =>
    ledger.settleQuota([{ account: 1, day: TODAY, holder: 'one', spent, returned }])
  await ledger.takeQuota(ask)
  isDoubtful = true
  await assert.rejects(settle(10, 20), UncertainWriteFault)
  isDoubtful = false
  await settle(10, 20)
  assert.equal(await beside.usedUnits(1, TODAY), 10 + 34)
  assert.deepEqual(await beside.takeQuota({ ...ask, limit: 45, requested: 1 }), {
    granted: 1,
    used: 45,
    retryLater: false,
  })
  assert.equal(await (await leasesIn(t, url))(1, TODAY), 0)
})

test('a deadlock is retried, and any other failure is reported by the failed statement', {
  skip: noPostgres,
}, async (t) => {
  const url = await tablesOf(t)
  const ledger = await open(t, url)
  const hand = new pg.Client({ connectionString: url })
  await hand.connect()
  await hand.query(`create sequence tries;
    create function collide() returns trigger language plpgsql as $$ begin
      if nextval('tries') % 5 <> 0 then raise exception 'planted' using errcode = '40P01'; end if; return new; end $$;
    create trigger collide before insert on account for each row execute function collide();
    create trigger collide before insert or update on lease_holder for each row execute function collide()`)
  await hand.end()
  const account = await made(ledger)
  assert.equal((await ledger.takeQuota({ ...ask, account: account.id })).granted, 64)
  await assert.rejects(made(ledger, { email: 'a\0@example.com' }), /invalid byte sequence/)
})

test('a read whose connection is lost is retried once', { skip: noPostgres }, async (t) => {
  const { ledger, proxy } = await behindProxy(t)
  const account = await made(ledger)
  proxy.loseAll()
  assert.deepEqual(await ledger.account(ANN.email), account)
  proxy.loseAll()
  assert.equal((await ledger.takeQuota(ask)).granted, 64)
})

test('a secret other than that of the installation is rejected with what to do', { skip: noPostgres }, async (t) => {
  const url = await tablesOf(t)
  await open(t, url, SECRET)
  await open(t, url, SECRET)
  await assert.rejects(open(t, url, OTHER), (error: Error) => {
    assert.ok(error instanceof StoreFault)
    assert.match(error.message, /DOMAINDEX_SECRET is not the secret of this installation/)
    assert.ok(!error.message.includes(OTHER))
    return true
  })
  const without = await open(t, url)
  await assert.rejects(without.secrets(NOW), /set by DOMAINDEX_SECRET: set it for this process/)
  await assert.rejects(without.as(TESTER).rotateSecret(NOW), /set by DOMAINDEX_SECRET: set it for this process/)
  await open(t, url, SECRET)
})

test('a given secret is replaced by a new one in front of it, process by process', { skip: noPostgres }, async (t) => {
  const url = await tablesOf(t)
  await open(t, url, SECRET)
  await open(t, url, `${SECRET},${OTHER}`)
  await open(t, url, `${OTHER},${SECRET}`)
  await open(t, url, `${SECRET},${OTHER}`)
  await open(t, url, `${OTHER},${SECRET}`)
  await open(t, url, OTHER)
  await assert.rejects(open(t, url, SECRET), /not the secret of this installation/)
})

test('a secret that the installation generated is not replaced by a given one', { skip: noPostgres }, async (t) => {
  const url = await tablesOf(t)
  const ledger = await open(t, url)
  const [first] = await ledger.secrets(NOW)
  await assert.rejects(open(t, url, SECRET), /has generated its own secret.*unset it/)
  assert.deepEqual(await ledger.secrets(NOW), [first])
})

test('letter case in an email address follows ASCII, whatever the language', { skip: noPostgres }, async (t) => {
  const url = await placeOf(t, async () => (await postgresServer()).database('tr-TR'))
  const ledger = await open(t, url)
  const account = await made(ledger, { email: 'info@example.com' })
  assert.deepEqual(await ledger.account('INFO@EXAMPLE.COM'), account)
  assert.equal(await ledger.as(TESTER).createAccount({ ...ANN, email: 'INFO@example.com' }, NOW), null)
  await made(ledger, { email: 'Zoe@example.com' })
  await made(ledger, { email: 'ümit@example.com' })
  const names = (await ledger.accounts(null, 9)).map(({ email }) => email.split('@')[0])
  assert.deepEqual(names, ['info', 'Zoe', 'ümit'])
})
