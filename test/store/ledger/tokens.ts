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

  on(engine, 'a use only moves last_used forward', async ({ ledger }) => {
    const { id } = await made(ledger)
    const token = await ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW)
    const note = { account: id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 1 }
    await ledger.recordUsage([{ ...note, lastCall: NOW + 9 }])
    await ledger.recordUsage([{ ...note, lastCall: NOW + 5 }])
    assert.deepEqual(await ledger.tokens(id), [{ ...token, last_used: NOW + 9 }])
  })
}
