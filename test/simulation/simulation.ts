/** Runs the steps of a seed, and finds the shortest part of them that still fails. */

import { setImmediate } from 'node:timers/promises'
import { labelOfFile } from '../../src/registrations/inbox.ts'
import { performStep } from './actions.ts'
import { checkStore, checkWorld } from './checks.ts'
import { simulateEnvironment } from './environment.ts'
import { Expectations } from './expectations.ts'
import { interceptFiles } from './file-calls.ts'
import { NO_FAULT, type PlantedFault } from './planted.ts'
import { type Step, stepsOf } from './steps.ts'
import { Violation } from './violation.ts'
import { SimulatedClock, START, World } from './world.ts'

/** `place`: the index of the step that failed; the number of all steps if the end was wrong. */
export type Failure = { seed: number; place: number; error: Error; steps: readonly Step[] }
/** What the runs of a bench have done. */
export type Counts = { steps: number; deaths: number; losses: number; failures: number; kinds: Map<string, number> }

export const newCounts = (): Counts => ({ steps: 0, deaths: 0, losses: 0, failures: 0, kinds: new Map() })

/** Runs steps. Returns the failure, or null. */
export async function runSteps(
  seed: number,
  steps: readonly Step[],
  planted: PlantedFault = NO_FAULT,
  counts?: Counts,
): Promise<Failure | null> {
  const expected = new Expectations()
  const clock = new SimulatedClock(START)
  let wait = (milliseconds: number): void => clock.pass(milliseconds)
  const restore = simulateEnvironment(seed, (milliseconds) => wait(milliseconds))
  let wrong: string | null = null
  const world = await World.open(
    clock,
    (report) => {
      if (report.outcome === 'done') wrong ??= expected.imported(labelOfFile(report.file)!.day, report.file)
      else if (report.outcome === 'failed') wrong ??= `${report.file} was refused: ${report.reason}`
    },
    planted,
  )
  wait = (milliseconds) => world.wait(milliseconds)
  const endIntercept = interceptFiles(world.files)
  const run = { world, expected }
  let place = 0
  try {
    for (; place < steps.length; place++) {
      const step = steps[place]!
      await performStep(run, step)
      if (counts) count(counts, step)
      if (wrong !== null) throw new Violation(wrong)
      await setImmediate() // a reader keeps its snapshot of the store until the turn ends
    }
    await checkWorld(run)
    await checkStore(run)
    return null
  } catch (error) {
    return { seed, place, error: error as Error, steps }
  } finally {
    endIntercept()
    restore()
    await world.close()
    if (counts) addTotals(counts, world)
  }
}

function count(counts: Counts, { kind }: Step): void {
  counts.steps++
  counts.kinds.set(kind, (counts.kinds.get(kind) ?? 0) + 1)
}

function addTotals(counts: Counts, { totals }: World): void {
  counts.deaths += totals.deaths
  counts.losses += totals.losses
  counts.failures += totals.failures
}

/** The steps of a seed as a test or a bench runs them. */
export function runSeed(seed: number, count: number, planted?: PlantedFault, counts?: Counts): Promise<Failure | null> {
  return runSteps(seed, stepsOf(seed, count), planted, counts)
}

/** Drops steps from a failing run while it still fails. `maxRuns`: how often it is tried. */
export async function shrink(failure: Failure, planted?: PlantedFault, maxRuns = 200): Promise<Failure> {
  let best: Failure = { ...failure, steps: failure.steps.slice(0, failure.place + 1) }
  let runs = 0
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.steps.length && runs < maxRuns; ) {
      const fewer = best.steps.toSpliced(from, size)
      runs++
      const found = await runSteps(failure.seed, fewer, planted)
      if (found === null) from += size
      else best = { ...found, steps: fewer.slice(0, found.place + 1) }
    }
  }
  return best
}

/** The failure as a text: the seed, what is wrong, and the steps. */
export function describe({ seed, place, error, steps }: Failure): string {
  const lines = steps.map((step) => `  ${JSON.stringify(step)}`)
  const what = error instanceof Violation ? error.message : (error.stack ?? String(error))
  return [`seed ${seed}, step ${place}: ${what}`, ...lines].join('\n')
}
