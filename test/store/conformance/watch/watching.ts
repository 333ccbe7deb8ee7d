/** Tests of watches and events: each change that a watch matches is an event, once and in order. */

import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import type { Account } from '../../../../src/accounts/account.ts'
import { addNames } from '../../../../src/registrations/add-names.ts'
import { SYSTEM_CLOCK } from '../../../../src/server/system-clock.ts'
import { indexOnce } from '../../../../src/similar/index/run-indexer.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { EVENT_SECONDS, type StoredEvent } from '../../../../src/store/port/watch/events.ts'
import type { OwnWatch } from '../../../../src/store/port/watch/watches.ts'
import type { Certificate } from '../../../../src/values/certificate/certificate.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import type { WatchRule } from '../../../../src/watch/watch.ts'
import { inForm } from '../../../long.ts'
import { TESTER } from '../../../tester.ts'
import { CERTIFICATES, type Event, history, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { batchSizes, property, testProperties } from '../histories.ts'
import { dns, ingestAll, minute, NOW, name, seen, testWithStore, web } from '../world.ts'
import { type ModelRow, WatchModel } from './watch-model.ts'

const rule = (kind: WatchRule['kind'], value: string, types: WatchRule['types'] = null): WatchRule => ({
  kind,
  value,
  threshold: kind === 'text' ? 50 : kind === 'lookalikes' ? 60 : null,
  types,
})

const POOL: readonly WatchRule[] = [
  rule('name', 'a.example'),
  rule('name', 'b.example', ['new', 'status']),
  rule('suffix', 'example'),
  rule('suffix', 'b.example'),
  rule('pattern', '*.exa*'),
  rule('pattern', 'c-d*', ['records']),
  rule('pattern', '*exampl?', ['new']),
  rule('address', '192.0.2.10'),
  rule('address', '192.0.2.0/29'),
  rule('address', '2001:db8::/126'),
  rule('nameserver', 'one.example'),
  rule('mailserver', 'example'),
  rule('redirect', 'u.example'),
  rule('redirect', 'b.t.example'),
  rule('certificate', 'b.example'),
  rule('text', 'a.example'),
  { ...rule('text', 'c.example'), threshold: 90 },
]

type Step = Event | { add: DomainName[] } | { turn: number; to: 'watched' | 'removed' | 'muted' }

/** A history with names of lists, and watches that are created, removed and muted between its events. */
const steps: fc.Arbitrary<Step[]> = fc
  .tuple(
    history([...NAMES, name('x.b.example')], 40),
    fc.array(
      fc.tuple(
        fc.nat(40),
        fc.oneof(
          fc.subarray([...NAMES], { minLength: 1 }).map((add) => ({ add })),
          fc.record({
            turn: fc.nat(POOL.length - 1),
            to: fc.constantFrom('watched' as const, 'watched' as const, 'removed' as const, 'muted' as const),
          }),
        ),
      ),
      { maxLength: 24, size: 'max' },
    ),
  )
  .map(([events, others]) => {
    const all: Step[] = events.filter((event) => 'forget' in event || event.dns !== null || event.web !== null)
    for (const [at, other] of others) all.splice(Math.min(at, all.length), 0, other)
    return all
  })

const BATCHES = inForm(20, 100)
const BATCH_NAMES = 3

async function createAccount(store: Pick<Store, 'ledger'>, email: string): Promise<Account> {
  const account = { email, role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
  return (await store.ledger.as(TESTER).createAccount(account, NOW))!
}

async function createWatch(store: Pick<Store, 'ledger'>, account: number, given: WatchRule): Promise<OwnWatch> {
  const created = await store.ledger.createWatch(100, account, given, NOW)
  assert.ok(typeof created !== 'string', String(created))
  return created
}

async function addAll(store: Store, names: DomainName[]): Promise<void> {
  const batches = (async function* () {
    yield names
  })()
  const context = { store, signal: new AbortController().signal, onAdded: () => {} }
  await addNames(batches, { insertsUnknown: true, makesDue: false }, context)
}

async function allEvents(store: Pick<Store, 'events'>, account: number, limit = 1_000): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (;;) {
    const page = await store.events.events(account, all.at(-1)?.number ?? 0, limit)
    if (page.length === 0) return all
    all.push(...page)
  }
}

async function allEventsBackward(store: Pick<Store, 'events'>, account: number, limit: number): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (;;) {
    const page = await store.events.eventsBefore(account, all.at(-1)?.number ?? null, limit)
    if (page.length === 0) return all
    all.push(...page)
  }
}

