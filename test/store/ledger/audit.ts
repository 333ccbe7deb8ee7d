/** The audit log: every change of accounts, tokens and secrets, written with the change itself. */

import assert from 'node:assert/strict'
import { webActor } from '../../../src/accounts/audit.ts'
import { type Period, parsePeriod } from '../../../src/accounts/period.ts'
import type { Ledger } from '../../../src/store/port/ledger.ts'
import type { Day } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import { ANN, type LedgerEngine, made, NOW, newToken, on } from './engine.ts'

const ALL = { email: null, from: null, to: null }
const SPRING = parsePeriod('basic:2026-03-01..2026-03-31') as Period

const changesOf = async (ledger: Ledger, email: string | null = null) =>
  (await ledger.audit({ ...ALL, email }, 0, 100)).map(({ action, details }) => [action, details])

export function audit(engine: LedgerEngine): void {
  on(
    engine,
    'every change is in the audit log with its actor, time, account and content',
    async ({ ledger, clock }) => {
      const { id } = await made(ledger, { addons: ['export'] })
      const by = ledger.as(TESTER)
      clock.now = NOW + 10
      const token = await by.createToken(id, newToken('laptop', 1), NOW + 10)
      await by.setPlan(id, 'premium')
      await by.setRole(id, 'admin')
      await by.addPeriod(id, SPRING)
      await by.removePeriod(id, SPRING.first)
      await by.setAddon(id, 'enriched', true)
      await by.setAddon(id, 'enriched', false)
      await by.revokeToken(id, token.id, NOW + 10)
      await by.suspendAccount(id, NOW + 10)
      await by.resumeAccount(id)
      await by.deleteAccount(id)
      assert.deepEqual(await changesOf(ledger), [
        ['account.create', { plan: 'free', role: 'user', periods: [], addons: ['export'] }],
        ['token.create', { token: token.id, expires: null }],
        ['account.plan', { from: 'free', to: 'premium' }],
        ['account.role', { from: 'user', to: 'admin' }],
        ['period.add', { period: 'basic:2026-03-01..2026-03-31' }],
        ['period.remove', { period: 'basic:2026-03-01..2026-03-31' }],
        ['addon.add', { addon: 'enriched' }],
        ['addon.remove', { addon: 'enriched' }],
        ['token.revoke', { token: token.id }],
        ['account.suspend', {}],
        ['account.resume', {}],
        ['account.delete', {}],
      ])
      const entries = await ledger.audit(ALL, 0, 100)
      for (const [place, { time, actor, origin, account, email }] of entries.entries()) {
        const expected = [place === 0 ? NOW : NOW + 10, TESTER.user, TESTER.origin, id, null]
        assert.deepEqual([time, actor, origin, account, email], expected)
      }
    },
  )

  on(
    engine,
    'no entry names a deleted account, also where it was the actor; an erased one has only its end',
    async (world) => {
      const { ledger } = world
      const names = async () => JSON.stringify(await ledger.audit(ALL, 0, 100))
      const bob = (await ledger.as(TESTER).createAccount({ ...ANN, email: 'bob@example.com' }, NOW))!
      for (const isErased of [false, true]) {
        const { id, email } = await made(ledger)
        await ledger.as(webActor(email)).createToken(id, newToken('of ann', isErased ? 1 : 2), NOW)
        await ledger.as(webActor(email)).setPlan(bob.id, isErased ? 'free' : 'basic')
        assert.match(await names(), /ann@example\.com/)
        await ledger.as(TESTER).deleteAccount(id, isErased)
        assert.doesNotMatch(await names(), /ann/)
        const entries = await ledger.audit(ALL, 0, 100)
        assert.equal(entries.filter(({ account }) => account === id).length, isErased ? 0 : 3)
        assert.ok(entries.some(({ actor, account }) => actor === `account ${id}` && account === bob.id))
        const end = entries.at(-1)!
        assert.deepEqual(
          [end.action, end.account, end.details],
          ['account.delete', ...(isErased ? [null, { erased: true }] : [id, {}])],
        )
      }
    },
  )

  on(engine, 'entries are selected by action, and a release is requested once', async ({ ledger }) => {
    const { id } = await made(ledger)
    const by = ledger.as(TESTER)
    const [one, two] = ['2026-11-18', '2026-11-19'] as [Day, Day]
    assert.equal(await by.requestRelease(two, NOW), true)
    await by.setPlan(id, 'basic')
    assert.equal(await by.requestRelease(two, NOW), false)
    assert.equal(await by.requestRelease(one, NOW), true)
    assert.deepEqual(await ledger.releaseRequests(), [one, two])
    const filter = { ...ALL, action: 'daily.release' as const }
    const days = (entries: { details: object }[]) => entries.map(({ details }) => details)
    assert.deepEqual(days(await ledger.audit(filter, 0, 10)), [{ day: two }, { day: one }])
    assert.deepEqual(days(await ledger.recentAudit(filter, null, 1)), [{ day: one }])
    assert.deepEqual(await ledger.audit({ ...filter, email: ANN.email }, 0, 10), [])
    await ledger.completeRelease(two)
    await ledger.completeRelease(two)
    assert.deepEqual(await ledger.releaseRequests(), [one])
  })

  on(engine, 'a call that changes nothing is not in the audit log', async ({ ledger }) => {
    const { id } = await made(ledger, { periods: [SPRING], addons: ['export'] })
    const by = ledger.as(TESTER)
    await by.createAccount(ANN, NOW)
    await by.setPlan(id, 'free')
    await by.setRole(id, 'user')
    await by.setAddon(id, 'export', true)
    await by.setAddon(id, 'enriched', false)
    await by.addPeriod(id, SPRING)
    await by.removePeriod(id, '2026-03-02' as Period['first'])
    await by.revokeToken(id, 4711, NOW)
    await by.resumeAccount(id)
    await by.setPlan(4711, 'basic')
    await by.deleteAccount(4711)
    await assert.rejects(by.createToken(4711, newToken('laptop', 1), NOW))
    const twice = { ...ANN, email: 'bob@example.com', periods: [SPRING, SPRING] }
    await assert.rejects(by.createAccount(twice, NOW), /overlap/)
    assert.deepEqual(
      (await changesOf(ledger)).map(([action]) => action),
      ['account.create'],
    )
  })

  on(engine, 'every process reads the audit log by account, by time and page by page', async (world) => {
    const { ledger, another } = world
    const other = await another()
    for (const [place, name] of ['ann', 'bob', 'ann2'].entries())
      await ledger.as(TESTER).createAccount({ ...ANN, email: `${name}@example.com` }, NOW + place)
    const read = async (filter: Partial<typeof ALL> | { from?: number; to?: number }, after = 0, limit = 9) =>
      (await other.audit({ ...ALL, ...filter } as typeof ALL, after, limit)).map(({ email }) => email?.split('@')[0])
    assert.deepEqual(await read({ email: 'ANN@example.com' } as never), ['ann'])
    assert.deepEqual(await read({ from: NOW + 1 }), ['bob', 'ann2'])
    assert.deepEqual(await read({ to: NOW + 1 }), ['ann'])
    const [first] = await other.audit(ALL, 0, 1)
    assert.deepEqual(await read({}, first!.id, 1), ['bob'])
  })

  on(engine, 'generated and rotated secrets are in the audit log only by their number', async ({ ledger }) => {
    const [first] = await ledger.secrets(NOW)
    await ledger.as(TESTER).rotateSecret(NOW)
    const [second] = await ledger.secrets(NOW + 10)
    assert.deepEqual(await changesOf(ledger), [
      ['secret.create', { number: first!.number }],
      ['secret.rotate', { number: second!.number }],
    ])
    const [made, rotated] = await ledger.audit(ALL, 0, 9)
    assert.deepEqual([made?.origin, made?.account, made?.email], ['the store itself', null, null])
    assert.deepEqual([rotated?.actor, rotated?.origin, rotated?.time], [TESTER.user, TESTER.origin, NOW])
  })
}
