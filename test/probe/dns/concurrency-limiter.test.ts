/** The concurrency limiter of a resolver on a test clock: how it reacts to answers, refusals and dead domains. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DnsConcurrencyLimiter,
  INITIAL_CONCURRENCY,
  MIN_CONCURRENCY,
  type QueryTicket,
} from '../../../src/probe/dns/concurrency-limiter.ts'

const ROUND_TRIP = 50
const DAY = 86_400_000
const QUESTIONS = 7

/** A resolver that accepts a number of queries in flight and refuses others. One host in `dead` does not answer. */
function makeWorld({ bears = Number.POSITIVE_INFINITY, dead = Number.POSITIVE_INFINITY } = {}) {
  const clock = { now: 0 }
  const limiter = new DnsConcurrencyLimiter({ nowMs: () => clock.now })
  const state = { bears, refused: 0, host: 0, question: 0 }
  const held: { ticket: QueryTicket; until: number; isAnswered: boolean }[] = []
  const ask = (): boolean => {
    if (limiter.pressure > 0) return false
    if (state.question++ % QUESTIONS === 0) state.host++
    const ticket = limiter.acquire({ host: `n${state.host}.test` }, DAY) as QueryTicket
    const isDead = state.host % dead === 0
    const isRefused = held.length >= state.bears
    if (isRefused) state.refused++
    held.push({ ticket, until: clock.now + (isRefused ? 1 : ROUND_TRIP), isAnswered: !isRefused && !isDead })
    return true
  }
  /** Keeps the limiter full for this long. */
  const run = (milliseconds: number): void => {
    for (const end = clock.now + milliseconds; clock.now < end; clock.now++) {
      for (const { ticket, isAnswered } of held.filter(({ until }) => until <= clock.now)) {
        limiter.release(ticket, isAnswered ? 'answered' : 'failed')
      }
      held.splice(0, held.length, ...held.filter(({ until }) => until > clock.now))
      while (ask());
    }
  }
  return { limiter, state, run }
}

test('the limit starts low and grows while answers arrive', () => {
  const { limiter, run } = makeWorld()
  assert.equal(limiter.limit, INITIAL_CONCURRENCY)
  run(10 * ROUND_TRIP)
  assert.ok(limiter.limit > 1000, `${limiter.limit}`)
  assert.equal(limiter.overloads, 0)
})

test('a resolver that refuses more than 150 queries is soon queried just below that, and stays there', () => {
  const { limiter, state, run } = makeWorld({ bears: 150 })
  run(20_000)
  state.refused = 0
  const [before, limits] = [limiter.overloads, [] as number[]]
  for (let second = 0; second < 60; second++) {
    run(1_000)
    limits.push(limiter.limit)
  }
  const mean = limits.reduce((sum, each) => sum + each) / limits.length
  assert.ok(mean > 0.9 * 150 && mean <= 155, `${mean}`)
  assert.ok(limiter.overloads - before < 15, `${limiter.overloads - before}`)
  assert.ok(state.refused < 60 * 30, `${state.refused} of 180,000`)
})

test('one domain that is always refused, and one dead domain in twenty, are not overload', () => {
  const one = makeWorld({ dead: 1_000_000 })
  const ticket = (): QueryTicket => one.limiter.acquire({ host: 'refused.test' }, DAY) as QueryTicket
  for (let question = 0; question < 500; question++) one.limiter.release(ticket(), 'failed')
  assert.deepEqual([one.limiter.overloads, one.limiter.limit], [0, INITIAL_CONCURRENCY])
  const some = makeWorld({ dead: 20 })
  some.run(5_000)
  assert.equal(some.limiter.overloads, 0)
  assert.ok(some.limiter.limit > 1_000)
})

test('if a resolver accepts fewer queries, the limit falls, and if it accepts more again, the limit rises', () => {
  const { limiter, state, run } = makeWorld({ bears: 400 })
  run(10_000)
  assert.ok(limiter.limit > 300, `${limiter.limit}`)
  state.bears = 60
  run(10_000)
  assert.ok(limiter.limit < 75, `${limiter.limit}`)
  state.bears = 400
  run(40_000)
  assert.ok(limiter.limit > 300, `${limiter.limit}`)
})

