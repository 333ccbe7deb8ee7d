/** The histories of the simulation: what happens to which node, and when. */

import fc from 'fast-check'

/** The nodes: two of each role. */
export const ROLES = ['api', 'crawler', 'jobs'] as const
export type Role = (typeof ROLES)[number]
const NODES_PER_ROLE = 2
export const NODES = ROLES.flatMap((role) => Array.from({ length: NODES_PER_ROLE }, () => role))

/** Seconds of a history. */
export const HISTORY_SECONDS = 420
/** The longest outage of a node: longer than leases (60 seconds) and token leases (2 seconds) last. */
const MAX_OUTAGE_SECONDS = 150
/** An API node returns idle units after about this time. */
const UNITS_HELD_MS = 900
/** The longest difference between the clock of a node and that of the store. */
const MAX_CLOCK_SECONDS = 60

/** At which statement a connection is cut, counted from the event, and on which way. */
export type Cut = { statement: number; lost: 'request' | 'reply' }

/**
 * `at`: milliseconds from the start; all other times are in seconds.
 * `calls`: clients call an API node, spread over `seconds`; the first `free` calls cost nothing.
 * `die`: the process dies at a statement, and another one starts after `seconds`.
 * `partition`: requests and replies of the store wait, from now on or from the next reply on.
 * `freeze`: everything in the process waits.
 * `cut`: the connections break, and the process lives on.
 * `clock`: the clock of the node is wrong.
 */
export type NodeEvent = { at: number; node: number } & (
  | { kind: 'calls'; count: number; free: number; seconds: number }
  | ({ kind: 'die'; seconds: number } & Cut)
  | { kind: 'partition'; seconds: number; from: 'now' | 'reply' }
  | { kind: 'freeze'; seconds: number }
  | ({ kind: 'cut' } & Cut)
  | { kind: 'clock'; seconds: number }
)

/** In whole milliseconds. */
const at = fc.integer({ min: 1, max: HISTORY_SECONDS * 1000 - 1 })
const node = fc.nat(NODES.length - 1)
const apiNode = fc.nat(NODES_PER_ROLE - 1)
const cut = { statement: fc.integer({ min: 1, max: 40 }), lost: fc.constantFrom('request' as const, 'reply' as const) }
const outage = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
  { weight: 1, arbitrary: fc.integer({ min: 6, max: 50 }) },
  { weight: 2, arbitrary: fc.integer({ min: 61, max: MAX_OUTAGE_SECONDS }) },
)

/** What happens to a node, without the time and the node. */
const disturbance = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), seconds: outage, ...cut }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('partition' as const),
      seconds: outage,
      from: fc.constantFrom('now' as const, 'reply' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('freeze' as const), seconds: outage }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cut' as const), ...cut }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      seconds: fc.integer({ min: -MAX_CLOCK_SECONDS, max: MAX_CLOCK_SECONDS }),
    }),
  },
)
const calls = fc.record({
  kind: fc.constant('calls' as const),
  at,
  node: apiNode,
  count: fc.integer({ min: 1, max: 150 }),
  free: fc.nat(5),
  seconds: fc.oneof(
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 5, max: 90 }) },
  ),
})

/** One or two events: calls, a disturbance, or a disturbance while the node still holds the units of calls. */
const scene: fc.Arbitrary<NodeEvent[]> = fc.oneof(
  { weight: 2, arbitrary: calls.map((event) => [event]) },
  {
    weight: 4,
    arbitrary: fc.record({ at, node, what: disturbance }).map(({ what, ...rest }) => [{ ...what, ...rest }]),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ event: calls, what: disturbance, later: fc.nat(UNITS_HELD_MS) })
      .map(({ event, what, later }) => [event, { ...what, node: event.node, at: event.at + later }]),
  },
)

/** `limit`: units of the account per day. */
export type History = { limit: number; events: NodeEvent[] }

export const histories: fc.Arbitrary<History> = fc.record({
  limit: fc.oneof(
    { weight: 1, arbitrary: fc.nat(900) },
    { weight: 5, arbitrary: fc.integer({ min: 1_100, max: 3_000 }) },
  ),
  events: fc.array(scene, { minLength: 10, maxLength: 30, size: 'max' }).map((scenes) => scenes.flat()),
})

/** Returns the history of a seed, in the order of time. */
export function historyOf(seed: number): History {
  const [{ limit, events }] = fc.sample(histories, { seed, numRuns: 1 }) as [History]
  return { limit, events: events.toSorted((a, b) => a.at - b.at) }
}
