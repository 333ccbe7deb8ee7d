/** Tokens: stored as hashes, several per account, rejected once revoked. */

import assert from 'node:assert/strict'
import { isActive } from '../../../src/accounts/token.ts'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, made, NOW, newToken, on, TODAY } from './engine.ts'

export function tokens(engine: LedgerEngine): void {
  on(engine, 'an account can have several tokens, with name, expiry and last use', async ({ ledger }) => {
    const { id } = await made(ledger)
    const laptop = await ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW)
    const server = await ledger.as(TESTER).createToken(id, newToken('server', 2, NOW + 60), NOW + 1)
    const rest = { hint: 'dxt_abcd', last_used: null, revoked: null }
    assert.deepEqual(laptop, { ...rest, id: laptop.id, name: 'laptop', created: NOW, expires: null })
    assert.deepEqual(server, { ...rest, id: server.id, name: 'server', created: NOW + 1, expires: NOW + 60 })
    assert.deepEqual(await ledger.tokens(id), [laptop, server])
    assert.deepEqual(await ledger.tokens(id + 1), [])
  })

  on(engine, 'a token identifies its account in every process at once', async ({ ledger, another }) => {
    const other = await another()
    const account = await made(ledger, { plan: 'basic', addons: ['export'] })
    const token = await ledger.as(TESTER).createToken(account.id, newToken('laptop', 1), NOW)
    for (const each of [ledger, other]) {
      assert.deepEqual(await each.findToken(newToken('laptop', 1).hash), { account, token })
      assert.equal(await each.findToken(newToken('laptop', 2).hash), null)
    }
  })

  on(
    engine,
    'a revoked token is reported as revoked in every process, and revoked once',
    async ({ ledger, another }) => {
      const other = await another()
      const { id } = await made(ledger)
      const token = await ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW)
      assert.equal(await other.as(TESTER).revokeToken(id + 1, token.id, NOW + 5), false)
      assert.equal(await other.as(TESTER).revokeToken(id, token.id, NOW + 5), true)
      assert.equal(await ledger.as(TESTER).revokeToken(id, token.id, NOW + 6), false)
      const standing = await ledger.findToken(newToken('laptop', 1).hash)
      assert.deepEqual(standing?.token, { ...token, revoked: NOW + 5 })
      assert.equal(isActive(standing.token, NOW + 5), false)
    },
  )

  on(engine, 'an expired token is no longer active and cannot be revoked', async ({ ledger }) => {
    const { id } = await made(ledger)
    const token = await ledger.as(TESTER).createToken(id, newToken('laptop', 1, NOW + 60), NOW)
    assert.equal(await ledger.as(TESTER).revokeToken(id, token.id, NOW + 60), false)
    assert.equal(await ledger.as(TESTER).revokeToken(id, token.id, NOW + 59), true)
  })

  on(engine, 'a token needs an account', async ({ ledger }) => {
    await assert.rejects(ledger.as(TESTER).createToken(4711, newToken('laptop', 1), NOW), /no account 4711/)
    assert.equal(await ledger.findToken(newToken('laptop', 1).hash), null)
  })

  on(
    engine,
    'a replaced token stays for its grace time, and the new one has its name and its lifetime',
    async ({ ledger }) => {
      const { id, email } = await made(ledger)
      const former = await ledger.as(TESTER).createToken(id, newToken('laptop', 1, NOW + 1000), NOW)
      const { hash, hint } = newToken('', 2)
      const rotation = { token: former.id, replacement: { hash, hint }, until: NOW + 160 }
      const created = await ledger.as(TESTER).rotateToken(100, id, rotation, NOW + 60)
      assert.ok(typeof created === 'object')
      const expected = { name: 'laptop', hint, created: NOW + 60, expires: NOW + 1060, last_used: null, revoked: null }
      assert.deepEqual(created, { id: created.id, ...expected })
      assert.deepEqual(await ledger.tokens(id), [{ ...former, expires: NOW + 160 }, created])
      assert.equal((await ledger.findToken(hash))?.account.id, id)
      const entries = await ledger.audit({ email, from: null, to: null }, 0, 100)
      const { action, details } = entries.at(-1)!
      assert.deepEqual(
        [action, details],
        [
          'token.rotate',
          { token: former.id, name: 'laptop', until: NOW + 160, replacement: created.id, expires: NOW + 1060 },
        ],
      )
    },
  )

  on(engine, 'a token that expires before the end of the grace time is not extended', async ({ ledger }) => {
    const { id } = await made(ledger)
    const former = await ledger.as(TESTER).createToken(id, newToken('laptop', 1, NOW + 10), NOW)
    const { hash, hint } = newToken('', 2)
    await ledger
      .as(TESTER)
      .rotateToken(100, id, { token: former.id, replacement: { hash, hint }, until: NOW + 99 }, NOW)
    assert.equal((await ledger.tokens(id))[0]?.expires, NOW + 10)
  })

  on(
    engine,
    'only an active token of the account can be replaced, and otherwise nothing is written',
    async ({ ledger }) => {
      const { id } = await made(ledger)
      const other = await made(ledger, { email: 'other@example.com' })
      const tokens = [newToken('laptop', 1, NOW + 10), newToken('revoked', 2)]
      const [expired, revoked] = [
        await ledger.as(TESTER).createToken(id, tokens[0]!, NOW),
        await ledger.as(TESTER).createToken(id, tokens[1]!, NOW),
      ]
      await ledger.as(TESTER).revokeToken(id, revoked.id, NOW)
      const before = await ledger.tokens(id)
      const { hash, hint } = newToken('', 3)
      const attempts: [number, number, number][] = [
        [other.id, expired.id, NOW],
        [id, revoked.id, NOW],
        [id, expired.id, NOW + 10],
        [id, 4711, NOW],
      ]
      for (const [account, token, now] of attempts) {
        const rotation = { token, replacement: { hash, hint }, until: NOW + 99 }
        assert.equal(await ledger.as(TESTER).rotateToken(100, account, rotation, now), 'unknown_token')
      }
      assert.deepEqual(await ledger.tokens(id), before)
      assert.equal(await ledger.findToken(hash), null)
    },
  )

  on(engine, 'tokens that are active or less than a day old are limited', async ({ ledger }) => {
    const { id } = await made(ledger)
    const actor = ledger.as(TESTER)
    const create = (seed: number, now: number) => actor.createTokenWithin(2, id, newToken('laptop', seed), now)
    const first = await create(1, NOW)
    assert.ok(typeof first === 'object')
    const both = await Promise.all([create(2, NOW), create(3, NOW)])
    assert.equal(both.filter((each) => each === 'too_many_tokens').length, 1)
    await actor.revokeToken(id, first.id, NOW)
    assert.equal(await create(4, NOW + 86_399), 'too_many_tokens', 'the revoked one is less than a day old')
    const { hash, hint } = newToken('', 5)
    const active = (await ledger.tokens(id)).find(({ revoked }) => revoked === null)!
    const rotation = { token: active.id, replacement: { hash, hint }, until: NOW + 200_000 }
    assert.equal(await actor.rotateToken(2, id, rotation, NOW + 86_399), 'too_many_tokens')
    assert.equal(typeof (await actor.rotateToken(2, id, rotation, NOW + 86_400)), 'object')
    assert.equal(await create(6, NOW + 86_401), 'too_many_tokens', 'the replaced one is active')
  })

  on(engine, 'a use only moves last_used forward', async ({ ledger }) => {
    const { id } = await made(ledger)
    const token = await ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW)
    const note = { account: id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 1 }
    await ledger.recordUsage([{ ...note, lastCall: NOW + 9 }])
    await ledger.recordUsage([{ ...note, lastCall: NOW + 5 }])
    assert.deepEqual(await ledger.tokens(id), [{ ...token, last_used: NOW + 9 }])
  })
}
