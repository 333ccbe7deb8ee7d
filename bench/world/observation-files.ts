/** Visits of the whole world as files: in the order of its places, or in that of the store's slots, as a crawl goes. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { slotOf } from '../../src/values/domain-name.ts'
import { lineOf, nameOf, type Round, type World } from './world.ts'

/** `file`: the order that names came in, any order to the store. `slot`: that of the slots, by name within each. */
export type Order = 'file' | 'slot'

const CHUNK_CHARACTERS = 1 << 20

/** Which places of the world, from the first of them to the last (excluded). */
export type Range = { from: number; to: number }

/** The lines of a visit, with their ends, about a mebibyte at a time. */
export function* chunks(world: World, round: Round, order: Order, range?: Range): Generator<string> {
  const { from, to } = range ?? { from: 0, to: world.names }
  let text = ''
  for (const index of order === 'file' ? counted(from, to) : bySlot(world, from, to)) {
    text += `${lineOf(world, index, round)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Writes a visit to a file. */
export function writeRound(path: string, world: World, round: Round, order: Order, range?: Range): void {
  const file = openSync(path, 'w')
  try {
    for (const chunk of chunks(world, round, order, range)) writeSync(file, chunk)
  } finally {
    closeSync(file)
  }
}

function* counted(from: number, to: number): Generator<number> {
  for (let index = from; index < to; index++) yield index
}

/** Sorted by counting, so that 20 million names take 120 MB. */
function* bySlot(world: World, from: number, to: number): Generator<number> {
  const slots = Uint16Array.from({ length: to - from }, (_, at) => slotOf(nameOf(world, from + at)))
  const ends = new Uint32Array(65_537)
  for (const slot of slots) ends[slot + 1]!++
  for (let slot = 0; slot < 65_536; slot++) ends[slot + 1]! += ends[slot]!
  const free = ends.slice()
  const sorted = new Uint32Array(slots.length)
  for (const [at, slot] of slots.entries()) sorted[free[slot]!++] = from + at
  for (let slot = 0; slot < 65_536; slot++) {
    const named = Array.from(sorted.subarray(ends[slot], ends[slot + 1]), (index) => ({
      index,
      name: nameOf(world, index),
    }))
    named.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const { index } of named) yield index
  }
}