/** The differences of events one by one, as the model has them. */
function rowsOf(events: readonly StoredEvent[]): ModelRow[] {
  return events.flatMap(({ watch, name, observed_at, differences }) =>
    (JSON.parse(differences) as Record<string, unknown>[]).map((difference) => {
      const { after } = difference as { after?: Certificate | null }
      const isCertificate = difference.type === 'certificate' && after
      const short = isCertificate ? { ...difference, after: { sha256: after.sha256, names: after.names } } : difference
      return { watch: watch!, name: name!, observed_at, text: JSON.stringify(short) }
    }),
  )
}

/** The rows by watch and name, each group in its order. */
function grouped(rows: readonly ModelRow[]): Record<string, string[]> {
  const groups = Map.groupBy(rows, (row) => `${row.watch} ${row.name}`)
  const texts = [...groups].map(([key, group]) => [key, group.map(({ observed_at, text }) => `${observed_at} ${text}`)])
  return Object.fromEntries(texts.sort())
}

const differencesOf = ({ differences }: StoredEvent) => JSON.parse(differences)

/** Applies the steps by two instances of a store in turn. Returns the accounts, which have the watches in turn. */
async function apply(stores: readonly Store[], model: WatchModel, given: readonly Step[], sizes: number[]) {
  const accounts = [await createAccount(stores[0]!, 'a@example.com'), await createAccount(stores[0]!, 'b@example.com')]
  const known = new Map<number, OwnWatch & { account: number }>()
  let rest = given
  for (let turn = 0; rest.length > 0; turn++) {
    const store = stores[turn % stores.length]!
    const [first] = rest
    const size = sizes[turn % sizes.length]!
    const isEnd = rest.slice(0, size).findIndex((step) => !('domain' in step))
    const batch = rest.slice(0, isEnd < 0 ? size : isEnd).filter((step) => 'domain' in step)
    rest = rest.slice(Math.max(1, batch.length))
    if (batch.length > 0) {
      await ingest(store, batch)
      for (const each of batch) model.observe(each)
    } else if (first !== undefined && 'forget' in first) {
      await store.observations.forget(first.forget)
      model.forget(first.forget)
    } else if (first !== undefined && 'add' in first) {
      await addAll(store, first.add)
      for (const each of first.add) model.addName(each)
    } else if (first !== undefined && 'turn' in first) {
      const watch = known.get(first.turn)
      const account = accounts[first.turn % 2]!.id
      const given = POOL[first.turn]!
      if (watch === undefined) {
        const created = await createWatch(store, account, given)
        known.set(first.turn, { ...created, account })
        model.watches.set(created.id, given)
      } else if (first.to === 'removed') {
        assert.equal(await store.ledger.removeWatch(account, watch.id), true)
        known.delete(first.turn)
        model.watches.delete(watch.id)
      } else {
        const isMuted = first.to === 'muted'
        assert.equal((await store.ledger.muteWatch(account, watch.id, isMuted, NOW))?.muted, isMuted ? NOW : null)
        if (isMuted) model.watches.delete(watch.id)
        else model.watches.set(watch.id, given)
      }
    }
  }
  return accounts
}

