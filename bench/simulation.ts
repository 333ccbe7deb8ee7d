/**
 * `npm run bench:simulation`: simulates the whole service with deaths of processes, losses of power and failing disks,
 * seed after seed, and compares it with a model. With `--planted all` (or the name of a fault), it plants faults instead
 * and says after how many steps each is found.
 */

import '../test/runner/memory-folder.ts'
import { FAULTS, type PlantedFault } from '../test/simulation/planted.ts'
import { type Counts, describe, type Failure, newCounts, runSeed, shrink } from '../test/simulation/simulation.ts'
import { readTexts } from './measure/options.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'

/** Steps of one seed, so that a store stays small. */
const STEPS_PER_SEED = 1_000

const options = readTexts({ seed: '1', steps: '1000000', planted: 'none' })
const [firstSeed, maxSteps] = [Number(options.seed), Number(options.steps)]
const counts = newCounts()
const startedAt = performance.now()

if (options.planted === 'none') await searchProduct()
else await searchPlanted()

async function searchProduct(): Promise<void> {
  const failures: Failure[] = []
  await search(null, async (failure) => {
    failures.push(failure)
    console.error(describe(await shrink(failure)))
    return true
  })
  const seconds = (performance.now() - startedAt) / 1000
  const kinds = [...counts.kinds].sort(([, a], [, b]) => b - a)
  const metrics = [
    metric('steps', counts.steps, ''),
    metric('steps per second', counts.steps / seconds, '/s'),
    ...kinds.map(([kind, count]) => metric(`steps: ${kind}`, count, '')),
    metric('processes that died', counts.deaths, ''),
    metric('losses of power', counts.losses, ''),
    metric('calls of the disk that failed', counts.failures, ''),
    metricWithMax('faults found', failures.length, '', 0),
  ]
  end(metrics, failures.length > 0)
}

async function searchPlanted(): Promise<void> {
  const metrics: Metric[] = []
  let missed = 0
  for (const fault of FAULTS.filter(({ name }) => options.planted === 'all' || name === options.planted)) {
    let found: Failure | null = null
    const steps = await search(fault, async (failure) => {
      found = failure
      return false
    })
    if (found === null) missed++
    metrics.push(metric(`${fault.name}: steps until it is found`, found === null ? Number.NaN : steps, ''))
    console.error(
      `  ${fault.name}: ${found === null ? 'NOT FOUND' : `${steps} steps: ${(found as Failure).error.message}`}`,
    )
  }
  end([...metrics, metricWithMax('planted faults that are not found', missed, '', 0)], missed > 0)
}

/** Runs one seed after another. Returns the number of steps. `onFailure`: returns whether to continue. */
async function search(fault: PlantedFault | null, onFailure: (failure: Failure) => Promise<boolean>): Promise<number> {
  let steps = 0
  for (let seed = firstSeed; steps < maxSteps; seed++) {
    const count = Math.min(STEPS_PER_SEED, maxSteps - steps)
    const failure = await runSeed(seed, count, fault ?? undefined, counts)
    steps += failure === null ? count : failure.place + 1
    if (seed % 20 === 0 && fault === null) console.error(`  ${steps} steps, ${progress(counts)}`)
    if (failure !== null && !(await onFailure(failure))) break
  }
  return steps
}

function progress({ deaths, losses, failures }: Counts): string {
  return `${deaths} deaths, ${losses} losses of power, ${failures} failed calls`
}

function end(metrics: readonly Metric[], isFailed: boolean): void {
  const notes = [
    `seeds from ${firstSeed}, each with ${STEPS_PER_SEED.toLocaleString('en')} steps`,
    'real SQLite in memory, simulated folders',
  ]
  report('simulation', metrics, notes, { kinds: Object.fromEntries(counts.kinds) })
  if (isFailed) process.exitCode = 1
}
