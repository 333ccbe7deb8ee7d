/** Tests `domaindex account log` and `usage`: who changed what, and which calls counted. */

import assert from 'node:assert/strict'
import { hostname, userInfo } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { Day } from '../../../src/values/time.ts'
import { json, look, newStore, run } from './account.ts'

const ANN = 'ann@example.com'

test('log prints who changed what of an account, when and by which command, and never a token', async (t) => {
  newStore(t)
  const { token } = await json(t, 'create', ANN, '--plan', 'basic')
  await run(t, 'create', 'bob@example.com')
  await run(t, 'plan', ANN, 'premium')
  const second = await json(t, 'token', 'create', ANN, '--name', 'laptop')
  await run(t, 'token', 'revoke', ANN, 'laptop')
  const { log } = await json(t, 'log', ANN)
  assert.deepEqual(
    log.map(({ action, origin }: Record<string, string>) => [action, origin]),
    [
      ['account.create', 'domaindex account create'],
      ['token.create', 'domaindex account create'],
      ['account.plan', 'domaindex account plan'],
      ['token.create', 'domaindex account token create'],
      ['token.revoke', 'domaindex account token revoke'],
    ],
  )
  for (const { actor, email, time } of log) {
    assert.ok(actor.startsWith(userInfo().username) && actor.endsWith(`@${hostname()}`), actor)
    assert.equal(email, ANN)
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  }
  assert.deepEqual(log[2].details, { from: 'basic', to: 'premium' })
  const printed = await run(t, 'log')
  assert.match(printed, /^TIME +BY +THROUGH +CHANGE +ACCOUNT +DETAILS\n.*account\.create +ann@example\.com +plan basic/)
  assert.match(printed, /bob@example\.com/)
  for (const secret of [token, second.token])
    assert.ok(!`${printed}${JSON.stringify(log)}`.includes(secret.slice(4, 12)))
})

test('log: --from and --to are days, both inclusive', async (t) => {
  newStore(t)
  await run(t, 'create', ANN)
  const today = (await json(t, 'log')).log[0].time.slice(0, 10)
  assert.equal((await json(t, 'log', '--from', today, '--to', today)).log.length, 2)
  assert.deepEqual((await json(t, 'log', '--to', '2026-01-01')).log, [])
  assert.equal(await run(t, 'log', '--to', '2026-01-01'), 'no changes')
  await assert.rejects(run(t, 'log', '--from', '2026-02-01', '--to', '2026-01-01'), /--to 2026-01-01 is before/)
  await assert.rejects(run(t, 'log', '--from', 'x'), /It must be a day/)
})

/** Two accounts with calls on two days. The second token of the first account has a name that CSV must quote. */
async function used(t: TestContext): Promise<void> {
  const url = newStore(t)
  const ann = await json(t, 'create', ANN)
  const bob = await json(t, 'create', 'bob@example.com')
  await run(t, 'token', 'create', ANN, '--name', 'a "b", c')
  await look(url, async ({ ledger }) => {
    const note = (account: number, token: number, endpoint: string, day: string, calls: number) =>
      ledger.recordUsage([{ account, token, endpoint, day: day as Day, calls, lastCall: 5 }])
    await note(ann.id, 3, 'lookup', '2026-11-02', 2)
    await note(ann.id, 1, 'lookup', '2026-11-02', 3)
    await note(ann.id, 1, 'daily', '2026-11-01', 1)
    await note(bob.id, 2, 'lookup', '2026-11-01', 7)
  })
}

test('the calls of a deleted account are printed under its number', async (t) => {
  await used(t)
  await run(t, 'delete', 'bob@example.com', '--yes')
  const lines = (await run(t, 'usage', '--from', '2026-11-01', '--csv')).split('\n')
  assert.ok(lines.includes('2026-11-01,deleted account 2,lookup,2,,7'), lines.join('; '))
  assert.ok(!lines.some((line) => line.includes('bob@')))
})

test('usage by day, account, endpoint and token is printed as lines, CSV and JSON', async (t) => {
  await used(t)
  const from = ['--from', '2026-11-01']
  assert.deepEqual((await run(t, 'usage', ...from, '--csv')).split('\n'), [
    'day,email,endpoint,token,token_name,calls',
    '2026-11-01,ann@example.com,daily,1,first,1',
    '2026-11-01,bob@example.com,lookup,2,first,7',
    '2026-11-02,ann@example.com,lookup,1,first,3',
    '2026-11-02,ann@example.com,lookup,3,"a ""b"", c",2',
  ])
  const row = { email: ANN, endpoint: 'lookup', token: 1, token_name: 'first', calls: 3 }
  assert.deepEqual(await json(t, 'usage', ANN, '--from', '2026-11-02', '--to', '2026-11-02'), {
    from: '2026-11-02',
    to: '2026-11-02',
    usage: [
      { day: '2026-11-02', ...row },
      { day: '2026-11-02', ...row, token: 3, token_name: 'a "b", c', calls: 2 },
    ],
  })
  const printed = (await run(t, 'usage', ANN, ...from)).split('\n')
  assert.match(printed[0]!, /^DAY +EMAIL +ENDPOINT +TOKEN +CALLS$/)
  assert.deepEqual([printed.length, printed.at(-1)], [5, '6 calls'])
})

test('usage handles a range without calls, and rejects a range that ends before it starts and two formats at once', async (t) => {
  await used(t)
  assert.equal(await run(t, 'usage', '--from', '2026-12-01'), 'no calls since 2026-12-01')
  assert.equal(await run(t, 'usage', '--to', '2026-01-30'), 'no calls from 2026-01-01 to 2026-01-30')
  assert.equal((await json(t, 'usage', '--to', '2026-11-01')).from, '2026-10-03', '30 days by default')
  await assert.rejects(run(t, 'usage', '--from', '2026-02-01', '--to', '2026-01-01'), /--to 2026-01-01 is before/)
  await assert.rejects(run(t, 'usage', '--csv', '--json'), /cannot be used with/)
})
