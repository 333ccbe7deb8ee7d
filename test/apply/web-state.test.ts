/** The states of the website's verdict, also of rows that an older release wrote without one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_WEBSITE } from '../../src/apply/crawl-state.ts'
import { lastSeenOfWebState, webStateChange, webStateOf } from '../../src/apply/web-state.ts'
import { encodeVerdict, type WebVerdict } from '../../src/values/web-verdict.ts'
import { name } from '../store/conformance/world.ts'

const NONE: WebVerdict = NO_WEBSITE
const redirectTo = (target: string): WebVerdict => ({ ...NO_WEBSITE, redirects_to: name(target) })
const [A, B] = [redirectTo('a.example'), redirectTo('b.example')]
const set = (before: WebVerdict | null, last: number, after: WebVerdict, at: number) => ({
  ...{ type: 'web', before: before === null ? undefined : encodeVerdict(before), last },
  ...{ after: encodeVerdict(after), at, isInterrupted: false },
})
const superseded = (verdict: WebVerdict, first_seen: number, last_confirmed: number) => ({
  ...{ type: 'web', first_seen, last_confirmed, records: encodeVerdict(verdict), serial: null, base: null },
})

test('the verdict of an older row counts as first seen when the web was last observed, if it was', () => {
  assert.deepEqual(webStateOf({ web: A, states: {} }, 100), { first_seen: 100, count: 1 })
  assert.equal(webStateOf({ web: A, states: {} }, 0), undefined)
  assert.equal(webStateOf({ web: null, states: {} }, 100), undefined)
  const state = { first_seen: 5, count: 3 }
  assert.equal(webStateOf({ web: A, states: { web: state } }, 100), state)
})

test('the first verdict begins a state, and a redirect a span', () => {
  const state = { first_seen: 200, count: 1 }
  // an older row has a verdict without an observation of the web if only a certificate was observed
  for (const unknown of [
    { web: null, states: {} },
    { web: NONE, states: {} },
  ]) {
    assert.deepEqual(webStateChange(unknown, 0, NONE, 200), { state, superseded: [], sets: [] })
    assert.deepEqual(webStateChange(unknown, 0, A, 200), { state, superseded: [], sets: [set(null, 0, A, 200)] })
  }
})

test('another verdict begins a state after the one before, and another redirect a span; the same verdict does not', () => {
  const known = { web: A, states: { web: { first_seen: 100, count: 1 } } }
  assert.equal(webStateChange(known, 150, A, 200), null)
  assert.deepEqual(webStateChange(known, 150, B, 200), {
    state: { first_seen: 200, count: 2 },
    superseded: [superseded(A, 100, 150)],
    sets: [set(A, 150, B, 200)],
  })
  assert.deepEqual(webStateChange(known, 150, { ...A, ssl: 'valid' }, 200)?.sets, [])
})

test('of an older row, the redirect that nobody has noted gets its span too', () => {
  assert.deepEqual(webStateChange({ web: A, states: {} }, 100, B, 200)?.sets, [
    set(null, 0, A, 100),
    set(A, 100, B, 200),
  ])
  assert.deepEqual(webStateChange({ web: NONE, states: {} }, 100, B, 200)?.sets, [set(NONE, 100, B, 200)])
})

test('a state that a certificate of a later time began was seen until then, and the next one begins a second later', () => {
  assert.deepEqual(
    [lastSeenOfWebState({ first_seen: 300 }, 150), lastSeenOfWebState({ first_seen: 300 }, 350)],
    [300, 350],
  )
  const known = { web: A, states: { web: { first_seen: 300, count: 1 } } }
  const change = webStateChange(known, 150, B, 200)
  assert.deepEqual([change?.state.first_seen, change?.superseded], [301, [superseded(A, 300, 300)]])
})
