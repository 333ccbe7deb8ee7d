/** Watched names become due as often as the plans of their accounts say, on a real store. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Plan } from '../../../src/accounts/account.ts'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import { keepWatchedNamesDue, makeWatchedNamesDue } from '../../../src/server/crawl/watched-names.ts'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { WatchRule } from '../../../src/watch/watch.ts'
import { dns, name, seen } from '../../store/conformance/world.ts'
import { TESTER } from '../../tester.ts'

const HOUR = 3_600
const { signal } = new AbortController()

async function world(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-watched-'))
  const clock = { now: 1_763_640_000 }
  const url = `sqlite:${join(folder, 'store.db')}`
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => clock.now })
  t.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  const observe = (text: string): Promise<unknown> =>
    ingest(store, [{ ...seen(text, 0, dns({ A: ['192.0.2.1'] })), observed_at: clock.now }])
  const dueAt = async (text: string): Promise<number | null> => {
    const [state] = await store.observations.crawlStates([name(text)])
    return state!.version === 0 ? null : state!.due
  }
  const names = { store, limits: DEFAULT_PLAN_LIMITS, optOut: { hasName: () => false }, onFault: assert.fail }
  return { store, clock, observe, dueAt, names }
}

async function watchBy(store: Store, plan: Plan, kind: WatchRule['kind'], value: string): Promise<number> {
  const email = `${plan}-${value}@example.com`
  const account = { email, role: 'user' as const, plan, periods: [], addons: [] }
  const { id } = (await store.ledger.as(TESTER).createAccount(account, 1))!
  const rule: WatchRule = { kind, value, threshold: kind === 'text' ? 20 : null, types: null }
  assert.ok(typeof (await store.ledger.createWatch(10, id, rule, 1)) === 'object')
  return id
}

test('a watched name is due after the hours of the shortest plan, and not before', async (t) => {
  const { store, clock, observe, dueAt, names } = await world(t)
  for (const each of ['premium.example', 'basic.example', 'free.example', 'both.example']) await observe(each)
  await watchBy(store, 'premium', 'name', 'premium.example')
  await watchBy(store, 'basic', 'text', 'basic.example')
  await watchBy(store, 'free', 'name', 'free.example')
  await watchBy(store, 'basic', 'name', 'both.example')
  await watchBy(store, 'premium', 'text', 'both.example')
  const start = clock.now
  const later = async (hours: number): Promise<string[]> => {
    clock.now = start + hours * HOUR
    await makeWatchedNamesDue(names, new Map(), signal)
    const due = await Promise.all(
      ['premium.example', 'basic.example', 'free.example', 'both.example'].map(async (each) =>
        (await dueAt(each))! <= clock.now ? [each] : [],
      ),
    )
    return due.flat()
  }
  assert.deepEqual(await later(5.9), [])
  assert.deepEqual(await later(6), ['premium.example', 'both.example'])
  await observe('premium.example')
  assert.deepEqual(await later(11), ['both.example'])
  assert.deepEqual(await later(24), ['premium.example', 'basic.example', 'both.example'])
})

test('an unknown watched name is added, unless its owner opted out or the account is suspended', async (t) => {
  const { store, dueAt, names } = await world(t)
  await watchBy(store, 'basic', 'name', 'new.example')
  await watchBy(store, 'basic', 'name', 'closed.example')
  await watchBy(store, 'basic', 'suffix', 'suffix.example')
  const suspended = await watchBy(store, 'premium', 'name', 'suspended.example')
  await store.ledger.as(TESTER).suspendAccount(suspended, 2)
  const optOut = { hasName: (each: DomainName) => each === 'closed.example' }
  await makeWatchedNamesDue({ ...names, optOut }, new Map(), signal)
  const all = ['new.example', 'closed.example', 'suffix.example', 'suspended.example']
  assert.deepEqual(await Promise.all(all.map(dueAt)), [0, null, null, null])
})

test('a name that cannot be probed is asked for once in its interval', async (t) => {
  const { store, clock, observe, dueAt, names } = await world(t)
  await observe('a.example')
  await watchBy(store, 'premium', 'name', 'a.example')
  const postpone = async (): Promise<void> => {
    const [state] = await store.observations.crawlStates([name('a.example')])
    await store.observations.save([{ state: { ...state!, due: clock.now + 100 * HOUR }, facts: null }])
  }
  clock.now += 6 * HOUR
  const requested = await makeWatchedNamesDue(names, new Map(), signal)
  assert.equal(await dueAt('a.example'), clock.now)
  await postpone()
  clock.now += 5 * HOUR
  assert.deepEqual(await makeWatchedNamesDue(names, requested, signal), requested)
  assert.ok((await dueAt('a.example'))! > clock.now)
  clock.now += HOUR
  await makeWatchedNamesDue(names, requested, signal)
  assert.equal(await dueAt('a.example'), clock.now)
})

test('passes follow each other until the signal, also after a fault', async (t) => {
  const { store, clock, dueAt, names } = await world(t)
  await watchBy(store, 'basic', 'name', 'new.example')
  const ended = new AbortController()
  const faults: unknown[] = []
  let passes = 0
  const ledger = new Proxy(store.ledger, {
    get: (target, key) =>
      key === 'watchedNames' && passes === 0
        ? () => Promise.reject(new Error('away'))
        : Reflect.get(target, key, target),
  })
  const wait = async (milliseconds: number): Promise<void> => {
    clock.now += milliseconds / 1_000
    if (++passes === 2) ended.abort()
  }
  const broken = {
    ...names,
    store: { ...store, ledger, now: store.now },
    onFault: (fault: unknown) => faults.push(fault),
  }
  await keepWatchedNamesDue(broken, { monotonicMs: () => 0, wait }, ended.signal)
  assert.deepEqual([faults.length, passes, await dueAt('new.example')], [1, 2, 0])
})
