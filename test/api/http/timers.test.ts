/** Work with a time limit leaves no timer behind. */

import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { withTimeout } from '../../../src/api/http/timers.ts'

/** Returns the number of timers created by `work` and not cleared at its end. */
async function timersLeft(work: () => Promise<void>): Promise<number> {
  const open = new Set<number>()
  let made = 0
  const hook = createHook({
    init: (id, type) => {
      if (type === 'Timeout') made += open.add(id) ? 1 : 0
    },
    destroy: (id) => void open.delete(id),
  }).enable()
  await work()
  for (let turns = 0; turns < 3; turns++) await turn()
  hook.disable()
  assert.ok(made > 0)
  return open.size
}

test('work that ends or fails in time leaves no timer', async () => {
  const left = await timersLeft(async () => {
    assert.equal(await withTimeout(Promise.resolve(7), 60_000), 7)
    await assert.rejects(withTimeout(Promise.reject(new Error('in vain')), 60_000), /in vain/)
  })
  assert.equal(left, 0)
})

test('work that takes longer gives null', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late = withTimeout(new Promise<never>(() => {}), 60_000)
  t.mock.timers.tick(60_000)
  assert.equal(await late, null)
})
