/**
 * Random histories by the ten thousand on one engine: the properties of the conformance suites of the store, the ledger
 * and the index segments. `--engine sqlite|postgres --seed N --seconds N`; `--runs`, `--ledger` and `--segments N` are
 * the histories of each suite, 0 for none. A failure prints the seed, the path and the history.
 */

import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { holdOf } from '../test/store/conformance/filed-pages.ts'
import { PROPERTIES } from '../test/store/conformance/histories.ts'
import { SEGMENT_PROPERTY } from '../test/store/conformance/segments.ts'
import { NOW } from '../test/store/conformance/world.ts'
import { LEDGER_PROPERTIES } from '../test/store/ledger/interleavings.ts'
import { figure, type Line, report } from './measure/report.ts'
import { emptiedStore } from './world/emptied-store.ts'

/** Histories of one seed, so that time can be looked at between them; the seeds of a run are so far apart. */
const AT_ONCE = 100
const SEEDS = 1_000_003

/** A property with the number of histories to try. */
type Task = { sentence: string; runs: number; property: () => fc.IRawProperty<unknown, true> }

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    runs: { type: 'string', default: '100000' },
    ledger: { type: 'string', default: '5000' },
    segments: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '600' },
  },
})
const store = await emptiedStore(values.engine === 'postgres' ? 'postgres' : 'sqlite')
const clock = { now: NOW }
const single = await store.openOne(clock)
try {
  const hold = await holdOf(single)
  const tasks: Task[] = [
    ...PROPERTIES.map(({ sentence, on }) => ({
      sentence,
      runs: Math.ceil(Number(values.runs) / PROPERTIES.length),
      property: () => on(store),
    })),
    ...LEDGER_PROPERTIES.map(({ sentence, on }) => ({
      sentence: `ledger: ${sentence}`,
      runs: Math.ceil(Number(values.ledger) / LEDGER_PROPERTIES.length),
      property: () => on({ ledger: single.ledger, clock }),
    })),
    {
      sentence: `segments: ${SEGMENT_PROPERTY.sentence}`,
      runs: Number(values.segments),
      property: () => SEGMENT_PROPERTY.on(single, hold),
    },
  ].filter(({ runs }) => runs > 0)
  await runAll(tasks)
} finally {
  await single.close()
  await store.end()
}

async function runAll(tasks: readonly Task[]): Promise<void> {
  const lines: Line[] = []
  for (const task of tasks) {
    const spent = process.cpuUsage()
    const held = await run(task, Number(values.seconds) / tasks.length)
    const { user, system } = process.cpuUsage(spent)
    console.log(`${held} histories in ${Math.round((user + system) / 1e6)} s of processor time: ${task.sentence}`)
    lines.push(figure(task.sentence.slice(0, 60), held, 'histories'))
  }
  report(`histories-${values.engine}`, lines, [`seed ${values.seed}`], values)
}

/** Tries the histories of a task for at most so many seconds. Returns how many were tried. */
async function run({ runs, property }: Task, seconds: number): Promise<number> {
  const until = performance.now() + 1000 * seconds
  let held = 0
  for (let seed = Number(values.seed); held < runs && performance.now() < until; seed += SEEDS) {
    const outcome = await fc.check(property(), { numRuns: Math.min(AT_ONCE, runs - held), seed })
    held += outcome.numRuns
    if (outcome.failed) fail(`${fc.defaultReportMessage(outcome)}\n${outcome.errorInstance}`)
  }
  return held
}

function fail(words: string): void {
  console.error(words)
  process.exitCode = 1
}
