/**
 * `npm run bench:histories`: checks the properties of the conformance suites of the store, the ledger and the index
 * segments with tens of thousands of random histories on one engine.
 * Options: `--engine sqlite|postgres --seed N --seconds N`. `--runs N`, `--ledger N` and `--segments N` are the numbers
 * of histories of the three suites. If a history fails, the bench prints the seed, the path and the history.
 */

import fc from 'fast-check'
import { PROPERTIES } from '../test/store/conformance/histories.ts'
import { holdOf } from '../test/store/conformance/similar/filed-pages.ts'
import { SEGMENT_PROPERTY } from '../test/store/conformance/similar/segments.ts'
import { NOW } from '../test/store/conformance/world.ts'
import { LEDGER_PROPERTIES } from '../test/store/ledger/interleavings.ts'
import { readTexts } from './measure/options.ts'
import { type Metric, metric, report } from './measure/report.ts'
import { openReusedStore } from './world/reused-store.ts'

/** The time limit is checked after this many histories, which share a seed. */
const HISTORIES_PER_SEED = 100
/** The distance between the seeds of a run. */
const SEED_STEP = 1_000_003

/** A property with the number of its histories. */
type PropertyRun = { sentence: string; runs: number; property: () => fc.IRawProperty<unknown, true> }

const values = readTexts({
  engine: 'sqlite',
  runs: '100000',
  ledger: '5000',
  segments: '5000',
  seed: '1',
  seconds: '600',
})
const store = await openReusedStore(values.engine === 'postgres' ? 'postgres' : 'sqlite')
const clock = { now: NOW }
const single = await store.openInstance(clock)
try {
  const hold = await holdOf(single)
  const tasks: PropertyRun[] = [
    ...PROPERTIES.map(({ sentence, on }) => ({
      sentence,
      runs: Math.ceil(Number(values.runs) / PROPERTIES.length),
      property: () => on(store),
    })),
    ...LEDGER_PROPERTIES.map(({ sentence, on }) => ({
      sentence: `ledger: ${sentence}`,
      runs: Math.ceil(Number(values.ledger) / LEDGER_PROPERTIES.length),
      property: () => on({ ledger: single.ledger, leasedUnits: store.leasedUnits, clock }),
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

async function runAll(tasks: readonly PropertyRun[]): Promise<void> {
  const metrics: Metric[] = []
  for (const task of tasks) {
    const cpuBefore = process.cpuUsage()
    const passed = await runProperty(task, Number(values.seconds) / tasks.length)
    const { user, system } = process.cpuUsage(cpuBefore)
    console.log(`${passed} histories in ${Math.round((user + system) / 1e6)} s of processor time: ${task.sentence}`)
    metrics.push(metric(task.sentence.slice(0, 60), passed, 'histories'))
  }
  report(`histories-${values.engine}`, metrics, [`seed ${values.seed}`], values)
}

/** Runs the histories of a property for at most `seconds`. Returns their number. */
async function runProperty({ runs, property }: PropertyRun, seconds: number): Promise<number> {
  const deadline = performance.now() + 1000 * seconds
  let passed = 0
  for (let seed = Number(values.seed); passed < runs && performance.now() < deadline; seed += SEED_STEP) {
    const outcome = await fc.check(property(), { numRuns: Math.min(HISTORIES_PER_SEED, runs - passed), seed })
    passed += outcome.numRuns
    if (outcome.failed) fail(`${fc.defaultReportMessage(outcome)}\n${outcome.errorInstance}`)
  }
  return passed
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}
