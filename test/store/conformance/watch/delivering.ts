/** Tests of webhooks: whatever the receiver answers and whichever process dies, no event is lost, and each is sent once. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { RETRY_SECONDS } from '../../../../src/delivery/retry-schedule.ts'
import { Deliverer } from '../../../../src/delivery/sending/deliverer.ts'
import type { Attempt } from '../../../../src/delivery/sending/webhook-sender.ts'
import { openWebhookKey, sealWebhookKey } from '../../../../src/delivery/webhook-key.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { Delivery, OwnWebhook } from '../../../../src/store/port/watch/webhooks.ts'
import { type Instant, SECONDS_PER_DAY } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import { TESTER } from '../../../tester.ts'
import type { Clock, Engine, Opened } from '../engine.ts'
import { dns, NOW, seen, testWithStore } from '../world.ts'

const KEY = Buffer.alloc(24, 7)
const HOUR = 3_600
/** Seconds for which a claim is held. */
const CLAIM_SECONDS = 60

/** More events than attempts in three days. */
const EVENTS_OF_DAYS = 120

/** What the receiver answers. `odd`: it refuses each third event. */
const ANSWERS = {
  ok: { status: 200 },
  odd: { status: 200 },
  failing: { status: 500 },
  busy: { status: 503, retryAfter: 90 },
  gone: { status: 410 },
  moved: { status: 302 },
  silent: { status: null },
  refusing: { status: null },
} as const satisfies Record<string, { status: number | null; retryAfter?: number }>
type Answer = keyof typeof ANSWERS

type Step =
  | { events: number }
  | { answer: Answer }
  | { pass: number }
  | { look: readonly (0 | 1)[] }
  | { kill: 0 | 1 }
  | { redeliver: true }
  | { test: true }

