/** Tests of certificate logs: one follower holds a log, and its state is saved only under the newest lease. */

import assert from 'node:assert/strict'
import { type LeasedLog, LOG_LEASE_SECONDS } from '../../../../src/store/port/certificate-logs.ts'
import type { Engine } from '../engine.ts'
import { NOW, testWithStore } from '../world.ts'

const LOG = { id: 'bG9nIDE=', url: 'https://log.example/2026/' }
const OTHER = { id: 'bG9nIDI=', url: 'https://a.example/' }

export function certificateLogs(engine: Engine): void {
  testWithStore(engine, 'a log has one holder, whose state the next one continues', async (store, opened, clock) => {
    const [one, { certificateLogs: two }] = [store.certificateLogs, await opened.another()]
    const first = (await one.lease(LOG, 'a'))!
    assert.equal(first.state, null)
    assert.equal(await two.lease(LOG, 'b'), null)
    assert.equal(await one.save(first.lease, '{"position":7}'), true)
    clock.now += LOG_LEASE_SECONDS - 1
    assert.equal(await one.renew(first.lease), true)
    clock.now += LOG_LEASE_SECONDS - 1
    assert.equal(await two.lease(LOG, 'b'), null)
    clock.now++
    const second = (await two.lease(LOG, 'b'))!
    assert.deepEqual([second.state, second.lease.fence > first.lease.fence], ['{"position":7}', true])
    assert.deepEqual([await one.save(first.lease, 'late'), await one.renew(first.lease)], [false, false])
    await one.release(first.lease, 'late')
    assert.deepEqual(await one.list(), [{ ...LOG, state: '{"position":7}', savedAt: NOW, problem: null, holder: 'b' }])
    await two.release(second.lease, null)
    assert.equal((await one.list())[0]!.holder, null)
    assert.notEqual(await one.lease({ ...LOG, url: 'https://moved.example/' }, 'a'), null)
    assert.equal((await one.list())[0]!.url, 'https://moved.example/')
  })

  testWithStore(
    engine,
    'a log that is left out is leased again only after it is taken back in, and then begins anew',
    async (store) => {
      const { certificateLogs: logs } = store
      const { lease } = (await logs.lease(LOG, 'a'))!
      await logs.save(lease, 'state')
      await logs.lease(OTHER, 'a')
      await logs.release(lease, 'its head went back')
      assert.equal(await logs.lease(LOG, 'a'), null)
      assert.deepEqual(
        (await logs.list()).map(({ url, problem, holder }) => [url, problem, holder]),
        [
          [OTHER.url, null, 'a'],
          [LOG.url, 'its head went back', null],
        ],
      )
      assert.deepEqual([await logs.readmit(OTHER.id), await logs.readmit('unknown')], [false, false])
      assert.deepEqual([await logs.readmit(LOG.id), await logs.readmit(LOG.id)], [true, false])
      assert.equal((await logs.lease(LOG, 'b'))!.state, null)
    },
  )

  testWithStore(engine, 'of several followers that lease a log at once, one gets it', async (store, opened, clock) => {
    const followers = [store.certificateLogs, (await opened.another()).certificateLogs]
    for (let round = 0; round < 10; round++) {
      const leased = await Promise.all(
        [0, 1, 0, 1].map((which, index) => followers[which]!.lease(LOG, `holder ${index}`)),
      )
      const held = leased.filter((each): each is LeasedLog => each !== null)
      assert.equal(held.length, 1)
      clock.now += LOG_LEASE_SECONDS
    }
  })
}
