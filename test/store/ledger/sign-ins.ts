/** Passwords, sessions, one-time links and counts of attempts. */

import assert from 'node:assert/strict'
import {
  MAX_SESSIONS,
  type NewOneTimeLink,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
} from '../../../src/accounts/session.ts'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, made, NOW, on } from './engine.ts'

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const newSession = (account: number, byte: number) => ({
  ...{ account, hash: hash(byte), browser: 'Firefox', address: '192.0.2.1' },
})
const link = (byte: number, more: Partial<NewOneTimeLink> = {}): NewOneTimeLink => ({
  ...{ hash: hash(byte), kind: 'password', account: null, email: null, expires: NOW + 60 },
  ...more,
})

export function signIns(engine: LedgerEngine): void {
  passwords(engine)
  sessions(engine)
  links(engine)
  attempts(engine)
}

function passwords(engine: LedgerEngine): void {
  on(engine, 'a password is set and replaced, and the audit log names the change, not the hash', async (world) => {
    const { ledger, another } = world
    const { id, email } = await made(ledger)
    assert.equal(await ledger.password(id), null)
    assert.equal(await ledger.as(TESTER).setPassword(id + 1, 'x', null, NOW), false)
    for (const password of ['$argon2id$one', '$argon2id$two']) {
      assert.equal(await ledger.as(TESTER).setPassword(id, password, null, NOW), true)
      assert.equal(await (await another()).password(id), password)
    }
    const entries = await ledger.audit({ email, from: null, to: null }, 0, 10)
    assert.deepEqual(
      entries
        .filter(({ action }) => action === 'account.password')
        .map(({ account, details }) => ({ account, details })),
      [1, 2].map(() => ({ account: id, details: {} })),
    )
  })

  on(engine, 'a new password ends the sessions except one, and the links of the account', async ({ ledger }) => {
    const [ann, bob] = [await made(ledger), await made(ledger, { email: 'bob@example.com' })]
    const kept = await ledger.createSession(newSession(ann.id, 1), NOW)
    await ledger.createSession(newSession(ann.id, 2), NOW)
    const other = await ledger.createSession(newSession(bob.id, 3), NOW)
    await ledger.createLink(link(1, { account: ann.id }), NOW)
    await ledger.createLink(link(2, { account: bob.id }), NOW)
    await ledger.as(TESTER).setPassword(ann.id, 'x', kept.id, NOW)
    assert.deepEqual(await ledger.sessions(ann.id), [kept])
    assert.deepEqual(await ledger.sessions(bob.id), [other])
    assert.equal(await ledger.takeLink(hash(1), 'password', NOW), null)
    assert.notEqual(await ledger.takeLink(hash(2), 'password', NOW), null)
    await ledger.as(TESTER).setPassword(ann.id, 'y', null, NOW)
    assert.deepEqual(await ledger.sessions(ann.id), [])
  })

  on(engine, 'there is an operator if an admin has a password and is not suspended', async ({ ledger }) => {
    const changes = ledger.as(TESTER)
    const user = await made(ledger)
    await changes.setPassword(user.id, 'x', null, NOW)
    const admin = await made(ledger, { email: 'admin@example.com', role: 'admin' })
    assert.equal(await ledger.hasOperator(), false)
    await changes.setPassword(admin.id, 'x', null, NOW)
    assert.equal(await ledger.hasOperator(), true)
    await changes.suspendAccount(admin.id, NOW)
    assert.equal(await ledger.hasOperator(), false)
    assert.deepEqual(await ledger.accountById(user.id), user)
    assert.equal(await ledger.accountById(999), null)
  })
}

