/** The installation's secrets: one for all processes, and the former one is accepted for a day. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, NOW, on } from './engine.ts'

const DAY = 86_400
const NEW = 'n'.repeat(32)
const FORMER = 'f'.repeat(40)

export function secrets(engine: LedgerEngine): void {
  on(engine, 'the store generates one secret, which every process finds', async ({ ledger, another }) => {
    const handles = [ledger, await another(), await another()]
    const found = await Promise.all(handles.map((each) => each.secrets(NOW)))
    assert.equal(found[0]!.length, 1)
    assert.equal(found[0]![0]!.bytes.length, 32)
    for (const each of found) assert.deepEqual(each, found[0])
    assert.deepEqual(await ledger.secrets(NOW + 1000 * DAY), found[0])
  })

  on(engine, 'a new secret signs once every process knows it, 10 seconds later', async ({ ledger }) => {
    const [first] = await ledger.secrets(NOW)
    await ledger.as(TESTER).rotateSecret(NOW)
    assert.deepEqual((await ledger.secrets(NOW + 9))[0], first)
    const [second, former] = await ledger.secrets(NOW + 10)
    assert.notEqual(second!.number, first!.number)
    assert.deepEqual(former, first)
  })

  on(engine, 'a former secret is accepted for 24 hours', async ({ ledger }) => {
    const [first] = await ledger.secrets(NOW)
    await ledger.as(TESTER).rotateSecret(NOW + 100)
    const [second, ...others] = await ledger.secrets(NOW + 100 + DAY - 1)
    assert.notEqual(second!.number, first!.number)
    assert.deepEqual(others, [first])
    assert.deepEqual(await ledger.secrets(NOW + 100 + DAY), [second])
    await ledger.as(TESTER).rotateSecret(NOW + 200)
    const [third, ...formers] = await ledger.secrets(NOW + 210)
    assert.deepEqual(formers, [second, first])
    assert.notDeepEqual(third, second)
  })

  on(
    engine,
    'DOMAINDEX_SECRET provides the secrets, the former one second, and determines their numbers',
    async ({ ledger }) => {
      const [first, second, ...rest] = await ledger.secrets(NOW)
      assert.deepEqual(
        [first, second].map((secret) => Buffer.from(secret!.bytes).toString()),
        [NEW, FORMER],
      )
      assert.deepEqual(rest, [])
      assert.notEqual(first!.number, second!.number)
      await assert.rejects(ledger.as(TESTER).rotateSecret(NOW), /DOMAINDEX_SECRET/)
    },
    ` ${NEW} , ${FORMER} `,
  )

  on(
    engine,
    'a secret keeps its number when it becomes the former one',
    async ({ ledger }) => {
      const { close, ledger: later } = await engine.open({ now: NOW }, `${NEW},${FORMER}`)
      assert.deepEqual((await later.secrets(NOW))[1], (await ledger.secrets(NOW))[0])
      await close()
    },
    FORMER,
  )

  for (const [text, reason] of [
    ['short', /5 characters.*at least 32/],
    [`${NEW},short`, /5 characters.*at least 32/],
    [`${NEW},`, /0 characters.*at least 32/],
    [`${NEW},${FORMER},${NEW}`, /more than two/],
  ] as const) {
    test(`${engine.name}: DOMAINDEX_SECRET "${text}" is rejected with a clear message`, async () => {
      await assert.rejects(engine.open({ now: NOW }, text), (error: Error) => {
        assert.match(error.message, reason)
        assert.match(error.message, /DOMAINDEX_SECRET/)
        assert.ok(!error.message.includes(NEW))
        return true
      })
    })
  }
}
