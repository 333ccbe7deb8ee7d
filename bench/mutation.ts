/**
 * `npm run bench:mutation`: changes the code of pure modules in small ways and runs their tests. A change that no test
 * notices survives. `--sample N` tries N changes of each module, `--only MODULE` those of one.
 */

import { spawn } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder, ROOT } from './measure/process.ts'
import { type Metric, metricWithMin, report } from './measure/report.ts'
import { MUTATED_MODULES, type MutatedModule } from './mutation/modules.ts'
import { type Mutant, mutantsOf } from './mutation/mutants.ts'
import { seededRandom } from './world/random.ts'

type Trial = Mutant & { path: string }
type ModuleResult = { tried: number; killed: number; timedOut: number; survivors: string[] }

/** The share of changes that the tests should notice, in percent. */
const MIN_SCORE = 85
const EXTRA_TIMEOUT_MS = 5_000

const { sample, only, seed } = readTexts({ sample: 'all', only: 'all', seed: '1' })
const folder = makeTemporaryFolder()
const copies = Array.from({ length: Math.max(1, Math.min(4, availableParallelism())) }, (_, index) =>
  join(folder, `${index}`),
)

/** What a copy of the checkout does without. It has a link to the packages. */
const NOT_COPIED = ['.git', 'node_modules', 'release'].map((name) => join(ROOT, name))

function copyCheckout(to: string): void {
  cpSync(ROOT, to, { recursive: true, filter: (path) => !NOT_COPIED.includes(path) })
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'))
}

/** Runs the tests of a module in a copy. Resolves to whether they pass; null if the time is up. */
function testsPass(copy: string, tests: readonly string[], timeoutMs: number): Promise<boolean | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--test', '--test-force-exit', ...tests], {
      cwd: copy,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      process.kill(-child.pid!, 'SIGKILL')
    }, timeoutMs)
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(isLate ? null : code === 0)
    })
  })
}

function trialsOf({ sources }: MutatedModule): Trial[] {
  const paths = sources.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()
  if (paths.length === 0) throw new Error(`${sources.join(', ')}: no file`)
  const all = paths.flatMap((path) =>
    mutantsOf(path, readFileSync(join(ROOT, path), 'utf8')).map((each) => ({ ...each, path })),
  )
  if (sample === 'all') return all
  const random = seededRandom(Number(seed), all.length, 5)
  const drawn = all.map((trial) => ({ trial, order: random() })).sort((a, b) => a.order - b.order)
  return drawn.slice(0, Number(sample)).map(({ trial }) => trial)
}

async function mutateModule(mutated: MutatedModule): Promise<ModuleResult> {
  const tests = mutated.tests.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()
  const startedAt = performance.now()
  if ((await testsPass(copies[0]!, tests, 600_000)) !== true)
    throw new Error(`${mutated.name}: its tests fail without a change`)
  const timeoutMs = 3 * (performance.now() - startedAt) + EXTRA_TIMEOUT_MS
  const waiting = trialsOf(mutated)
  const result: ModuleResult = { tried: waiting.length, killed: 0, timedOut: 0, survivors: [] }
  const work = async (copy: string): Promise<void> => {
    for (let trial = waiting.pop(); trial !== undefined; trial = waiting.pop()) {
      const { path, start, end, text, line, what } = trial
      const original = readFileSync(join(ROOT, path), 'utf8')
      writeFileSync(join(copy, path), original.slice(0, start) + text + original.slice(end))
      const outcome = await testsPass(copy, tests, timeoutMs)
      writeFileSync(join(copy, path), original)
      if (outcome === true) result.survivors.push(`${path}:${line}: ${what}`)
      else result.killed++
      if (outcome === null) result.timedOut++
    }
  }
  await Promise.all(copies.map(work))
  result.survivors.sort()
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
    metrics.push(
      metricWithMin(
        `${mutated.name}, of ${result.tried} changes`,
        (100 * result.killed) / result.tried,
        '%',
        MIN_SCORE,
      ),
    )
    console.log(`${mutated.name}: ${result.killed} of ${result.tried} noticed, ${result.timedOut} by a timeout`)
    for (const survivor of result.survivors) console.log(`  ${survivor}`)
  }
  report('mutation', metrics, [`sample: ${sample}, seed ${seed}`], raw)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