export function watching(engine: Engine): void {
  const runs = Math.min(engine.runs ?? inForm(15, 60), 60)
  testProperties({ ...engine, runs }, [
    property(
      'each change that a watch matches is one event, in order, whichever instance writes it and in batches of any size',
      [steps, batchSizes, fc.integer({ min: 1, max: 4 })],
      async (opened, given, sizes, limit) => {
        const model = new WatchModel(NOW)
        const watched = POOL.map((_, turn) => ({ turn, to: 'watched' as const }))
        const stores = [opened.store, await opened.another()]
        const accounts = await apply(stores, model, [...watched.slice(0, 12), ...given], sizes)
        const events = await Promise.all(accounts.map(({ id }) => allEvents(opened.store, id, limit)))
        assert.deepEqual(grouped(events.flatMap(rowsOf)), grouped(model.rows))
        for (const [index, { id }] of accounts.entries())
          assert.deepEqual(await allEventsBackward(opened.store, id, limit), events[index]!.toReversed())
        for (const ofAccount of events)
          assert.ok(ofAccount.every(({ number }, at) => at === 0 || number > ofAccount[at - 1]!.number))
      },
    ),
  ])

  testWithStore(
    engine,
    'a reader that continues after the last event misses none of two concurrent writers',
    async (store, opened) => {
      const { id } = await createAccount(store, 'a@example.com')
      await createWatch(store, id, rule('suffix', 'example'))
      const writers = [store, await opened.another()]
      const reader = await opened.another()
      const read: StoredEvent[] = []
      const readOn = async (): Promise<void> => {
        read.push(...(await reader.events.events(id, read.at(-1)?.number ?? 0, 100)))
      }
      let isWriting = true
      const writing = writers.map(async (writer, which) => {
        for (let batch = 0; batch < BATCHES; batch++) {
          const names = Array.from({ length: BATCH_NAMES }, (_, n) => `n${which}-${batch}-${n}.example`)
          await ingest(
            writer,
            names.map((each) => seen(each, 1, dns({ A: ['192.0.2.1'] }))),
          )
        }
      })
      const ended = Promise.all(writing).finally(() => {
        isWriting = false
      })
      while (isWriting) await readOn().then(() => nextTurn())
      await ended
      for (let length = -1; length < read.length; ) {
        length = read.length
        await readOn()
      }
      const numbers = read.map(({ number }) => number)
      assert.deepEqual(
        numbers,
        [...new Set(numbers)].sort((a, b) => a - b),
      )
      assert.equal(new Set(read.map((event) => event.name)).size, 2 * BATCHES * BATCH_NAMES)
      assert.equal(read.length, 2 * BATCHES * BATCH_NAMES)
    },
  )

  testWithStore(engine, 'an event says when it was written and when the change was observed', async (store) => {
    const { id } = await createAccount(store, 'a@example.com')
    const watch = await createWatch(store, id, rule('name', 'a.example'))
    await addAll(store, [name('a.example')])
    await ingestAll(store, [
      seen('a.example', 5, dns({ A: ['192.0.2.1'] })),
      seen('a.example', 4, dns({ A: ['192.0.2.9'] })),
      seen('a.example', 6, dns({ A: ['192.0.2.1', '192.0.2.2'] })),
    ])
    const events = await allEvents(store, id)
    const common = { watch: watch.id, name: 'a.example', time: NOW }
    assert.deepEqual(
      events.map(({ number: _, differences, ...event }) => ({ ...event, differences: JSON.parse(differences) })),
      [
        { ...common, observed_at: null, differences: [{ type: 'new' }] },
        {
          ...common,
          observed_at: minute(5),
          differences: [{ type: 'records', record_type: 'A', added: [{ ipv4_address: '192.0.2.1' }], removed: [] }],
        },
        {
          ...common,
          observed_at: minute(6),
          differences: [{ type: 'records', record_type: 'A', added: [{ ipv4_address: '192.0.2.2' }], removed: [] }],
        },
      ],
    )
    assert.equal(await store.events.lastEvent(), events.at(-1)!.number)
    assert.deepEqual(await store.ledger.watch(id, watch.id), watch)
    assert.equal(await store.ledger.watch(id + 1, watch.id), null)
    assert.deepEqual(await store.events.events(id + 1, 0, 10), [])
  })

  testWithStore(engine, 'each change of a name that looks like a brand is an event', async (store) => {
    const { id } = await createAccount(store, 'a@example.com')
    const { id: watch } = await createWatch(store, id, rule('lookalikes', 'google.com'))
    const others = ['google.com', 'mail.google.com', 'googol-map.com', 'coogle.com']
    for (const each of ['gooogle.com', 'xn--ggle-55da.com', ...others]) await addAll(store, [name(each)])
    const resolved = dns({ A: ['192.0.2.1'] })
    await ingestAll(store, [seen('gooogle.com', 1, resolved), seen('coogle.com', 1, resolved)])
    const events = (await allEvents(store, id)).map((event) => [event.watch, event.name, differencesOf(event)[0].type])
    assert.deepEqual(events, [
      [watch, 'gooogle.com', 'new'],
      [watch, 'xn--ggle-55da.com', 'new'],
      [watch, 'gooogle.com', 'records'],
    ])
    await store.ledger.removeWatch(id, watch)
    await addAll(store, [name('googlle.com')])
    assert.equal((await allEvents(store, id)).length, 3)
  })

  testWithStore(engine, 'the single names of all watches are read in pages, without muted ones', async (store) => {
    const { ledger } = store
    const accounts = [await createAccount(store, 'a@example.com'), await createAccount(store, 'b@example.com')]
    const [a, b] = accounts.map(({ id }) => id) as [number, number]
    const first = await createWatch(store, a, rule('name', 'a.example'))
    await createWatch(store, a, rule('suffix', 'a.example'))
    const second = await createWatch(store, b, rule('text', 'b.example'))
    const third = await createWatch(store, b, rule('name', 'a.example'))
    const all = [
      { id: first.id, account: a, name: 'a.example' },
      { id: second.id, account: b, name: 'b.example' },
      { id: third.id, account: b, name: 'a.example' },
    ]
    assert.deepEqual(await ledger.watchedNames(0, 10), all)
    assert.deepEqual(await ledger.watchedNames(0, 2), all.slice(0, 2))
    assert.deepEqual(await ledger.watchedNames(second.id, 2), all.slice(2))
    await ledger.muteWatch(b, third.id, true, NOW)
    assert.deepEqual(await ledger.watchedNames(second.id, 2), [])
  })

  testWithStore(engine, 'a certificate of a log is an event once, for the names in it', async (store) => {
    const { id } = await createAccount(store, 'a@example.com')
    await createWatch(store, id, rule('certificate', 'b.example'))
    const logged = CERTIFICATES.map((certificate, n) => ({ certificate, logged_at: minute(n) }))
    for (const _ of [1, 2]) await store.observations.addLogged([...logged, ...logged])
    const found = (await allEvents(store, id)).map((event) => ({
      name: event.name,
      observed_at: event.observed_at,
      sha256: differencesOf(event)[0].after.sha256,
    }))
    const of = (n: number) => ({ name: null, observed_at: minute(n), sha256: CERTIFICATES[n]!.sha256 })
    assert.deepEqual(
      found.sort((a, b) => a.observed_at! - b.observed_at!),
      [of(1), of(2)],
    )
  })

  testWithStore(engine, 'the events of a deleted account end with its watches', async (store, opened) => {
    const writer = await opened.another()
    const { id } = await createAccount(store, 'a@example.com')
    await createWatch(store, id, rule('name', 'a.example'))
    await ingestAll(writer, [seen('a.example', 1, dns({ A: ['192.0.2.1'] }))])
    await store.ledger.as(TESTER).deleteAccount(id)
    await ingestAll(writer, [seen('a.example', 2, dns({ A: ['192.0.2.2'] }))])
    assert.equal((await allEvents(store, id)).length, 1)
    assert.deepEqual(await store.ledger.watches(id), [])
  })

  testWithStore(
    engine,
    'events are read for 30 days, and old ones are deleted by later ones',
    async (store, _, clock) => {
      const { id } = await createAccount(store, 'a@example.com')
      const other = await createAccount(store, 'b@example.com')
      await createWatch(store, id, rule('name', 'a.example'))
      await createWatch(store, other.id, rule('name', 'b.example'))
      await ingestAll(store, [seen('a.example', 1, dns({ A: ['192.0.2.1'] }))])
      const [first] = await allEvents(store, id)
      clock.now = NOW + EVENT_SECONDS - 1
      assert.deepEqual(await allEvents(store, id), [first])
      clock.now = NOW + EVENT_SECONDS
      assert.deepEqual(await allEvents(store, id), [])
      await ingestAll(store, [seen('b.example', 1, dns({ A: ['192.0.2.1'] }))])
      clock.now = NOW
      assert.deepEqual(await allEvents(store, id), [])
    },
  )

  testWithStore(engine, 'an account has a number of watches, each kind and value once', async (store) => {
    const { id } = await createAccount(store, 'a@example.com')
    const other = await createAccount(store, 'b@example.com')
    const { ledger } = store
    const first = await createWatch(store, id, rule('name', 'a.example'))
    assert.equal(await ledger.createWatch(2, id, rule('name', 'a.example', ['new']), NOW), 'known_watch')
    const second = await createWatch(store, id, rule('suffix', 'a.example', ['new', 'records']))
    assert.deepEqual(second.types, ['new', 'records'])
    assert.equal(await ledger.createWatch(2, id, rule('name', 'b.example'), NOW), 'too_many_watches')
    const lookalikes = rule('lookalikes', 'google.com')
    assert.equal(await ledger.createWatch(11, id, lookalikes, NOW), 'too_many_watches')
    assert.ok(await ledger.removeWatch(id, (await createWatch(store, id, lookalikes)).id))
    assert.deepEqual(await ledger.watches(id), [first, second])
    assert.equal(await ledger.removeWatch(other.id, first.id), false)
    assert.equal(await ledger.muteWatch(other.id, first.id, true, NOW), null)
    assert.equal(await ledger.removeWatch(id, first.id), true)
    assert.deepEqual(await ledger.watches(id), [second])
    assert.deepEqual(await ledger.watches(other.id), [])
  })

  testWithStore(engine, 'the highest number stays when the newest event is removed', async (store) => {
    const { id } = await createAccount(store, 'a@example.com')
    await createWatch(store, id, rule('suffix', 'example'))
    for (const each of ['a.example', 'b.example']) await ingestAll(store, [seen(each, 1, dns({ A: ['192.0.2.1'] }))])
    const [first, second] = await allEvents(store, id)
    await store.observations.forget(name('b.example'))
    assert.equal(await store.events.lastEvent(), first!.number)
    assert.equal(await store.events.highestNumber(), second!.number)
  })

  testWithStore(
    engine,
    'the text of a start page is compared with the one before, whether that is indexed or waits for it',
    async (store) => {
      const { id } = await createAccount(store, 'a@example.com')
      await createWatch(store, id, rule('text', 'a.example'))
      const texts = ['one two three four', 'one two three five', 'six seven', '', 'one']
      for (const [at, text] of texts.entries()) {
        await ingestAll(store, [seen('a.example', at + 1, null, web({ has_website: true, text: text || null }))])
        const reporter = { progress: () => {} }
        const indexer = { store, holder: 'a test', clock: SYSTEM_CLOCK, reporter }
        if (at === 0) await indexOnce(indexer, new AbortController().signal)
      }
      assert.deepEqual((await allEvents(store, id)).flatMap(differencesOf), [
        { type: 'text', percent: 100 },
        { type: 'text', percent: 100 },
      ])
    },
  )
}