test('a resolver that answers nothing for a while gets few queries, and later as many as before', () => {
  const { limiter, state, run } = makeWorld({ bears: 300 })
  run(10_000)
  state.bears = 0
  run(2_000)
  assert.equal(limiter.limit, MIN_CONCURRENCY)
  state.bears = 300
  run(2_000)
  assert.ok(limiter.limit > 200, `${limiter.limit}`)
})

test('after many dead hosts in a row, with only control queries answered, the limit soon returns to its initial value', () => {
  const clock = { now: 0 }
  const limiter = new DnsConcurrencyLimiter({ nowMs: () => clock.now })
  const leave = (ticket: QueryTicket, outcome: 'answered' | 'failed'): void => {
    clock.now += 1
    limiter.release(ticket, outcome)
  }
  for (let host = 0; limiter.limit > MIN_CONCURRENCY; host++) {
    if (host % 20 === 0) leave(limiter.acquire({ host: '.', isUrgent: true }, DAY) as QueryTicket, 'answered')
    leave(limiter.acquire({ host: `dead-${host}.test` }, DAY) as QueryTicket, 'failed')
  }
  for (let host = 0; host < 30; host++) limiter.recordDeadHost()
  assert.equal(limiter.limit, INITIAL_CONCURRENCY)
})

test('a failure while unrelated hosts fail too is doubtful, and one before or after is not', () => {
  const clock = { now: 0 }
  const limiter = new DnsConcurrencyLimiter({ nowMs: () => clock.now })
  const enter = (host: string): QueryTicket => limiter.acquire({ host }, DAY) as QueryTicket
  const settle = (ticket: QueryTicket, outcome: 'answered' | 'failed'): QueryTicket => {
    clock.now += 1
    limiter.release(ticket, outcome)
    return ticket
  }
  const early = settle(enter('early.test'), 'failed')
  for (let index = 0; index < 120; index++) settle(enter(`well-${index}.test`), 'answered')
  const meanwhile = enter('meanwhile.test')
  for (let index = 0; limiter.overloads === 0; index++) settle(enter(`fails-${index}.test`), 'failed')
  settle(meanwhile, 'failed')
  clock.now += 1_000
  const late = settle(enter('late.test'), 'failed')
  assert.deepEqual(
    [early, meanwhile, late].map((ticket) => limiter.mayBeOverload(ticket)),
    [false, true, false],
  )
})

test('failures that turn into answers are overload, however few fail at once', () => {
  const { limiter } = makeWorld()
  for (let index = 0; limiter.overloads === 0; index++) {
    assert.ok(index < 60, 'never noticed')
    const ticket = limiter.acquire({ host: `n${index}.test` }, DAY) as QueryTicket
    const isLost = index % 6 === 0
    limiter.release(ticket, isLost ? 'failed' : 'answered')
    if (isLost) limiter.recordRecovery(ticket)
  }
})

test('waiting queries start in order of arrival, urgent ones first, then retries, and none after its deadline', async () => {
  const clock = { now: 0 }
  const limiter = new DnsConcurrencyLimiter({ nowMs: () => clock.now, fixed: 1 })
  const first = limiter.acquire({ host: 'a.test' }, DAY) as QueryTicket
  const order: string[] = []
  const want = async (
    host: string,
    until: number,
    how: { isUrgent?: boolean; isRetry?: boolean } = {},
  ): Promise<QueryTicket | null> => {
    const ticket = await limiter.acquire({ host, ...how }, until)
    order.push(ticket === null ? `${host} in vain` : host)
    if (ticket !== null) limiter.release(ticket, 'answered')
    return ticket
  }
  const all = [want('b.test', DAY), want('c.test', 5), want('d.test', DAY)]
  all.push(want('again.test', DAY, { isRetry: true }), want('control.test', DAY, { isUrgent: true }))
  clock.now = 10
  assert.ok(limiter.pressure > 3)
  limiter.release(first, 'lost')
  await Promise.all(all)
  assert.deepEqual(order, ['control.test', 'again.test', 'b.test', 'c.test in vain', 'd.test'])
  assert.equal(limiter.inFlight, 0)
})
