/** The ledger of operators: their tokens, answers to repeated requests, and the newest entries of the audit log. */

import assert from 'node:assert/strict'
import { ANSWER_SECONDS } from '../../../../src/store/port/accounts/operator.ts'
import { TESTER } from '../../../tester.ts'
import { ANN, type LedgerEngine, NOW, newToken, on } from '../engine.ts'

const ALL = { email: null, from: null, to: null }
const hash = (byte: number) => new Uint8Array(32).fill(byte)
const KEY = { holder: 'token 1', key: 'order-4711' }
const ANSWER = { status: 201, body: '{"id":1}' }
/** More keys than a test uses. */
const MANY = 100

export function operators(engine: LedgerEngine): void {
  tokens(engine)
  answers(engine)
  lists(engine)
}

function tokens(engine: LedgerEngine): void {
  on(engine, 'a token of an operator is found until it is revoked, by every process', async ({ ledger, another }) => {
    const by = ledger.as(TESTER)
    const shop = await by.createOperatorToken(newToken('shop', 1, NOW + 60), NOW)
    const other = await by.createOperatorToken(newToken('other', 2), NOW)
    assert.deepEqual(shop, {
      id: shop.id,
      name: 'shop',
      hint: 'dxt_abcd',
      created: NOW,
      expires: NOW + 60,
      last_used: null,
      revoked: null,
    })
    const elsewhere = await another()
    assert.deepEqual(await elsewhere.operatorTokens(), [shop, other])
    assert.deepEqual(await elsewhere.findOperatorToken(hash(1)), shop)
    assert.equal(await elsewhere.findOperatorToken(hash(3)), null)
    assert.equal(await elsewhere.findToken(hash(1)), null, 'it is no token of an account')
    await elsewhere.touchOperatorToken(shop.id, NOW + 5)
    await ledger.touchOperatorToken(shop.id, NOW + 4)
    assert.equal(await elsewhere.as(TESTER).revokeOperatorToken(shop.id, NOW + 6), true)
    assert.equal(await by.revokeOperatorToken(shop.id, NOW + 7), false)
    assert.equal(await by.revokeOperatorToken(4711, NOW), false)
    assert.deepEqual(await ledger.findOperatorToken(hash(1)), { ...shop, last_used: NOW + 5, revoked: NOW + 6 })
  })

  on(engine, 'the audit log has the tokens of operators, without their digests', async ({ ledger }) => {
    const by = ledger.as(TESTER)
    const { id } = await by.createOperatorToken(newToken('shop', 1), NOW)
    await by.revokeOperatorToken(id, NOW + 1)
    const entries = await ledger.audit(ALL, 0, 10)
    assert.deepEqual(
      entries.map(({ action, actor, account, details }) => [action, actor, account, details]),
      [
        ['operator_token.create', TESTER.user, null, { token: id, name: 'shop', expires: null }],
        ['operator_token.revoke', TESTER.user, null, { token: id, name: 'shop' }],
      ],
    )
  })
}

function answers(engine: LedgerEngine): void {
  on(engine, 'of concurrent requests with one key, one is new; later ones get its answer', async (world) => {
    const { ledger, another } = world
    const handles = [ledger, await another(), await another()]
    const claims = await Promise.all(handles.map((each) => each.claimAnswer(MANY, KEY, hash(1), NOW)))
    assert.deepEqual(claims.sort(), ['claimed', 'unanswered', 'unanswered'])
    await handles[1]!.storeAnswer(KEY, ANSWER)
    assert.deepEqual(await handles[2]!.claimAnswer(MANY, KEY, hash(1), NOW + ANSWER_SECONDS - 1), ANSWER)
    assert.equal(await ledger.claimAnswer(MANY, KEY, hash(2), NOW + 1), 'other_request')
    assert.equal(await ledger.claimAnswer(MANY, { ...KEY, holder: 'token 2' }, hash(2), NOW), 'claimed')
    await ledger.releaseAnswer(KEY)
    assert.deepEqual(await ledger.claimAnswer(MANY, KEY, hash(1), NOW + 1), ANSWER, 'an answer is not released')
  })

  on(engine, 'a key that is released, or a day old, is new again', async ({ ledger }) => {
    assert.equal(await ledger.claimAnswer(MANY, KEY, hash(1), NOW), 'claimed')
    await ledger.releaseAnswer(KEY)
    assert.equal(await ledger.claimAnswer(MANY, KEY, hash(2), NOW), 'claimed')
    await ledger.storeAnswer(KEY, ANSWER)
    assert.equal(await ledger.claimAnswer(MANY, KEY, hash(3), NOW + ANSWER_SECONDS), 'claimed')
    assert.equal(await ledger.claimAnswer(MANY, KEY, hash(3), NOW + ANSWER_SECONDS), 'unanswered')
  })

  on(engine, 'the keys of an operator are limited, and those of others are not', async ({ ledger }) => {
    for (const key of ['a', 'b']) assert.equal(await ledger.claimAnswer(2, { ...KEY, key }, hash(1), NOW), 'claimed')
    assert.equal(await ledger.claimAnswer(2, KEY, hash(1), NOW), 'too_many')
    assert.equal(await ledger.claimAnswer(2, { ...KEY, key: 'a' }, hash(1), NOW), 'unanswered')
    assert.equal(await ledger.claimAnswer(2, { ...KEY, holder: 'token 2' }, hash(1), NOW), 'claimed')
    assert.equal(await ledger.claimAnswer(2, KEY, hash(1), NOW + ANSWER_SECONDS), 'claimed')
  })
}

function lists(engine: LedgerEngine): void {
  on(engine, 'accounts are listed by the start of their address, page by page', async ({ ledger }) => {
    for (const name of ['anna', 'ann', 'bob', 'an', 'anne'])
      await ledger.as(TESTER).createAccount({ ...ANN, email: `${name}@example.com` }, NOW)
    const read = async (after: string | null, limit: number, prefix?: string) =>
      (await ledger.accounts(after, limit, prefix)).map(({ email }) => email.split('@')[0])
    assert.deepEqual(await read(null, 9, 'ann'), ['ann', 'anna', 'anne'])
    assert.deepEqual(await read(null, 9, 'ANN@'.toLowerCase()), ['ann'])
    assert.deepEqual(await read('ann@example.com', 1, 'ann'), ['anna'])
    assert.deepEqual(await read('anne@example.com', 9, 'ann'), [])
    assert.deepEqual(await read(null, 9, 'x'), [])
    assert.deepEqual(await read(null, 9), ['an', 'ann', 'anna', 'anne', 'bob'])
  })

  on(engine, 'the audit log is read from its newest entry, page by page', async ({ ledger }) => {
    for (const [place, name] of ['ann', 'bob', 'cid'].entries())
      await ledger.as(TESTER).createAccount({ ...ANN, email: `${name}@example.com` }, NOW + place)
    const read = async (filter: object, before: number | null, limit: number) =>
      await ledger.recentAudit({ ...ALL, ...filter }, before, limit)
    const names = (entries: { email: string | null }[]) => entries.map(({ email }) => email?.split('@')[0])
    const first = await read({}, null, 2)
    assert.deepEqual(names(first), ['cid', 'bob'])
    assert.deepEqual(names(await read({}, first[1]!.id, 2)), ['ann'])
    assert.deepEqual(names(await read({ email: 'bob@example.com' }, null, 9)), ['bob'])
    assert.deepEqual(names(await read({ from: NOW + 1, to: NOW + 2 }, null, 9)), ['bob'])
    assert.deepEqual(first[0]?.details, { plan: 'free', role: 'user', periods: [], addons: [] })
  })
}