function sessions(engine: LedgerEngine): void {
  on(engine, 'a session identifies its account in every process until it ends', async ({ ledger, another }) => {
    const other = await another()
    const account = await made(ledger, { plan: 'basic', addons: ['export'] })
    const session = await ledger.createSession(newSession(account.id, 1), NOW)
    const rest = { browser: 'Firefox', address: '192.0.2.1' }
    assert.deepEqual(session, { ...rest, id: session.id, account: account.id, created: NOW, last_used: NOW })
    for (const each of [ledger, other]) {
      assert.deepEqual(await each.findSession(hash(1)), { account, session })
      assert.equal(await each.findSession(hash(2)), null)
    }
    await other.touchSession(session.id, NOW + 60)
    await ledger.touchSession(session.id, NOW + 30)
    assert.equal((await ledger.findSession(hash(1)))?.session.last_used, NOW + 60)
    assert.equal(await ledger.endSession(account.id + 1, session.id), false)
    assert.equal(await ledger.endSession(account.id, session.id), true)
    assert.equal(await ledger.endSession(account.id, session.id), false)
    assert.equal(await other.findSession(hash(1)), null)
    await assert.rejects(ledger.createSession(newSession(account.id + 1, 2), NOW), /there is no account/)
  })

  on(engine, 'a new session removes those that have ended, and the oldest above the maximum', async ({ ledger }) => {
    const { id } = await made(ledger)
    await ledger.createSession(newSession(id, 1), NOW)
    const used = await ledger.createSession(newSession(id, 2), NOW)
    await ledger.touchSession(used.id, NOW + 10)
    await ledger.createSession(newSession(id, 3), NOW + SESSION_IDLE_SECONDS)
    assert.deepEqual(
      (await ledger.sessions(id)).map(({ created }) => created),
      [NOW, NOW + SESSION_IDLE_SECONDS],
    )
    const last = NOW + SESSION_MAX_SECONDS
    await ledger.touchSession(used.id, last)
    for (let byte = 4; byte < 4 + MAX_SESSIONS; byte++) await ledger.createSession(newSession(id, byte), last)
    const left = await ledger.sessions(id)
    assert.equal(left.length, MAX_SESSIONS)
    assert.ok(left.every(({ created }) => created === last))
  })

  on(engine, 'the sessions of an account end together, and with their account', async ({ ledger }) => {
    const { id } = await made(ledger)
    const [first, second] = [
      await ledger.createSession(newSession(id, 1), NOW),
      await ledger.createSession(newSession(id, 2), NOW),
    ]
    await ledger.endSessions(id, second.id)
    assert.deepEqual(await ledger.sessions(id), [second])
    assert.notEqual(first.id, second.id)
    await ledger.endSessions(id, null)
    assert.deepEqual(await ledger.sessions(id), [])
    await ledger.createSession(newSession(id, 3), NOW)
    await ledger.createLink(link(3, { account: id }), NOW)
    await ledger.as(TESTER).setPassword(id, 'x', null, NOW)
    await ledger.createSession(newSession(id, 4), NOW)
    await ledger.as(TESTER).deleteAccount(id)
    assert.deepEqual(await ledger.sessions(id), [])
    assert.equal(await ledger.password(id), null)
    assert.equal(await ledger.findSession(hash(4)), null)
  })
}

function links(engine: LedgerEngine): void {
  on(engine, 'a link is valid once, for its kind, until it expires', async ({ ledger, another }) => {
    const signUp = link(1, { kind: 'sign-up', email: 'new@example.com' })
    await ledger.createLink(signUp, NOW)
    assert.equal(await ledger.takeLink(hash(1), 'password', NOW), null)
    const taken = { kind: 'sign-up', account: null, email: 'new@example.com' } as const
    const handles = [ledger, await another(), await another()]
    const results = await Promise.all(handles.map((each) => each.takeLink(hash(1), 'sign-up', NOW + 59)))
    assert.deepEqual(
      results.filter((result) => result !== null),
      [taken],
    )
    await ledger.createLink(signUp, NOW)
    assert.equal(await ledger.takeLink(hash(1), 'sign-up', NOW + 60), null)
    assert.equal(await ledger.takeLink(hash(1), 'sign-up', NOW), null)
  })
}

function attempts(engine: LedgerEngine): void {
  on(engine, 'attempts are counted by key over all processes, until the count ends', async ({ ledger, another }) => {
    const limits = [
      { key: 'client 192.0.2.0/24', seconds: 60 },
      { key: 'account 1', seconds: 600 },
    ]
    const keys = limits.map(({ key }) => key)
    const handles = [ledger, await another()]
    const counted = await Promise.all([...handles, ...handles].map((each) => each.countAttempt(limits, NOW)))
    assert.deepEqual(counted.map(([first]) => first).sort(), [1, 2, 3, 4])
    assert.deepEqual(await ledger.attempts([...keys, 'other'], NOW + 59), [4, 4, 0])
    assert.deepEqual(await ledger.attempts(keys, NOW + 60), [0, 4])
    assert.deepEqual(await ledger.countAttempt(limits, NOW + 60), [1, 5])
    await ledger.clearAttempts(['account 1'])
    assert.deepEqual(await ledger.attempts(keys, NOW + 60), [1, 0])
  })
}
