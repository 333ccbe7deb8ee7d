/** Following a list of logs: it is read again, and logs come and go. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { followListedLogs, type ListFollowing } from '../../../src/fetch/ct/follow-logs.ts'
import type { CertificateLog } from '../../../src/fetch/ct/log.ts'
import { makeWorld } from '../../registrations/world.ts'
import { until } from '../../until.ts'
import { labEntries, openFollower } from './world.ts'

const REREAD_MS = 1

async function openList(t: TestContext) {
  const { store } = await makeWorld(t)
  const [first, second] = [await openFollower(t, await labEntries(3)), await openFollower(t, await labEntries(5))]
  const stop = new AbortController()
  const problems: string[] = []
  const state = {
    logs: [first.logOf('tiles')] as CertificateLog[] | Error,
    reads: 0,
    rounds: Promise.withResolvers<void>(),
  }
  const follow = (options: Partial<ListFollowing> = {}): Promise<void> =>
    followListedLogs({
      async readLogs() {
        state.reads++
        if (state.logs instanceof Error) throw state.logs
        return state.logs
      },
      onListProblem: ({ message }) => void problems.push(message),
      ...{
        store,
        holder: 'one',
        client: first.client,
        startBack: 100,
        keepsCertificates: false,
        isOnce: false,
        rereadMs: REREAD_MS,
      },
      optOut: { hasName: () => false },
      signal: stop.signal,
      async wait(milliseconds, signal) {
        signal.throwIfAborted()
        const isAborted = once(signal, 'abort')
        await (milliseconds === REREAD_MS ? Promise.race([isAborted, state.rounds.promise]) : isAborted)
      },
      onNames() {},
      onBatch() {},
      onProblem: (_, message) => void problems.push(message),
      ...options,
    })
  const positions = async (): Promise<number> =>
    (await store.certificateLogs.list()).filter(({ state: text }) => text !== null).length
  /** Ends the day. */
  const nextRound = (): void => {
    const { rounds } = state
    state.rounds = Promise.withResolvers<void>()
    rounds.resolve()
  }
  return { first, second, stop, problems, state, follow, positions, nextRound, store }
}

test('a log that is added to the list is followed from the next day on, and a list that fails changes nothing', async (t) => {
  const { first, second, stop, problems, state, follow, positions, nextRound } = await openList(t)
  const following = follow()
  await until(async () => (await positions()) === 1)
  state.logs = new Error('the list is away')
  nextRound()
  await until(() => problems.length === 1)
  assert.deepEqual([problems, state.reads], [['the list is away'], 2])
  state.logs = [first.logOf('tiles'), second.logOf('rfc6962')]
  nextRound()
  await until(async () => (await positions()) === 2)
  stop.abort()
  await following
  assert.deepEqual([problems.length, state.reads], [1, 3])
})

test('a log that is left out is followed again after it was taken back in, and the first list must be there', async (t) => {
  const { first, stop, problems, state, follow, positions, nextRound, store } = await openList(t)
  first.lab.faults = { wrongKey: true }
  const following = follow()
  await until(() => problems.length === 1)
  first.lab.faults = {}
  assert.ok(await store.certificateLogs.readmit(first.logOf('tiles').id))
  nextRound()
  await until(async () => (await positions()) === 1)
  stop.abort()
  await following
  state.logs = new Error('there is no list')
  await assert.rejects(follow({ signal: new AbortController().signal }), /there is no list/)
})

test('a failure of the store ends the following at once', async (t) => {
  const { follow, store } = await openList(t)
  const certificateLogs = {
    ...store.certificateLogs,
    lease: async () => {
      throw new Error('the store fails')
    },
  }
  await assert.rejects(follow({ store: { ...store, certificateLogs } }), /the store fails/)
})
