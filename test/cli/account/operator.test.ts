/** Tests `domaindex operator token`: create, list and revoke. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Command } from 'commander'
import { hashToken, OPERATOR_TOKEN_PREFIX, parseToken } from '../../../src/accounts/token.ts'
import { defineOperator } from '../../../src/cli/account/tokens.ts'
import { json, look, newStore, run } from './account.ts'

/** Runs `domaindex operator token … --json` and returns its output. */
async function operator(t: TestContext, ...argv: string[]) {
  const log = t.mock.method(console, 'log', () => {})
  const command = new Command('operator').exitOverride().configureOutput({ writeErr: () => {} })
  defineOperator(command)
  for (const each of command.commands.flatMap(({ commands }) => commands))
    each.exitOverride().configureOutput({ writeErr: () => {} })
  try {
    await command.parseAsync(['token', ...argv, '--json'], { from: 'user' })
    return JSON.parse(log.mock.calls.map((call) => call.arguments.join(' ')).join('\n'))
  } finally {
    log.mock.restore()
  }
}

test('a token of an operator is created, listed without its text, found, and revoked', async (t) => {
  const url = newStore(t)
  await run(t, 'create', 'ann@example.com')
  const created = await operator(t, 'create', 'shop', '--expires', '2999-01-01')
  assert.deepEqual([created.name, created.expires, created.active], ['shop', '2999-01-01T00:00:00Z', true])
  assert.match(created.token, /^dxo_[0-9A-Za-z]{33}$/)
  const hash = hashToken(parseToken(created.token, OPERATOR_TOKEN_PREFIX)!)
  assert.equal((await look(url, ({ ledger }) => ledger.findOperatorToken(hash)))?.id, created.id)
  assert.equal(parseToken(created.token), null, 'it is no token of an account')
  const { tokens } = await operator(t, 'list')
  assert.deepEqual([tokens.length, tokens[0].token, tokens[0].hint], [1, undefined, created.token.slice(0, 8)])
  assert.equal((await operator(t, 'revoke', String(created.id))).active, false)
  await assert.rejects(operator(t, 'revoke', String(created.id)), /no active token/)
  const { log } = await json(t, 'log')
  const actions = log.map(({ action }: { action: string }) => action)
  assert.deepEqual(actions.slice(-2), ['operator_token.create', 'operator_token.revoke'])
})

test('a token of an operator is selected by its id only, and does not start expired', async (t) => {
  newStore(t)
  await run(t, 'create', 'ann@example.com')
  const { token } = await operator(t, 'create', 'shop')
  await assert.rejects(operator(t, 'revoke', token), /by its id/)
  await assert.rejects(operator(t, 'revoke', 'shop'), /the id of a token/)
  await assert.rejects(operator(t, 'create', 'late', '--expires', '2020-01-01'), /already have expired/)
})
