/** How a check finds entries in the runs of the inverse index, without an engine: the runs are in memory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Block } from '../../../src/inverse/entries/block.ts'
import {
  findEntries,
  type InverseCheckAnswer,
  type InverseCheckRequest,
  namesPerSlice,
} from '../../../src/store/inverse/check-entries.ts'
import { cursorOf, type Entries, entries, key, once, packed, read, unionOf } from '../../inverse/entries/entries.ts'

type Run = { bytes: number; blocks: readonly Block[] }

/** With this size the check reads a run whole, or looks each key up. */
const READ_WHOLE = 1
const LOOKED_UP = 2 ** 40

/** Answers as an engine does. `asked` counts the requests of each kind. */
function answerFrom(
  runs: readonly Run[],
  request: InverseCheckRequest,
  asked: Map<string, number>,
): InverseCheckAnswer {
  asked.set(request.needs, (asked.get(request.needs) ?? 0) + 1)
  const blocksFrom = (run: number, from: Buffer): Block[] =>
    runs[run]!.blocks.filter(({ last }) => Buffer.compare(last, from) >= 0)
  if (request.needs === 'runs') return runs.map(({ bytes }, number) => ({ number, bytes }))
  if (request.needs === 'slice') {
    const blocks = blocksFrom(request.run, request.from).slice(0, request.blocks)
    if (blocks.length === 0) return []
    return [
      { blocks: blocks.map(({ bytes }) => bytes), last: blocks.at(-1)!.last, more: blocks.length === request.blocks },
    ]
  }
  assert.ok(request.needs === 'blocks')
  const { positions } = request
  return (request.runs ?? [...runs.keys()]).flatMap((run) => {
    const found = new Set(positions.flatMap((position) => blocksFrom(run, position).slice(0, 1)))
    return [...found].map(({ last, bytes }) => ({ run, last, entries: bytes }))
  })
}

function findIn(runs: readonly Run[], keys: readonly string[], asked = new Map<string, number>()) {
  const check = findEntries(keys)
  let step = check.next([])
  while (!step.done) step = check.next(answerFrom(runs, step.value, asked))
  return step.value
}

const sizes = fc.constantFrom(READ_WHOLE, LOOKED_UP)

test('the wanted entries of all runs are found with all their events, whether a run is read whole or not', () => {
  const asked = new Map<string, number>()
  let missing = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(entries, sizes), { maxLength: 5 }),
      fc.array(key, { maxLength: 4 }),
      fc.infiniteStream(fc.boolean()),
      (contents, others, choice) => {
        const union = unionOf(contents.map(([content]) => content))
        const chosen = [...union.keys()].filter(() => choice.next().value)
        const keys = [...new Set([...chosen, ...others])].sort()
        const runs = contents.map(([content, bytes]) => ({ bytes, blocks: packed(content) }))
        const found = findIn(runs, keys, asked)
        for (const each of keys) {
          const events = found.get(each)
          if (!union.has(each)) missing++
          assert.deepEqual(events && once([...events]), union.get(each))
        }
        assert.equal(found.size, keys.filter((each) => union.has(each)).length)
      },
    ),
    { numRuns: 300 },
  )
  for (const kind of ['runs', 'slice', 'blocks']) assert.ok(asked.get(kind)! > 100, kind)
  assert.ok(missing > 0)
})

/** A run with an entry that continues in a next block. */
function longRun(count: number): Entries {
  const long: Entries = new Map()
  for (let at = 0; at < count; at++)
    long.set(`hname${String(at).padStart(5, '0')}${'x'.repeat(60)}`, [at + 2, at + 90_000])
  long.set(
    'hname02000y',
    Array.from({ length: 3000 }, (_, at) => 2 * at * at),
  )
  return unionOf([long])
}

test('a long run is read to its end in slices, or to the last wanted key', () => {
  const content = longRun(15_000)
  const blocks = packed(content)
  const runs = [{ bytes: READ_WHOLE, blocks }]
  const asked = new Map<string, number>()
  const found = findIn(runs, [...content.keys()], asked)
  assert.ok(asked.get('slice')! > 2)
  assert.deepEqual(
    [...found].map(([each, events]) => [each, once([...events])]),
    [...content],
  )
  const few = new Map<string, number>()
  const [first] = content.keys()
  assert.deepEqual([...findIn(runs, [first!], few).keys()], [first])
  assert.equal(few.get('slice'), 1)
})

test('the last wanted key may continue in the next slice', () => {
  const content: Entries = new Map([['hmany', Array.from({ length: 200_000 }, (_, at) => 1000 * at)]])
  const blocks = packed(content)
  for (const bytes of [READ_WHOLE, LOOKED_UP]) {
    const asked = new Map<string, number>()
    const found = findIn([{ bytes, blocks }], ['hmany'], asked)
    assert.deepEqual(once([...found.get('hmany')!]), content.get('hmany'))
    assert.ok((asked.get('slice') ?? asked.get('blocks')!) > 1)
  }
})

test('a damaged block hides no entry of another block', () => {
  const content = longRun(3000)
  const blocks = packed(content)
  const high = packed(new Map([['\xff\xff', [2]]]))[0]!.bytes
  const damages: ((bytes: Uint8Array) => Uint8Array)[] = [
    () => Buffer.from('00ff', 'hex'),
    (bytes) => bytes.subarray(0, bytes.length / 2),
    () => high,
  ]
  for (const bytes of [READ_WHOLE, LOOKED_UP])
    for (const damage of damages) {
      const damaged = blocks.map((block, at) => (at % 7 === 3 ? { ...block, bytes: damage(block.bytes) } : block))
      const lost = new Set(blocks.flatMap((block, at) => (at % 7 === 3 ? [...read(cursorOf([block])).keys()] : [])))
      const found = findIn([{ bytes, blocks: damaged }], [...content.keys()])
      for (const [each, events] of content)
        if (!lost.has(each)) assert.deepEqual(once([...(found.get(each) ?? [])]), events, each)
    }
})

test('a slice of names is small, except if a large one reads far fewer blocks for each name', () => {
  const runsOf = (count: number, blocks: number) => Array.from({ length: count }, () => ({ bytes: 900 * blocks }))
  assert.equal(namesPerSlice(500, 16, []), 500)
  assert.equal(namesPerSlice(500, 16, runsOf(2, 1_000_000)), 250, 'merged runs: each name costs the same in any slice')
  assert.equal(namesPerSlice(500, 16, runsOf(20, 100)), 500, 'small runs')
  assert.equal(namesPerSlice(500, 16, runsOf(150, 2300)), 8000, 'runs of an import')
  assert.equal(namesPerSlice(63, 16, runsOf(150, 2300)), 32, 'after a damaged slice')
  assert.equal(namesPerSlice(1, 16, runsOf(150, 2300)), 1)
  const beside = (large: number): number => namesPerSlice(500, 16, [...runsOf(large, 1_000_000), ...runsOf(150, 2300)])
  assert.equal(beside(3), 1000, 'runs of an import beside three large ones, in which each key is looked up')
  assert.equal(beside(10), 32, 'large slices would look up too many keys')
})
