/** The loop of a crawl: spans of visits, one after another, with a pause wherever the crawl cannot trust its eyes or its store. */

import type { Crawl } from './crawl.ts'
import { runErrands } from './errands.ts'
import { type Memory, newMemory } from './memory.ts'
import { readOn } from './reader.ts'

import { settle, settleOn, trust } from './slices.ts'
import { Span, Trouble } from './span.ts'
import { visitOn } from './visits.ts'

/** Milliseconds until a crawl that pauses looks again, at first and at most. */
const AGAIN = 2_000
const AGAIN_MOST = 60_000
/** Milliseconds that visits in flight have after the crawl was asked to end. */
const PATIENCE = 15_000
/** Milliseconds that they have where it goes on: longer than any visit takes. */
const OVER = 75_000
/** Milliseconds until a crawler hears of those that were started together with it. */
const SECOND_BEAT = 2_000

/**
 * Crawls until the signal comes: visits in flight are then finished, what they saw is saved, every range given back. Never
 * rejects; what fails is told, and tried again.
 */
export async function crawlOn(crawl: Crawl, signal: AbortSignal): Promise<void> {
  const memory = newMemory(crawl)
  const ended = new AbortController()
  await beat(crawl, memory)
  const beating = beatOn(crawl, memory, ended.signal)
  let again = AGAIN
  while (!signal.aborted) {
    const { saved } = crawl.figures.slices
    const trouble = await spanOf(crawl, memory, signal)
    if (trouble === null) break
    if (crawl.figures.slices.saved > saved) again = AGAIN
    await crawl.clock.wait(Math.max(again, trouble.rest), signal)
    again = Math.min(2 * again, AGAIN_MOST)
  }
  ended.abort()
  await beating
}

/** One span, from the first good look to its end; what it was given up for, or null where the signal came. */
async function spanOf(crawl: Crawl, memory: Memory, signal: AbortSignal): Promise<Trouble | null> {
  const span = new Span(crawl, memory)
  const stop = (): void => span.end(null)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const lane = (walk: (span: Span) => Promise<void>): Promise<void> =>
    walk(span).catch((error) => giveUp(span, troubleOf(crawl, error)))
  await lane(open)
  const keeping = keepOn(span)
  await Promise.all([readOn, runErrands, visitOn, settleOn].map(lane))
  await awaitVisits(span, signal)
  if (span.trouble === null) await lane(settle)
  await lane(close)
  span.finish()
  await keeping
  signal.removeEventListener('abort', stop)
  return span.trouble
}

/** Nothing is visited before eyes and store were found good. */
async function open(span: Span): Promise<void> {
  const { crawl, memory } = span
  if (memory.owed.length > 0) await crawl.store.schedule.release(memory.owed.map((lease) => ({ lease, sweep: null })))
  memory.owed = []
  await trust(span)
  if (crawl.figures.pause !== null) crawl.say('the crawl goes on')
  crawl.figures.goesOn()
}

/** The leases of a store that fails are given back when it is there again. */
async function close(span: Span): Promise<void> {
  const leases = span.leases()
  try {
    await span.release(true)
  } catch (error) {
    span.memory.owed = leases
    throw error
  }
}

/** Until none is in flight any more, or time is up; one that comes later is dropped. */
async function awaitVisits(span: Span, signal: AbortSignal): Promise<void> {
  const { clock } = span.crawl
  const begun = clock.ticks()
  while (span.flying > 0) {
    const patience = span.trouble === null || signal.aborted ? PATIENCE : OVER
    const left = begun + patience - clock.ticks()
    if (left <= 0) return
    await span.over.wait(left)
  }
}

/** Renews the leases until the span is finished, also where the store was away: visits in flight may outlast that. */
async function keepOn(span: Span): Promise<void> {
  while (!span.isFinished) {
    await span.keep.wait(span.crawl.times.beat)
    if (!span.isFinished) await span.renew().catch((error) => giveUp(span, troubleOf(span.crawl, error)))
  }
}

/** Beats until the signal comes, soon for the first time, and then says that this crawler has ended. */
async function beatOn(crawl: Crawl, memory: Memory, signal: AbortSignal): Promise<void> {
  let wait = Math.min(SECOND_BEAT, crawl.times.beat)
  while (!signal.aborted) {
    await crawl.clock.wait(wait, signal)
    if (!signal.aborted) await beat(crawl, memory)
    wait = crawl.times.beat
  }
  await crawl.store.schedule.beat(crawl.holder, null).catch(crawl.onFault)
}

/** Says that this crawler lives, and takes its part of the installation's rate and pace. */
async function beat({ store, holder, figures, clock, rate, pace, onFault }: Crawl, memory: Memory): Promise<void> {
  try {
    const live = await store.schedule.beat(holder, JSON.stringify(figures.report(clock.ticks())))
    memory.rate.set(rate === null ? null : rate / live)
    pace.divide(live)
  } catch (error) {
    onFault(error)
  }
}

/** It is told once, however often it is tried again. */
function giveUp(span: Span, trouble: Trouble): void {
  const { figures, say } = span.crawl
  if (figures.pause?.why !== trouble.message) say(`the crawl pauses: ${trouble.message}`)
  span.end(trouble)
}

/** Whatever else fails is the store, or a fault of the program: both are told whole, and tried again. */
function troubleOf({ onFault }: Crawl, error: unknown): Trouble {
  if (error instanceof Trouble) return error
  onFault(error)
  return new Trouble('store', 'the store fails')
}
