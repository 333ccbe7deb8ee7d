/** The generator of histories: a sample contains every kind of event, on every kind of node. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertMakes } from '../sample.ts'
import { type History, histories, historyOf, NODES, type NodeEvent, ROLES } from './history.ts'

/** Whether a history has such an event. */
const some =
  (fits: (event: NodeEvent) => boolean) =>
  ({ events }: History) =>
    events.some(fits)

const onEachRole = (what: string, fits: (event: NodeEvent) => boolean) =>
  Object.fromEntries(
    ROLES.map((role) => [`${what}: ${role}`, some((event) => NODES[event.node] === role && fits(event))]),
  )

test('a sample of histories has every kind of event on every kind of node', () => {
  assertMakes(histories, {
    ...onEachRole('a death whose last request is lost', (event) => event.kind === 'die' && event.lost === 'request'),
    ...onEachRole('a death whose last reply is lost', (event) => event.kind === 'die' && event.lost === 'reply'),
    ...onEachRole('a cut whose request is lost', (event) => event.kind === 'cut' && event.lost === 'request'),
    ...onEachRole('a cut whose reply is lost', (event) => event.kind === 'cut' && event.lost === 'reply'),
    ...onEachRole('a short partition', (event) => event.kind === 'partition' && event.seconds <= 2),
    ...onEachRole('a partition after which token leases expire', isPartitionOf(3, 59)),
    ...onEachRole('a partition after which all leases expire', isPartitionOf(61, Number.POSITIVE_INFINITY)),
    ...onEachRole(
      'a late reply',
      (event) => event.kind === 'partition' && event.from === 'reply' && event.seconds > 60,
    ),
    ...onEachRole('a freeze', (event) => event.kind === 'freeze' && event.seconds > 60),
    ...onEachRole('a clock that is ahead', (event) => event.kind === 'clock' && event.seconds > 30),
    ...onEachRole('a clock that is behind', (event) => event.kind === 'clock' && event.seconds < -30),
    'a partition of a node that holds units': ({ events }) =>
      events.some(
        (event, place) =>
          event.kind === 'partition' &&
          events
            .slice(0, place)
            .some(({ kind, node, at }) => kind === 'calls' && node === event.node && event.at - at < 900),
      ),
    'calls that cost a unit, and free ones': some((event) => event.kind === 'calls' && event.free > 0),
    'a budget of single units': ({ limit }) => limit < 1_000,
    'a budget with token leases': ({ limit }) => limit > 1_000,
  })
})

function isPartitionOf(min: number, max: number) {
  return (event: NodeEvent): boolean => event.kind === 'partition' && event.seconds >= min && event.seconds <= max
}

test('calls go to API nodes only, and a seed always gives the same history', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { events } = historyOf(seed)
    assert.ok(events.every(({ kind, node }) => kind !== 'calls' || NODES[node] === 'api'))
    assert.deepEqual(historyOf(seed), historyOf(seed))
  }
})
