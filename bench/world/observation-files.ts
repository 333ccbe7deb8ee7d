/** Writes a probe round of the whole world as a file: in index order, or in the store's slot order as a crawl does. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { slotOf } from '../../src/values/domain-name.ts'
import { domainNameAt, observationLineAt, type ProbeRound, type World } from './world.ts'

/** `file`: index order, which is arbitrary for the store. `slot`: slot order, by name within each slot. */
export type LineOrder = 'file' | 'slot'

const CHUNK_CHARACTERS = 1 << 20

/** Indexes of the world, from `from` up to `to` (exclusive). */
export type IndexRange = { from: number; to: number }

/** Generates the lines of a round in chunks of about a mebibyte. */
export function* observationChunks(
  world: World,
  round: ProbeRound,
  order: LineOrder,
  range?: IndexRange,
): Generator<string> {
  const { from, to } = range ?? { from: 0, to: world.names }
  let text = ''
  for (const index of order === 'file' ? indexesInOrder(from, to) : indexesBySlot(world, from, to)) {
    text += `${observationLineAt(world, index, round)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Writes a round to a file. */
export function writeObservations(
  path: string,
  world: World,
  round: ProbeRound,
  order: LineOrder,
  range?: IndexRange,
): void {
  const file = openSync(path, 'w')
  try {
    for (const chunk of observationChunks(world, round, order, range)) writeSync(file, chunk)
  } finally {
    closeSync(file)
  }
}

function* indexesInOrder(from: number, to: number): Generator<number> {
  for (let index = from; index < to; index++) yield index
}

/** A counting sort, so that 20 million names take 120 MB. */
function* indexesBySlot(world: World, from: number, to: number): Generator<number> {
  const slots = Uint16Array.from({ length: to - from }, (_, at) => slotOf(domainNameAt(world, from + at)))
  const ends = new Uint32Array(65_537)
  for (const slot of slots) ends[slot + 1]!++
  for (let slot = 0; slot < 65_536; slot++) ends[slot + 1]! += ends[slot]!
  const free = ends.slice()
  const sorted = new Uint32Array(slots.length)
  for (const [at, slot] of slots.entries()) sorted[free[slot]!++] = from + at
  for (let slot = 0; slot < 65_536; slot++) {
    const named = Array.from(sorted.subarray(ends[slot], ends[slot + 1]), (index) => ({
      index,
      name: domainNameAt(world, index),
    }))
    named.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const { index } of named) yield index
  }
}
