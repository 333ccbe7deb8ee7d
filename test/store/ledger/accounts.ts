/** Accounts: created completely or not at all, one per address, with periods that never overlap. */

import assert from 'node:assert/strict'
import { type Period, parsePeriod } from '../../../src/accounts/period.ts'
import type { Day } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import { ANN, type LedgerEngine, made, NOW, newToken, on, TODAY } from './engine.ts'

const period = (text: string): Period => parsePeriod(text)!

export function accounts(engine: LedgerEngine): void {
  on(engine, 'an account has a base plan, periods in ascending order, add-ons and a role', async ({ ledger }) => {
    const spring = period('basic:2026-03-01..2026-05-31')
    const autumn = period('premium:2026-09-01..')
    const given = {
      ...ANN,
      role: 'admin',
      plan: 'basic',
      periods: [autumn, spring],
      addons: ['export', 'enriched'],
    } as const
    const account = await ledger.as(TESTER).createAccount(given, NOW)
    assert.deepEqual(account, {
      ...given,
      id: account!.id,
      created: NOW,
      suspended: null,
      periods: [spring, autumn],
      addons: ['enriched', 'export'],
    })
    assert.deepEqual(await ledger.account(ANN.email), account)
  })

  on(engine, 'an email address has one account, ignoring letter case', async ({ ledger }) => {
    const account = await made(ledger)
    assert.equal(
      await ledger.as(TESTER).createAccount({ ...ANN, email: 'Ann@Example.com', plan: 'premium' }, NOW),
      null,
    )
    assert.deepEqual(await ledger.account('ANN@example.com'), account)
    assert.equal(await ledger.account('bob@example.com'), null)
  })

  on(engine, 'an account and its first token are created together or not at all', async ({ ledger }) => {
    const account = await ledger.as(TESTER).createAccount(ANN, NOW, newToken('first', 1))
    assert.equal((await ledger.findToken(newToken('first', 1).hash))?.account.id, account!.id)
    const bob = { ...ANN, email: 'bob@example.com' }
    await assert.rejects(ledger.as(TESTER).createAccount(bob, NOW, newToken('stolen', 1)))
    assert.equal(await ledger.account(bob.email), null)
    const twice = [period('basic:2026-01-01..'), period('premium:2026-02-01..')]
    await assert.rejects(
      ledger.as(TESTER).createAccount({ ...bob, periods: twice }, NOW, newToken('first', 2)),
      /overlap/,
    )
    assert.equal(await ledger.account(bob.email), null)
    assert.equal(await ledger.findToken(newToken('first', 2).hash), null)
  })

  on(engine, 'accounts are listed by email address, page by page', async ({ ledger }) => {
    for (const name of ['eve', 'bob', 'Dan', 'cat', 'ann']) await made(ledger, { email: `${name}@example.com` })
    const names = async (after: string | null, limit: number) =>
      (await ledger.accounts(after, limit)).map(({ email }) => email.split('@')[0])
    assert.deepEqual(await names(null, 2), ['ann', 'bob'])
    assert.deepEqual(await names('bob@example.com', 2), ['cat', 'Dan'])
    assert.deepEqual(await names('dan@example.com', 9), ['eve'])
    assert.deepEqual(await names('eve@example.com', 9), [])
  })

  on(engine, 'plan, role and add-ons can be changed', async ({ ledger }) => {
    const { id } = await made(ledger)
    await ledger.as(TESTER).setPlan(id, 'premium')
    await ledger.as(TESTER).setRole(id, 'admin')
    await ledger.as(TESTER).setAddon(id, 'export', true)
    await ledger.as(TESTER).setAddon(id, 'export', true)
    const changed = { ...ANN, id, created: NOW, suspended: null, plan: 'premium', role: 'admin', addons: ['export'] }
    assert.deepEqual(await ledger.account(ANN.email), changed)
    await ledger.as(TESTER).setAddon(id, 'export', false)
    await ledger.as(TESTER).setAddon(id, 'export', false)
    assert.deepEqual(await ledger.account(ANN.email), { ...changed, addons: [] })
  })

  on(
    engine,
    'an account is suspended and resumed once, and every process sees it at once',
    async ({ ledger, another }) => {
      const other = await another()
      const { id } = await made(ledger)
      const token = newToken('laptop', 1)
      await ledger.as(TESTER).createToken(id, token, NOW)
      const since = async () => (await other.findToken(token.hash))?.account.suspended
      assert.equal(await since(), null)
      assert.equal(await ledger.as(TESTER).suspendAccount(id, NOW + 5), true)
      assert.equal(await other.as(TESTER).suspendAccount(id, NOW + 6), false)
      assert.equal(await since(), NOW + 5)
      assert.equal((await ledger.account(ANN.email))?.suspended, NOW + 5)
      assert.equal(await ledger.as(TESTER).resumeAccount(id), true)
      assert.equal(await ledger.as(TESTER).resumeAccount(id), false)
      assert.equal(await since(), null)
      assert.equal(await ledger.as(TESTER).suspendAccount(4711, NOW), false)
    },
  )

  periods(engine)

  on(engine, 'a deleted account leaves only its usage, under its number, which is never reused', async ({ ledger }) => {
    const { id } = await made(ledger, { periods: [period('basic:2026-01-01..')], addons: ['export'] })
    const token = await ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW)
    await ledger.takeQuota({ account: id, day: TODAY, limit: 100, requested: 1, holder: 'one' })
    await ledger.recordUsage([
      { account: id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 1, lastCall: NOW },
    ])
    await ledger.as(TESTER).deleteAccount(id)
    await ledger.recordUsage([
      { account: id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 1, lastCall: NOW },
    ])
    assert.equal(await ledger.account(ANN.email), null)
    assert.equal(await ledger.findToken(newToken('laptop', 1).hash), null)
    assert.deepEqual(await ledger.tokens(id), [])
    assert.deepEqual(await ledger.usage(id, null, null), [
      { day: TODAY, endpoint: 'lookup', token: token.id, calls: 1 },
    ])
    assert.deepEqual(await ledger.deletedAccounts(), [id])
    assert.equal(await ledger.usedUnits(id, TODAY), 0)
    const again = await made(ledger)
    assert.notEqual(again.id, id)
    assert.deepEqual(again.periods, [])
    await ledger.recordUsage([
      { account: again.id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 2, lastCall: NOW },
    ])
    await ledger.as(TESTER).deleteAccount(again.id, true)
    assert.deepEqual(await ledger.usage(again.id, null, null), [], 'erased')
    assert.deepEqual(await ledger.deletedAccounts(), [id])
  })
}

