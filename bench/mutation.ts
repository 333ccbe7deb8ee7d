/**
 * `npm run bench:mutation`: changes the code of pure modules in small ways and runs their tests. A change that no test
 * notices survives. `--sample N` tries N changes of each module, `--only MODULE` those of one, `--workers N` runs N
 * at a time. It prints the survivors that bench/mutation/survivors.md does not explain.
 */

import { cpSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, ROOT } from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { acceptedSurvivors, formatSurvivor } from './mutation/accepted.ts'
import { MUTATED_MODULES, type MutatedModule } from './mutation/modules.ts'
import { type Mutant, mutantsOf } from './mutation/mutants.ts'
import { type Outcome, runFiles, timeFiles } from './mutation/test-run.ts'
import { seededRandom } from './world/random.ts'

type Trial = Mutant & { path: string }
/** `survivors`: those without a reason. `accepted`: how many have one. */
type ModuleResult = { tried: number; killed: number; timedOut: number; accepted: number; survivors: string[] }

/** The share of changes that the tests should notice, in percent. */
const MIN_SCORE = 85

const { sample, only, seed, workers } = readTexts({
  sample: 'all',
  only: 'all',
  seed: '1',
  workers: String(Math.min(4, availableParallelism())),
})
const folder = makeTemporaryFolder()
const copies = Array.from({ length: Number(workers) }, (_, index) => join(folder, `${index}`))
const accepted = new Set(acceptedSurvivors().map(({ path, change, line }) => keyOf(path, change, line)))

/** What a copy of the checkout does without. It has a link to the packages. */
const NOT_COPIED = ['.git', 'node_modules', 'release'].map((name) => join(ROOT, name))

function keyOf(path: string, change: string, line: string): string {
  return JSON.stringify([path, change, line])
}

function copyCheckout(to: string): void {
  cpSync(ROOT, to, { recursive: true, filter: (path) => !NOT_COPIED.includes(path) })
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'))
}

function trialsOf({ sources }: MutatedModule): Trial[] {
  const paths = sources.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()
  if (paths.length === 0) throw new Error(`${sources.join(', ')}: no file`)
  const all = paths.flatMap((path) =>
    mutantsOf(path, readFileSync(join(copies[0]!, path), 'utf8')).map((each) => ({ ...each, path })),
  )
  if (sample === 'all') return all
  const random = seededRandom(Number(seed), all.length, 5)
  const drawn = all.map((trial) => ({ trial, order: random() })).sort((a, b) => a.order - b.order)
  return drawn.slice(0, Number(sample)).map(({ trial }) => trial)
}

/** Counts an outcome, and prints the change if it survived without a reason. */
function count(result: ModuleResult, trial: Trial, outcome: Outcome): void {
  result.tried++
  if (outcome === 'late') result.timedOut++
  if (outcome !== 'passed') result.killed++
  else if (accepted.has(keyOf(trial.path, trial.what, trial.code))) result.accepted++
  else {
    const survivor = `${trial.path}:${trial.line}: ${formatSurvivor(trial)}`
    result.survivors.push(survivor)
    console.log(survivor)
  }
}

async function mutateModule(mutated: MutatedModule): Promise<ModuleResult> {
  const tests = mutated.tests.flatMap((pattern) => globSync(pattern, { cwd: copies[0]! })).sort()
  const files = await timeFiles(copies[0]!, tests)
  const waiting = trialsOf(mutated).reverse()
  const result: ModuleResult = { tried: 0, killed: 0, timedOut: 0, accepted: 0, survivors: [] }
  const work = async (copy: string): Promise<void> => {
    for (let trial = waiting.pop(); trial !== undefined; trial = waiting.pop()) {
      const changed = join(copy, trial.path)
      const original = readFileSync(changed, 'utf8')
      writeFileSync(changed, original.slice(0, trial.start) + trial.text + original.slice(trial.end))
      count(result, trial, await runFiles(copy, files))
      writeFileSync(changed, original)
    }
  }
  await Promise.all(copies.map(work))
  return result
}

const metrics: Metric[] = []
const raw: Record<string, ModuleResult> = {}
try {
  for (const copy of copies) copyCheckout(copy)
  for (const mutated of MUTATED_MODULES) {
    if (only !== 'all' && only !== mutated.name) continue
    const result = await mutateModule(mutated)
    raw[mutated.name] = result
    const { tried, killed, timedOut, survivors } = result
    metrics.push(
      metricWithMin(`${mutated.name}, of ${tried} changes`, (100 * killed) / tried, '%', MIN_SCORE),
      metricWithMax(`${mutated.name}: survivors without a reason`, survivors.length, 'changes', 0),
      metric(`${mutated.name}: survivors with a reason`, result.accepted, 'changes'),
    )
    console.log(`${mutated.name}: ${killed} of ${tried} noticed, ${timedOut} by a timeout`)
  }
  report('mutation', metrics, [`sample: ${sample}, seed ${seed}`], raw)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