const STEP_KINDS: Record<string, fc.Arbitrary<Step>> = {
  events: fc.record({ events: fc.integer({ min: 1, max: 4 }) }),
  answer: fc.record({ answer: fc.constantFrom(...(Object.keys(ANSWERS) as Answer[])) }),
  pass: fc.record({ pass: fc.constantFrom(1, 6, 61, 301, HOUR, 5 * HOUR, SECONDS_PER_DAY) }),
  look: fc.record({ look: fc.constantFrom([0], [1], [0, 1], [0, 1]) as fc.Arbitrary<readonly (0 | 1)[]> }),
  kill: fc.record({ kill: fc.constantFrom(0, 1) as fc.Arbitrary<0 | 1> }),
  redeliver: fc.constant({ redeliver: true }),
  test: fc.constant({ test: true }),
}
const steps = fc.array(
  fc.oneof(
    { arbitrary: STEP_KINDS.look!, weight: 5 },
    { arbitrary: STEP_KINDS.pass!, weight: 3 },
    { arbitrary: STEP_KINDS.events!, weight: 2 },
    { arbitrary: STEP_KINDS.answer!, weight: 2 },
    STEP_KINDS.kill!,
    STEP_KINDS.redeliver!,
    STEP_KINDS.test!,
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
)

/** A receiver and two deliverers on two instances of a store. */
class World {
  answer: Answer = 'ok'
  /** The numbers of the events that were accepted, of those whose success was recorded, and of first attempts. */
  readonly accepted = new Set<number>()
  readonly recorded = new Set<number>()
  readonly attempted: number[] = []
  account = 0
  watch = 0
  webhook = 0
  attempts = 0
  /** What happens while an event is sent, by its number. */
  readonly whileSent = new Map<number, () => Promise<void>>()
  #minute = 0
  #sending = false
  readonly #clock: Clock
  readonly #stores: readonly Store[]
  readonly #deliverers: Deliverer[]
  readonly #killed = [false, false]

  private constructor(clock: Clock, stores: readonly Store[]) {
    this.#clock = clock
    this.#stores = stores
    this.#deliverers = stores.map((_, which) => this.#deliverer(which))
  }

  static async open(clock: Clock, { store, another }: Opened): Promise<World> {
    const world = new World(clock, [store, await another()])
    const account = { email: 'a@example.com', role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
    world.account = (await store.ledger.as(TESTER).createAccount(account, NOW))!.id
    const rule = { kind: 'name', value: 'a.example', threshold: null, types: null } as const
    const watch = await store.ledger.createWatch(10, world.account, rule, NOW)
    world.watch = typeof watch === 'string' ? 0 : watch.id
    const key = sealWebhookKey(await store.ledger.secrets(NOW), KEY)
    const webhook = { url: 'https://receiver.example/', watches: null, key, seen: 0 }
    world.webhook = (await store.ledger.createWebhook(1, world.account, webhook, NOW))!.id
    return world
  }

  get store(): Store {
    return this.#stores[0]!
  }

  #deliverer(which: number): Deliverer {
    const store = this.#stores[which]!
    const sent: number[] = []
    const ledger = new Proxy(store.ledger, {
      get: (target, key) => {
        if (key !== 'recordDeliveries') return Reflect.get(target, key)
        return async (...values: Parameters<Store['ledger']['recordDeliveries']>) => {
          if (this.#killed[which]) throw new Error('killed')
          const [, { failed }, now] = values
          for (const { due, since } of failed)
            assert.ok(due !== null || now - since >= RETRY_SECONDS, `dead after ${now - since} seconds`)
          const isRecorded = await target.recordDeliveries(...values)
          if (isRecorded) for (const number of sent) this.recorded.add(number)
          sent.length = 0
          return isRecorded
        }
      },
    })
    return new Deliverer({
      store: { ledger, events: store.events, now: store.now },
      holder: `deliverer ${which}`,
      send: (_url, headers, body) => this.#receive(headers, body, sent),
      monotonicMs: () => this.#clock.now * 1_000,
      random: () => 0.5,
      onFault: (fault) => assert.equal((fault as Error).message, 'killed'),
    })
  }

  async #receive(headers: Record<string, string>, body: string, sent: number[]): Promise<Attempt> {
    assert.equal(this.#sending, false, 'two processes send at once')
    this.#sending = true
    await nextTurn()
    this.#sending = false
    this.attempts++
    const { 'webhook-id': id, 'webhook-timestamp': time } = headers
    const signature = createHmac('sha256', KEY).update(`${id}.${time}.${body}`).digest('base64')
    assert.equal(headers['webhook-signature'], `v1,${signature}`)
    const { data, type } = JSON.parse(body)
    const isTest = type === 'webhook.test'
    const number = isTest ? 0 : (data.id as number)
    assert.ok(!this.recorded.has(number), `event ${number} is sent again after its success was recorded`)
    await this.whileSent.get(number)?.()
    if (!isTest && !this.attempted.includes(number)) this.attempted.push(number)
    const { status } = this.answer === 'odd' && number % 3 === 0 ? ANSWERS.failing : ANSWERS[this.answer]
    const isDelivered = status === 200
    if (isDelivered && !isTest) {
      this.accepted.add(number)
      sent.push(number)
    }
    const error = isDelivered ? null : `answer ${this.answer}`
    return { isDelivered, status, error, retryAfter: this.answer === 'busy' ? ANSWERS.busy.retryAfter : null }
  }

  async addEvents(count: number): Promise<void> {
    const observations = Array.from({ length: count }, () => {
      this.#minute++
      return seen('a.example', this.#minute, dns({ A: [`192.0.2.${this.#minute % 250}`] }))
    })
    await ingest(this.store, observations)
  }

  pass(seconds: number): void {
    this.#clock.now += seconds
  }

  async look(...which: readonly number[]): Promise<void> {
    await Promise.all(
      which.map(async (each) => {
        await this.#deliverers[each]!.look()
        await this.#deliverers[each]!.idle()
      }),
    )
  }

  /** Both processes look, while one of them may be sending. */
  async lookMeanwhile(): Promise<void> {
    for (const deliverer of this.#deliverers) await deliverer.look()
  }

  /** A process dies after it has sent and before it has recorded that, and another one starts. */
  async kill(which: number): Promise<void> {
    this.#killed[which] = true
    await this.look(which)
    this.#killed[which] = false
    this.#deliverers[which] = this.#deliverer(which)
  }

  async do(step: Step): Promise<void> {
    if ('events' in step) await this.addEvents(step.events)
    else if ('answer' in step) this.answer = step.answer
    else if ('pass' in step) this.pass(step.pass)
    else if ('look' in step) await this.look(...step.look)
    else if ('kill' in step) await this.kill(step.kill)
    else if ('test' in step) await this.store.ledger.requestTest(this.account, this.webhook, this.#clock.now)
    else await this.store.ledger.redeliver(this.account, this.webhook, null, this.#clock.now)
  }

  /** The receiver answers again. A test ends that it is disabled, and a day is enough for the rest. */
  async recover(): Promise<void> {
    this.answer = 'ok'
    this.pass(CLAIM_SECONDS)
    await this.store.ledger.requestTest(this.account, this.webhook, this.#clock.now)
    for (const [turn, seconds] of [0, 0, 6, HOUR, SECONDS_PER_DAY + HOUR, HOUR].entries()) {
      this.pass(seconds)
      await this.look(turn % 2)
    }
  }

  async numbers(): Promise<number[]> {
    return (await this.store.events.events(this.account, 0, 1_000)).map(({ number }) => number)
  }

  async own(): Promise<OwnWebhook> {
    return (await this.store.ledger.webhooks(this.account))[0]!
  }

  async failed(): Promise<Delivery[]> {
    return (await this.store.ledger.deliveries(this.account, this.webhook))!
  }
}

async function withWorld(engine: Engine, work: (world: World) => Promise<void>): Promise<void> {
  const clock = { now: NOW }
  const opened = await engine.open(clock)
  try {
    await work(await World.open(clock, opened))
    assert.deepEqual(await opened.check(), [])
  } finally {
    await opened.close()
  }
}

/** A test with a world, whose clock is that of its store. */
function testWorld(engine: Engine, sentence: string, work: (world: World, store: Store) => Promise<void>): void {
  test(sentence, () => withWorld(engine, (world) => work(world, world.store)))
}

export function delivering(engine: Engine): void {
  test('the steps of deliveries have every kind of step and answer', () => {
    const sampled = fc.sample(steps, 200).flat()
    for (const kind of Object.keys(STEP_KINDS))
      assert.ok(
        sampled.some((step) => kind in step),
        kind,
      )
    for (const answer of Object.keys(ANSWERS))
      assert.ok(
        sampled.some((step) => 'answer' in step && step.answer === answer),
        answer,
      )
  })

  test('each event arrives at least once if the receiver answers again, none after its success was recorded, and what failed for three days is dead', () =>
    fc.assert(
      fc.asyncProperty(steps, (given) =>
        withWorld(engine, async (world) => {
          for (const step of given) await world.do(step)
          await world.recover()
          const dead = await world.failed()
          const known = new Set([...world.accepted, ...dead.map(({ event }) => event)])
          assert.deepEqual(
            (await world.numbers()).filter((number) => !known.has(number)),
            [],
          )
          assert.ok(
            dead.every(({ due }) => due === null),
            'nothing waits any more',
          )
          assert.deepEqual(
            world.attempted,
            world.attempted.toSorted((a, b) => a - b),
          )
          assert.equal((await world.own()).failing_since, null)
        }),
      ),
      { numRuns: inForm(10, 100) },
    ))

  testWorld(
    engine,
    'a receiver that is down is tried rarely, and gets all events when it answers again',
    async (world) => {
      world.answer = 'refusing'
      await world.addEvents(20)
      for (let minutes = 0; minutes < 5 * 60; minutes++) {
        await world.look(0)
        world.pass(60)
      }
      assert.ok(world.attempts >= 5 && world.attempts <= 20, `${world.attempts} attempts`)
      const { failing_since, paused_until, waiting } = await world.own()
      assert.deepEqual([failing_since, waiting < 20], [NOW, true])
      assert.ok(paused_until > NOW)
      world.answer = 'ok'
      world.pass(HOUR)
      for (let looks = 0; looks < 3; looks++) await world.look(0)
      assert.deepEqual(
        [...world.accepted].toSorted((a, b) => a - b),
        await world.numbers(),
      )
      assert.deepEqual(await world.failed(), [])
    },
  )

  testWorld(
    engine,
    'one event that is always refused stops no other one, and is dead after three days',
    async (world) => {
      await world.addEvents(7)
      world.answer = 'odd'
      await world.look(0)
      const refused = (await world.numbers()).filter((number) => number % 3 === 0)
      assert.deepEqual((await world.failed()).map(({ event }) => event).toReversed(), refused)
      assert.equal(world.accepted.size, 7 - refused.length)
      for (let hours = 0; hours < 74; hours++) {
        world.pass(HOUR)
        await world.look(0)
      }
      const dead = await world.failed()
      assert.deepEqual(
        dead.map(({ due, attempts }) => [due, attempts]),
        refused.map(() => [null, 10]),
      )
      assert.deepEqual([(await world.own()).waiting, (await world.own()).dead], [0, refused.length])
      world.answer = 'ok'
      assert.equal(
        await world.store.ledger.redeliver(world.account, world.webhook, refused[0]!, await world.store.now()),
        1,
      )
      await world.look(0)
      assert.deepEqual(
        [...world.accepted].toSorted((a, b) => a - b),
        await world.numbers().then((all) => all.filter((number) => number === refused[0] || !refused.includes(number))),
      )
    },
  )

  testWorld(engine, 'events that waited for three days while the receiver was down are dead', async (world) => {
    world.answer = 'silent'
    await world.addEvents(EVENTS_OF_DAYS)
    for (let hours = 0; hours < 80; hours++) {
      await world.look(0)
      world.pass(HOUR)
    }
    const { waiting, dead } = await world.own()
    assert.deepEqual([waiting, dead], [0, EVENTS_OF_DAYS])
    assert.ok((await world.failed()).some(({ tried }) => tried === null))
  })

  testWorld(engine, 'a receiver that is gone gets nothing until a test succeeds', async (world, store) => {
    world.answer = 'gone'
    await world.addEvents(2)
    await world.look(0)
    assert.deepEqual([world.attempts, (await world.own()).disabled], [1, NOW])
    world.answer = 'ok'
    world.pass(SECONDS_PER_DAY)
    await world.look(0)
    assert.equal(world.attempts, 1)
    const test = (await store.ledger.requestTest(world.account, world.webhook, await store.now()))!
    await world.look(1)
    const result = JSON.parse((await store.ledger.testResult(world.account, world.webhook, test))!)
    assert.deepEqual([result.delivered, result.status], [true, 200])
    await world.look(0)
    assert.deepEqual(
      [...world.accepted].toSorted((a, b) => a - b),
      await world.numbers(),
    )
  })

  testWorld(engine, 'what an account no longer wants is not sent', async (world, store) => {
    const { account, watch, webhook } = world
    await world.addEvents(1)
    await store.ledger.muteWatch(account, watch, true, NOW)
    await world.look(0)
    assert.equal(world.attempts, 0)
    await store.ledger.muteWatch(account, watch, false, NOW)
    world.answer = 'failing'
    await world.addEvents(2)
    await world.look(0)
    assert.equal(world.attempts, 2)
    await store.ledger.as(TESTER).suspendAccount(account, NOW)
    world.pass(6)
    await world.look(0)
    assert.equal(world.attempts, 2)
    await store.ledger.as(TESTER).resumeAccount(account)
    world.pass(301)
    await store.ledger.removeWatch(account, watch)
    await world.look(0)
    assert.deepEqual([world.attempts, await world.failed()], [2, []])
    await store.ledger.as(TESTER).deleteAccount(account)
    assert.deepEqual(
      [await store.ledger.webhooks(account), await store.ledger.deliveries(account, webhook)],
      [[], null],
    )
    await world.look(0)
  })

  testWorld(engine, 'a webhook with watches gets their events only', async (world, store) => {
    const other = await store.ledger.createWatch(
      10,
      world.account,
      { kind: 'pattern', value: 'a.exam*', threshold: null, types: null },
      NOW,
    )
    assert.ok(typeof other !== 'string')
    const key = sealWebhookKey(await store.ledger.secrets(NOW), KEY)
    await store.ledger.removeWebhook(world.account, world.webhook)
    await store.ledger.createWebhook(
      1,
      world.account,
      { url: 'https://receiver.example/', watches: [other.id], key, seen: 0 },
      NOW,
    )
    await world.addEvents(2)
    await world.look(0)
    const events = await store.events.events(world.account, 0, 100)
    assert.equal(events.length, 4)
    assert.deepEqual(
      [...world.accepted],
      events.filter(({ watch }) => watch === other.id).map(({ number }) => number),
    )
  })

  testWorld(
    engine,
    'a process that was too slow records nothing, because another one has taken over',
    async (world, store) => {
      const { ledger } = store
      const outcome = {
        seen: 1,
        health: {
          failures: 0,
          failing_since: null,
          last_success: NOW,
          last_error: null,
          paused_until: 0,
          disabled: null,
        },
        ...{ test: null, delivered: [], failed: [], retriesNow: false, continuesAt: null },
        counts: { sent: 1, failed: 0, dead: 0 },
      }
      const now = await dueNow(store, world.account)
      const [first] = await ledger.claimWebhooks('a', now + CLAIM_SECONDS, 9, now)
      assert.deepEqual(await ledger.claimWebhooks('b', now + CLAIM_SECONDS, 9, now + CLAIM_SECONDS - 1), [])
      const later = now + CLAIM_SECONDS
      const [second] = await ledger.claimWebhooks('b', later + CLAIM_SECONDS, 9, later)
      assert.deepEqual([first!.id, second!.id], [world.webhook, world.webhook])
      assert.equal(await ledger.recordDeliveries(first!, outcome, later), false)
      assert.equal((await world.own()).seen, 0)
      assert.equal(await ledger.recordDeliveries(second!, outcome, later), true)
      assert.equal(await ledger.recordDeliveries(second!, outcome, later), false)
      const figures = { active: 1, failing: 0, disabled: 0, late: 0, counts: { sent: 1, failed: 0, dead: 0 } }
      assert.deepEqual(await ledger.deliveryFigures(later), figures)
    },
  )

  testWorld(engine, 'an event that comes while a process sends is sent too', async (world, store) => {
    const now = await dueNow(store, world.account)
    const [claim] = await store.ledger.claimWebhooks('a', now + CLAIM_SECONDS, 9, now)
    await dueNow(store, world.account)
    assert.deepEqual(await store.ledger.claimWebhooks('b', now + CLAIM_SECONDS, 9, now), [])
    const { failures, failing_since, last_success, last_error, paused_until, disabled, seen } = claim!
    await store.ledger.recordDeliveries(
      claim!,
      {
        ...{ seen, test: null, delivered: [], failed: [], retriesNow: false, continuesAt: null },
        health: { failures, failing_since, last_success, last_error, paused_until, disabled },
        counts: { sent: 0, failed: 0, dead: 0 },
      },
      now,
    )
    assert.equal((await store.ledger.claimWebhooks('a', now + CLAIM_SECONDS, 9, now)).length, 1)
  })

  for (const answer of ['failing', 'gone'] as const)
    testWorld(
      engine,
      `an event that comes while a test ends what "${answer}" caused is sent too`,
      async (world, store) => {
        world.answer = answer
        await world.addEvents(answer === 'gone' ? 1 : 3)
        await world.look(0)
        const { paused_until, disabled } = await world.own()
        assert.ok(answer === 'gone' ? disabled !== null : paused_until > NOW)
        await world.addEvents(1)
        world.whileSent.set((await world.numbers()).at(-1)!, async () => {
          await world.addEvents(1)
          await world.lookMeanwhile()
        })
        world.answer = 'ok'
        world.pass(10) // the retries are due, so they are part of the claim
        const now = await store.now()
        await store.ledger.requestTest(world.account, world.webhook, now)
        await world.look(0)
        assert.equal((await store.ledger.deliveryFigures(now + 60)).late, 60)
        await world.look(1)
        assert.equal(world.accepted.has((await world.numbers()).at(-1)!), true)
      },
    )

  testWorld(engine, 'what is sent again during a claim does not wait for a pause', async (world, store) => {
    const { ledger } = store
    const dead = { event: 1, event_time: NOW, since: NOW, attempts: 1, tried: NOW, due: null, error: 'refused' }
    const down = { failing_since: NOW, last_success: null, last_error: 'refused', disabled: null, failures: 3 }
    const outcome = {
      ...{ seen: 1, test: null, delivered: [], failed: [], retriesNow: false, continuesAt: null },
      health: { ...down, paused_until: NOW + HOUR },
      counts: { sent: 0, failed: 0, dead: 0 },
    }
    await dueNow(store, world.account)
    const [first] = await ledger.claimWebhooks('a', NOW + CLAIM_SECONDS, 9, NOW)
    await ledger.recordDeliveries(first!, { ...outcome, failed: [dead] }, NOW)
    assert.equal((await world.own()).paused_until, NOW + HOUR)
    const later = NOW + HOUR
    const [second] = await ledger.claimWebhooks('a', later + CLAIM_SECONDS, 9, later)
    assert.equal(await ledger.redeliver(world.account, world.webhook, null, later), 1)
    const paused = { ...outcome, health: { ...down, paused_until: later + HOUR } }
    await ledger.recordDeliveries(second!, paused, later)
    assert.equal((await world.own()).paused_until, 0)
    const [third] = await ledger.claimWebhooks('a', later + CLAIM_SECONDS, 9, later)
    await ledger.recordDeliveries(third!, paused, later)
    assert.equal((await world.own()).paused_until, later + HOUR)
  })

  testWorld(engine, 'a test of a suspended account waits until it is resumed', async (world, store) => {
    const { account, webhook } = world
    const number = (await store.ledger.requestTest(account, webhook, NOW))!
    await store.ledger.as(TESTER).suspendAccount(account, NOW)
    world.pass(60)
    const now = await store.now()
    assert.deepEqual(await store.ledger.claimWebhooks('a', now + CLAIM_SECONDS, 9, now), [])
    assert.equal((await store.ledger.deliveryFigures(now)).late, 0)
    await world.look(0)
    assert.deepEqual([world.attempts, (await world.own()).paused_until], [0, 0])
    await store.ledger.as(TESTER).resumeAccount(account)
    await world.look(0)
    assert.equal(JSON.parse((await store.ledger.testResult(account, webhook, number))!).delivered, true)
  })

  testWorld(
    engine,
    'if the events were restored from an older backup than the ledger, later ones are sent',
    async (world, store) => {
      const { account } = world
      await world.addEvents(1)
      const highest = (await world.numbers()).at(-1)!
      const key = sealWebhookKey(await store.ledger.secrets(NOW), KEY)
      await store.ledger.removeWebhook(account, world.webhook)
      const restored = { url: 'https://receiver.example/', watches: null, key, seen: highest + 2 }
      world.webhook = (await store.ledger.createWebhook(1, account, restored, NOW))!.id
      await store.ledger.setDigest(account, { period: 'hourly', key: KEY, seen: highest + 2, due: NOW })
      await dueNow(store, account)
      const [claim] = await store.ledger.claimWebhooks('a', NOW + CLAIM_SECONDS, 9, NOW)
      const { failures, failing_since, last_success, last_error, paused_until, disabled, seen } = claim!
      const lost = {
        event: highest + 1,
        event_time: NOW,
        since: NOW,
        attempts: 1,
        tried: NOW,
        due: null,
        error: 'lost',
      }
      await store.ledger.recordDeliveries(
        claim!,
        {
          ...{ seen, test: null, delivered: [], failed: [lost], retriesNow: false, continuesAt: null },
          health: { failures, failing_since, last_success, last_error, paused_until, disabled },
          counts: { sent: 0, failed: 0, dead: 0 },
        },
        NOW,
      )
      await world.look(0)
      assert.deepEqual([(await world.own()).seen, await world.failed()], [highest, []])
      const [digest] = await store.ledger.claimDigests('a', NOW + CLAIM_SECONDS, 9, NOW)
      assert.equal(digest!.seen, highest)
      await world.addEvents(2)
      await world.look(0)
      assert.deepEqual([...world.accepted], (await world.numbers()).slice(1))
    },
  )

  testWithStore(engine, 'the number of webhooks has a limit, and one account sees none of another', async (store) => {
    const key = { number: 1, bytes: new Uint8Array(3) }
    const [one, two] = await Promise.all(
      ['a', 'b'].map(async (letter) => {
        const account = {
          email: `${letter}@example.com`,
          role: 'user' as const,
          plan: 'free' as const,
          periods: [],
          addons: [],
        }
        return (await store.ledger.as(TESTER).createAccount(account, NOW))!.id
      }),
    )
    const webhook = { url: 'https://receiver.example/', watches: null, key, seen: 3 }
    const { id } = (await store.ledger.createWebhook(1, one!, webhook, NOW))!
    assert.equal(await store.ledger.createWebhook(1, one!, webhook, NOW), null)
    assert.deepEqual(await store.ledger.webhooks(two!), [])
    assert.equal(await store.ledger.removeWebhook(two!, id), false)
    assert.equal(await store.ledger.requestTest(two!, id, NOW), null)
    assert.equal(await store.ledger.redeliver(two!, id, null, NOW), null)
    assert.equal(await store.ledger.removeWebhook(one!, id), true)
  })

  testWithStore(
    engine,
    'keys follow the secret of the installation, and old failures are removed',
    async (store, _opened, clock) => {
      const former = { number: 9, bytes: Buffer.alloc(32, 1) }
      const secrets = await store.ledger.secrets(NOW)
      const account = { email: 'a@example.com', role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
      const { id } = (await store.ledger.as(TESTER).createAccount(account, NOW))!
      const key = sealWebhookKey([former], KEY)
      await store.ledger.createWebhook(1, id, { url: 'https://receiver.example/', watches: null, key, seen: 0 }, NOW)
      const all = [...secrets, former]
      const ledger = new Proxy(store.ledger, {
        get: (target, name) => (name === 'secrets' ? async () => all : Reflect.get(target, name)),
      })
      const options = { store: { ...store, ledger }, holder: 'a', monotonicMs: () => 0, random: () => 0 }
      await new Deliverer({ ...options, send: () => assert.fail(), onFault: assert.ifError }).look()
      assert.deepEqual(await store.ledger.keysSealedOtherwise(secrets[0]!.number), [])
      clock.now += 1
      const [claim] = await store.ledger.claimWebhooks('b', NOW + 60, 1, await dueNow(store, id))
      assert.deepEqual(openWebhookKey(secrets, claim!.key), KEY)
    },
  )
}

/** Makes the webhooks of an account due. Returns the time. */
async function dueNow(store: Store, account: number): Promise<Instant> {
  await store.ledger.wakeWebhooks([account], NOW)
  return NOW
}