function periods(engine: LedgerEngine): void {
  on(engine, 'overlapping periods are rejected at entry', async ({ ledger }) => {
    const { id } = await made(ledger)
    const held = [period('basic:2026-03-01..2026-03-31'), period('premium:2026-06-01..')]
    for (const each of held) assert.equal(await ledger.as(TESTER).addPeriod(id, each), true)
    for (const text of [
      'basic:2026-03-01..2026-03-31',
      'premium:2026-02-01..2026-03-01',
      'premium:2026-03-31..2026-04-30',
      'premium:2026-03-10..2026-03-11',
      'premium:2026-01-01..2026-12-31',
      'basic:2026-04-01..',
      'basic:2030-01-01..2030-01-01',
    ]) {
      assert.equal(await ledger.as(TESTER).addPeriod(id, period(text)), false, text)
    }
    assert.deepEqual((await ledger.account(ANN.email))?.periods, held)
    assert.equal(await ledger.as(TESTER).addPeriod(id, period('basic:2026-04-01..2026-05-31')), true)
    assert.equal((await ledger.account(ANN.email))?.periods.length, 3)
  })

  on(
    engine,
    'of two overlapping periods that arrive at the same time, one is rejected',
    async ({ ledger, another }) => {
      const { id } = await made(ledger)
      const other = await another()
      const outcomes = await Promise.all([
        ledger.as(TESTER).addPeriod(id, period('basic:2026-03-01..2026-03-31')),
        other.as(TESTER).addPeriod(id, period('premium:2026-03-31..2026-04-30')),
      ])
      assert.deepEqual(outcomes.toSorted(), [false, true])
    },
  )

  on(engine, 'a period is removed by its first day', async ({ ledger }) => {
    const { id } = await made(ledger, { periods: [period('basic:2026-03-01..2026-03-31')] })
    assert.equal(await ledger.as(TESTER).removePeriod(id, '2026-03-02' as Day), false)
    assert.equal(await ledger.as(TESTER).removePeriod(id, '2026-03-01' as Day), true)
    assert.deepEqual((await ledger.account(ANN.email))?.periods, [])
  })

  on(engine, 'an account that does not exist gets no period', async ({ ledger }) => {
    assert.equal(await ledger.as(TESTER).addPeriod(4711, period('basic:2026-03-01..')), false)
  })
}
