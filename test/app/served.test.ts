/** The session paths of a real server: several workers, one ledger. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hashSecret } from '../../src/accounts/session.ts'
import { csrfToken, SESSION_COOKIE } from '../../src/api/auth/session-authenticator.ts'
import { makeAccount, observe, serverOf } from '../api/server.ts'
import { until } from '../until.ts'

type Created = { token: { id: number }; secret: string }

test('a token that one worker creates works in every worker, and the usage of all is one', async (t) => {
  const { serve, withStore } = serverOf(t)
  const secret = randomBytes(32).toString('base64url')
  await withStore(async (store) => {
    const { account } = await makeAccount(store, 'basic')
    await observe(store, { domain: 'one.example', observed_at: '2026-01-01T00:00:00Z' })
    const session = { account: account.id, browser: 'a browser', address: '127.0.0.1', hash: hashSecret(secret)! }
    await store.ledger.createSession(session, Math.floor(Date.now() / 1000))
  })
  const { address } = await serve()
  const headers = { Cookie: `${SESSION_COOKIE}=${secret}`, 'X-CSRF-Token': csrfToken(secret), Connection: 'close' }
  const send = (path: string, method = 'GET', body: object | null = null) =>
    fetch(`${address}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })

  const first = (await (await send('/app/tokens', 'POST', { name: 'first' })).json()) as Created
  const rotated = await send(`/app/tokens/${first.token.id}/rotate`, 'POST', { grace_hours: 1 })
  assert.equal(rotated.status, 201)
  const second = (await rotated.json()) as Created
  for (let call = 0; call < 6; call++)
    for (const each of [first, second]) {
      const bearer = { Authorization: `Bearer ${each.secret}`, Connection: 'close' }
      assert.equal((await fetch(`${address}/domain/one.example`, { headers: bearer })).status, 200)
    }
  assert.equal((await send('/app/api/lookup?query=one.example')).status, 200)
  const usage = await until(async () => {
    const csv = (await (await send('/app/usage.csv')).text()).trim().split('\n').slice(1)
    const rows = csv.map((row) => row.split(','))
    const callsOf = (id: number) =>
      rows.reduce((sum, [, , token, , calls]) => (Number(token) === id ? sum + Number(calls) : sum), 0)
    const calls = [0, first.token.id, second.token.id].map(callsOf)
    return calls[0]! + calls[1]! + calls[2]! === 13 ? calls : null
  })
  assert.deepEqual(usage, [1, 6, 6])
  assert.equal((await send(`/app/tokens/${second.token.id}`, 'DELETE')).status, 204)
  await until(async () => {
    const bearer = { Authorization: `Bearer ${second.secret}`, Connection: 'close' }
    return (await fetch(`${address}/account/quota`, { headers: bearer })).status === 401
  })
})
