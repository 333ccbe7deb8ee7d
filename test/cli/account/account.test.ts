/** Tests `domaindex account`: what it creates and prints, and that a rejected command changes nothing. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageFault } from '../../../src/config/command-fault.ts'
import { json, look, newStore, run, standing, TOKEN } from './account.ts'

test('create creates an account with plan, periods, add-ons, role and a first token that works', async (t) => {
  const url = newStore(t)
  const periods = ['--period', 'premium:2026-04-01..', '--period', 'basic:2026-01-01..2026-03-31']
  const addons = ['--addon', 'export', '--addon', 'enriched']
  const made = await json(t, 'create', '--plan', 'basic', ...periods, ...addons, '--role', 'admin', 'Ann@Example.com')
  assert.match(made.token, new RegExp(`^${TOKEN.source}$`))
  assert.match(made.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const { token, created, id, ...rest } = made
  assert.deepEqual(rest, {
    email: 'ann@example.com',
    role: 'admin',
    plan: 'basic',
    plan_in_force: 'premium',
    suspended: null,
    periods: [
      { plan: 'basic', first: '2026-01-01', last: '2026-03-31' },
      { plan: 'premium', first: '2026-04-01', last: null },
    ],
    addons: ['enriched', 'export'],
  })
  const found = await standing(url, token)
  assert.equal(found?.account.id, id)
  assert.equal(found?.token.name, 'first')
})

test('an account that is created without options is a free user without add-ons', async (t) => {
  newStore(t)
  const { plan, plan_in_force, periods, addons, role } = await json(t, 'create', 'ann@example.com')
  assert.deepEqual([plan, plan_in_force, periods, addons, role], ['free', 'free', [], [], 'user'])
})

test('the token is printed only once', async (t) => {
  newStore(t)
  const [token] = TOKEN.exec(await run(t, 'create', 'ann@example.com'))!
  for (const argv of [['show'], ['show', '--json'], ['token', 'list'], ['token', 'list', '--json']]) {
    const printed = await run(t, ...argv, 'ann@example.com')
    assert.ok(!printed.includes(token) && printed.includes(token.slice(0, 8)), argv.join(' '))
  }
})

for (const [what, argv, reason] of [
  ['a bad address', ['ann'], /must be an email address/],
  ['an unknown plan', ['new@example.com', '--plan', 'gold'], /free, basic, premium, local/],
  ['an unknown add-on', ['new@example.com', '--addon', 'import'], /export, enriched/],
  ['an unknown role', ['new@example.com', '--role', 'king'], /user, admin/],
  ['a period that is none', ['new@example.com', '--period', 'basic:2026-02-30..'], /PLAN:FIRST\.\.LAST/],
  [
    'periods that overlap',
    ['new@example.com', '--period', 'basic:2026-01-01..', '--period', 'premium:2027-01-01..'],
    /basic:2026-01-01\.\. and premium:2027-01-01\.\. overlap/,
  ],
  ['an address that has an account', ['ANN@example.com'], /ann@example\.com already has an account/],
] as const) {
  test(`create rejects ${what} and creates nothing`, async (t) => {
    newStore(t)
    await run(t, 'create', 'ann@example.com')
    const before = await json(t, 'show', 'ann@example.com')
    await assert.rejects(run(t, 'create', ...argv), reason)
    assert.deepEqual((await json(t, 'list')).accounts.length, 1)
    assert.deepEqual(await json(t, 'show', 'ann@example.com'), before)
  })
}

test('list prints every account, ordered by address', async (t) => {
  newStore(t)
  for (const name of ['bob', 'ann']) await run(t, 'create', `${name}@example.com`, '--plan', 'basic')
  assert.deepEqual(
    (await json(t, 'list')).accounts.map(({ email }: { email: string }) => email),
    ['ann@example.com', 'bob@example.com'],
  )
  assert.match(await run(t, 'list'), /^EMAIL +PLAN +ROLE +ADD-ONS\nann@example\.com +basic +user +-\nbob/)
})

test('show prints the usage of the plan in force today', async (t) => {
  const url = newStore(t)
  const { id } = await json(t, 'create', 'ann@example.com', '--period', 'basic:2020-01-01..')
  await look(url, async ({ ledger, now }) => {
    const day = new Date((await now()) * 1000).toISOString().slice(0, 10) as never
    await ledger.takeQuota({ account: id, day, limit: 100, requested: 1, holder: 'one' })
  })
  const { limit, used, tokens } = await json(t, 'show', 'ann@example.com')
  assert.deepEqual([limit, used, tokens.length], [25_000, 1, 1])
  assert.match(await run(t, 'show', 'ann@example.com'), /plan +free, in force basic.*today +1 of 25000 calls/s)
})

test('commands change the plan, role, periods and add-ons one by one', async (t) => {
  newStore(t)
  await run(t, 'create', 'ann@example.com')
  assert.equal((await json(t, 'plan', 'ann@example.com', 'premium')).plan, 'premium')
  assert.equal((await json(t, 'role', 'ann@example.com', 'admin')).role, 'admin')
  assert.deepEqual((await json(t, 'addon', 'add', 'ann@example.com', 'export')).addons, ['export'])
  assert.deepEqual((await json(t, 'addon', 'remove', 'ann@example.com', 'export')).addons, [])
  await run(t, 'period', 'add', 'ann@example.com', 'basic:2026-01-01..2026-01-31')
  const { periods } = await json(t, 'period', 'add', 'ann@example.com', 'premium:2026-02-01..')
  assert.equal(periods.length, 2)
  await assert.rejects(
    run(t, 'period', 'add', 'ann@example.com', 'basic:2026-01-31..2026-02-01'),
    /overlaps with basic:2026-01-01\.\.2026-01-31 of ann@example\.com/,
  )
  await assert.rejects(
    run(t, 'period', 'remove', 'ann@example.com', '2026-01-02'),
    /no period 2026-01-02; it has basic/,
  )
  await run(t, 'period', 'remove', 'ann@example.com', '2026-01-01')
  assert.deepEqual((await json(t, 'period', 'remove', 'ann@example.com', 'premium:2026-02-01..')).periods, [])
})

test('if an account is suspended, its tokens are rejected until it is resumed, and both commands confirm it', async (t) => {
  const url = newStore(t)
  const { token } = await json(t, 'create', 'ann@example.com')
  const { suspended } = await json(t, 'suspend', 'ann@example.com')
  assert.match(suspended, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.notEqual((await standing(url, token))?.account.suspended, null)
  assert.match(await run(t, 'show', 'ann@example.com'), new RegExp(`suspended since ${suspended}`))
  assert.match(await run(t, 'list'), /ann@example\.com +suspended/)
  await assert.rejects(run(t, 'suspend', 'ann@example.com'), /ann@example\.com is already suspended/)
  assert.equal((await json(t, 'resume', 'ann@example.com')).suspended, null)
  await assert.rejects(run(t, 'resume', 'ann@example.com'), /ann@example\.com is not suspended/)
})

test('delete removes the account and its tokens, and says what stays and what --erase loses', async (t) => {
  const url = newStore(t)
  const { token } = await json(t, 'create', 'ann@example.com')
  assert.deepEqual(await json(t, 'delete', 'ann@example.com', '--yes'), {
    deleted: 'ann@example.com',
    account: 1,
    erased: false,
  })
  assert.deepEqual(await json(t, 'list'), { accounts: [] })
  assert.equal(await standing(url, token), null)
  await run(t, 'create', 'bob@example.com')
  await assert.rejects(run(t, 'delete', 'bob@example.com', '--erase'), /its usage and audit log are lost.*add --yes/)
  assert.match(await run(t, 'delete', 'bob@example.com', '--erase', '--yes'), /^deleted bob@example\.com; .* are lost/)
  await run(t, 'create', 'carl@example.com')
  assert.match(await run(t, 'delete', 'carl@example.com', '--yes'), /stay under account 3$/)
  const log = await run(t, 'log')
  assert.match(log, /account\.delete +deleted account 3/)
  assert.doesNotMatch(log, /(ann|bob|carl)@|account 2/)
})

test('delete requires --yes, with a terminal and without one', async (t) => {
  newStore(t)
  await run(t, 'create', 'ann@example.com')
  const { isTTY } = process.stdin
  t.after(() => {
    process.stdin.isTTY = isTTY
  })
  for (const terminal of [true, false]) {
    process.stdin.isTTY = terminal
    await assert.rejects(run(t, 'delete', 'ann@example.com'), (error) => {
      assert.ok(error instanceof UsageFault && /add --yes to confirm/.test(error.message))
      return true
    })
    assert.equal((await json(t, 'list')).accounts.length, 1)
  }
})

test('an error about an unknown account names its address', async (t) => {
  newStore(t)
  await run(t, 'create', 'ann@example.com')
  for (const argv of [
    ['show'],
    ['plan', 'basic'],
    ['role', 'admin'],
    ['period add', 'basic:2026-01-01..'],
    ['period remove', '2026-01-01'],
    ['addon add', 'export'],
    ['token create'],
    ['token list'],
    ['token revoke'],
    ['suspend'],
    ['resume'],
    ['usage'],
    ['delete', '--yes'],
  ]) {
    const [command, ...rest] = argv
    await assert.rejects(run(t, ...command!.split(' '), 'bob@example.com', ...rest), /no account bob@example\.com/)
  }
})

test('through the launcher, --json prints only one JSON object, and an error exits with code 1', async (t) => {
  newStore(t)
  const launcher = join(import.meta.dirname, '../../../bin/domaindex.js')
  const create = () =>
    execFileSync(process.execPath, [launcher, 'account', 'create', 'ann@example.com', '--json'], { stdio: 'pipe' })
  const { email, token } = JSON.parse(create().toString())
  assert.equal(email, 'ann@example.com')
  assert.match(token, TOKEN)
  assert.throws(create, (error: Error & { status: number; stdout: Buffer; stderr: Buffer }) => {
    assert.equal(error.status, 1)
    assert.equal(error.stdout.toString(), '')
    assert.equal(error.stderr.toString(), 'domaindex: ann@example.com already has an account\n')
    return true
  })
})
