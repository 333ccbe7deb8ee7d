/** Several logs with a real store: leases, crashes, problems, and what becomes of the names. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { followLogs, type LogFollowing } from '../../../src/fetch/ct/follow-logs.ts'
import type { CertificateLog } from '../../../src/fetch/ct/log.ts'
import { parseFollowedState } from '../../../src/fetch/ct/stored-state.ts'
import { LOG_LEASE_SECONDS } from '../../../src/store/port/certificate-logs.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { makeWorld } from '../../registrations/world.ts'
import { until } from '../../until.ts'
import { LOG_TIME, labEntries, openFollower } from './world.ts'

const RENEWAL_MS = (1000 * LOG_LEASE_SECONDS) / 3
const NAMES = ['alice.github.io', 'bank.co.uk', 'deep.example', 'other.test', 'shop.example', 'xn--mnchen-3ya.example']

/** Waits an iteration of the event loop instead of the time, but until the signal for the renewal of a lease. */
function quickWait(onWait: (milliseconds: number) => void): LogFollowing['wait'] {
  return async (milliseconds, signal) => {
    signal.throwIfAborted()
    if (milliseconds === RENEWAL_MS) await once(signal, 'abort')
    else {
      onWait(milliseconds)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

async function openLogs(t: TestContext, count: number) {
  const { store, registrations } = await makeWorld(t)
  const { lab, client, logOf } = await openFollower(t, await labEntries(count))
  const problems: string[] = []
  const seen: string[] = []
  const follow = (logs: readonly CertificateLog[], options: Partial<LogFollowing> = {}): Promise<void> =>
    followLogs({
      ...{ logs, store, holder: 'one', client, startBack: 1_000_000, isOnce: true },
      keepsCertificates: false,
      optOut: { hasName: () => false },
      signal: new AbortController().signal,
      wait: quickWait(() => {}),
      onNames: (names) => void seen.push(...names),
      onBatch() {},
      onProblem: (_, message, isLeftOut) => void problems.push(`${isLeftOut ? 'left out: ' : ''}${message}`),
      ...options,
    })
  const known = async (): Promise<string[]> => (await store.schedule.names(null, 100)).toSorted()
  const positions = async (): Promise<(number | undefined)[]> =>
    (await store.certificateLogs.list()).map(({ state }) => parseFollowedState(state)?.position)
  return { store, registrations, lab, logOf, follow, problems, seen, known, positions }
}

test('certificates are stored once, without those of forgotten domains and of owners who opted out', async (t) => {
  for (const kind of ['tiles', 'rfc6962'] as const) {
    const { store, logOf, lab, follow, problems } = await openLogs(t, 40)
    const namedIn = async (domain: string) => (await store.inverse.namedHosts(parseName(domain)!, null, 9)).hosts
    await store.observations.forget(parseName('bank.co.uk')!)
    const optOut = { hasName: (name: string) => name === 'other.test' }
    await follow([logOf(kind)], { optOut })
    assert.deepEqual(await namedIn('shop.example'), [], 'only names are stored by default')
    lab.entries.push(...(await labEntries(20)))
    await follow([logOf(kind)], { optOut, keepsCertificates: true })
    const found = await namedIn('shop.example')
    assert.deepEqual(
      found.map(({ host }) => host),
      ['shop.example', '*.shop.example', 'www.shop.example'],
    )
    const [known] = await store.facts.certificates([found[0]!.sha256])
    assert.equal(known?.logged_at, LOG_TIME / 1000)
    assert.deepEqual(known?.certificate.names, ['*.shop.example', 'shop.example', 'www.shop.example'])
    for (const domain of ['bank.co.uk', 'other.test', 'deep.example']) assert.deepEqual(await namedIn(domain), [])
    assert.deepEqual(problems, [])
  }
})

test('the names of certificates become known and due, count on no day, and a second run reads only what is new', async (t) => {
  for (const kind of ['tiles', 'rfc6962'] as const) {
    const { store, registrations, lab, logOf, follow, problems, seen, known, positions } = await openLogs(t, 600)
    await store.observations.forget(parseName('bank.co.uk')!)
    const optOut = { hasName: (name: string) => name === 'other.test' }
    await follow([logOf(kind)], { optOut })
    const expected = NAMES.filter((name) => name !== 'bank.co.uk' && name !== 'other.test')
    assert.deepEqual([await known(), problems], [expected, []])
    assert.deepEqual(
      seen.toSorted(),
      NAMES.filter((name) => name !== 'other.test'),
    )
    const { count } = await store.schedule.due(0, 65_535, await store.now())
    assert.deepEqual([count.due, count.neverProbed], [4, 4])
    assert.deepEqual(await registrations.days(), [])
    lab.requests.length = 0
    lab.entries.push(...(await labEntries(3)))
    await follow([logOf(kind)], { optOut })
    assert.deepEqual(await positions(), [603])
    assert.ok(
      !lab.requests.some((path) => /start=0&|tile\/data\/000$/.test(path)),
      'the first entries are not read again',
    )
    const state = parseFollowedState((await store.certificateLogs.list())[0]!.state)!
    assert.deepEqual([state.entries, state.newNames], [603, 4])
  }
})

test('a process that dies between the names and the state repeats at most that batch', async (t) => {
  const { store, logOf, follow, known, positions } = await openLogs(t, 14_000)
  const log = logOf('tiles')
  for (let saves = 0; saves < 3; saves++) {
    let left = saves
    const certificateLogs: Store['certificateLogs'] = {
      ...store.certificateLogs,
      async save(lease, state) {
        if (left-- === 0) throw new Error('the process dies')
        return store.certificateLogs.save(lease, state)
      },
      release: async () => {},
    }
    await assert.rejects(follow([log], { store: { ...store, certificateLogs } }), /the process dies/)
    assert.deepEqual(await known(), NAMES)
    const [found] = await store.certificateLogs.list()
    await store.certificateLogs.release({ id: log.id, fence: saves + 1 }, null)
    assert.equal(found!.holder, 'one')
  }
  await follow([log])
  assert.deepEqual(await positions(), [14_000])
  const state = parseFollowedState((await store.certificateLogs.list())[0]!.state)!
  assert.equal(state.entries, 14_000, 'no entry counts twice')
})

test('two processes share the logs: each is read by one of them', async (t) => {
  const { store, logOf, follow, problems, positions } = await openLogs(t, 700)
  const other = await openFollower(t, await labEntries(300))
  const logs = [logOf('tiles'), other.logOf('rfc6962')]
  await store.certificateLogs.lease(logs[1]!, 'two')
  await follow(logs)
  assert.deepEqual(problems, ['another process reads it'])
  assert.deepEqual(
    (await positions()).filter((position) => position !== undefined),
    [700],
  )
})

test('a log that lies is left out with its reason until it is taken back in, and the others go on', async (t) => {
  const { store, lab, logOf, follow, problems, known } = await openLogs(t, 700)
  const good = await openFollower(t, await labEntries(300))
  lab.faults = { splitView: true }
  await follow([logOf('tiles'), good.logOf('tiles')])
  assert.deepEqual(problems, ['left out: its hash tiles do not fit its tree head'])
  assert.deepEqual(await known(), NAMES)
  lab.faults = {}
  await follow([logOf('tiles')])
  assert.equal(problems.length, 2)
  assert.equal(await store.certificateLogs.readmit(logOf('tiles').id), true)
  await follow([logOf('tiles')])
  assert.equal(problems.length, 2)
})

test('a busy log is asked again when it says so, at most three times if it is read once', async (t) => {
  const { lab, logOf, follow, problems } = await openLogs(t, 300)
  const waits: number[] = []
  const wait = quickWait((milliseconds) => waits.push(milliseconds))
  lab.faults = { status: 429, retryAfter: 90 }
  await follow([logOf('tiles')], { wait })
  assert.deepEqual(waits, [90_000, 90_000])
  lab.faults = { status: 503 }
  await follow([logOf('tiles')], { wait })
  assert.deepEqual([waits.slice(2), problems.length], [[10_000, 20_000], 6])
  lab.faults = {}
  await follow([logOf('tiles')], { wait })
  assert.equal(problems.length, 6)
})

test('without an end, new entries are read as they come, until the signal', async (t) => {
  const { lab, logOf, follow, known, positions } = await openLogs(t, 1)
  const stop = new AbortController()
  const following = follow([logOf('rfc6962')], { isOnce: false, signal: stop.signal })
  await until(async () => (await known()).length === 1)
  lab.entries.push(...(await labEntries(10)))
  await until(async () => (await positions())[0] === 11)
  stop.abort()
  await following
  assert.deepEqual(await known(), NAMES)
})
