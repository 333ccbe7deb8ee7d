/** Operators for the tests of /admin/v1: tokens of operators, sessions of operators, and their requests. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { makeToken, newTokenRecord, OPERATOR_TOKEN_PREFIX, TOKEN_BYTES } from '../../src/accounts/token.ts'
import { type Visitor, visit } from '../app/sessions.ts'
import { validator } from '../spec/validator.ts'
import type { Seen, World } from '../spec/world.ts'
import { TESTER } from '../tester.ts'

export type TestOperator = {
  /** The ID of the token. */
  id: number
  secret: string
  send(path: string, how?: { method?: string; body?: object; key?: string }): Promise<Seen>
  /** The text of a file that succeeds. */
  download(path: string): Promise<{ headers: Headers; text: string }>
  /** The JSON of a request that succeeds. */
  read<Body>(path: string, how?: { method?: string; body?: object; key?: string }): Promise<Body>
}

/** An operator with a token. Paths start after `/admin/v1`. Every response must match the document of these paths. */
export async function operatorOf(world: World, expires: number | null = null): Promise<TestOperator> {
  const secret = makeToken(randomBytes(TOKEN_BYTES), OPERATOR_TOKEN_PREFIX)
  const { id } = await world.store.ledger
    .as(TESTER)
    .createOperatorToken(newTokenRecord(secret, 'shop', expires), world.clock.now)
  const check = validator(await (await fetch(`${world.address}/admin/openapi.json`)).json())
  const send: TestOperator['send'] = async (path, { method = 'GET', body, key } = {}) => {
    const seen = await world.send(`/admin/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${secret}`, ...(key !== undefined && { 'Idempotency-Key': key }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (seen.text !== '') check(`/admin/v1${path}`, method, seen.status, seen.body)
    return seen
  }
  return {
    id,
    secret,
    send,
    async download(path) {
      const headers = { Authorization: `Bearer ${secret}` }
      const response = await fetch(`${world.address}/admin/v1${path}`, { headers })
      assert.equal(response.status, 200)
      return { headers: response.headers, text: await response.text() }
    },
    async read<Body>(path: string, how = {}) {
      const seen = await send(path, how)
      assert.ok(seen.status < 300, `${path}: ${seen.status} ${seen.text}`)
      return seen.body as Body
    },
  }
}

/** A session of an account with the role `admin`. */
export async function visitAsOperator(world: World): Promise<Visitor> {
  const { account } = await world.account()
  await world.store.ledger.as(TESTER).setRole(account.id, 'admin')
  return visit(world, { ...account, role: 'admin' })
}
