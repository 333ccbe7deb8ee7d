/**
 * `npm run bench:all`: runs every bench at its short size, one after another, and prints one table with the figures of
 * the last committed run beside them.
 * Options: `--only A,B` runs only these benches. `--write` rewrites `bench/results.json` with the figures.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BenchResults, type ComparedFigure, compareRuns } from './all/compare.ts'
import { readResults, writeResults } from './all/results.ts'
import { runBench } from './all/run-bench.ts'
import { SHORT_RUNS } from './all/short-runs.ts'
import { exitIfHelp } from './measure/options.ts'
import { ROOT } from './measure/process.ts'
import { formatNumber, formatTable } from './measure/report.ts'

const MAX_UNIT_LENGTH = 25

exitIfHelp('--only A,B, --write')
const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
const names = values.only?.split(',') ?? Object.keys(SHORT_RUNS)
const unknown = names.filter((name) => SHORT_RUNS[name] === undefined)
if (unknown.length > 0) throw new Error(`--only names no bench: ${unknown}. Benches: ${Object.keys(SHORT_RUNS)}`)

mkdirSync(join(ROOT, 'bench/out'), { recursive: true })
const before = readResults()
const commit = currentCommit()
const runs: BenchResults = {}
for (const name of names) {
  const run = await runBench(name, SHORT_RUNS[name]!, commit)
  runs[name] = run
  if (values.write) writeResults({ [name]: run })
  console.error(`  ${name}: ${run.seconds} s${run.error === null ? '' : `, FAILED: ${run.error}`}`)
}
const table = tableOf(runs)
console.log(table)
writeFileSync(join(ROOT, 'bench/out/all.txt'), `${table}\n`)
if (Object.values(runs).some(({ error }) => error !== null)) process.exitCode = 1

function tableOf(results: BenchResults): string {
  const rows = Object.entries(results).flatMap(([name, run]) => {
    const { [name]: old } = before
    const state = [`${run.seconds} s`, run.error === null ? '' : 'FAILED', run.isQuiet ? '' : `loaded: ${run.load}`]
    const heading = `${name} (${state.filter(Boolean).join(', ')})`
    return [
      [heading, '', '', old === undefined ? '' : `${old.date} ${old.commit}`],
      ...compareRuns(run, old).map(rowOf),
    ]
  })
  return formatTable([['', 'now', '', 'committed', 'change', '', 'target', 'loaded'], ...rows], [1, 3, 4])
}

function rowOf({ name, value, unit, before: old, change, verdict, target, isMet, loaded }: ComparedFigure): string[] {
  const cell = (figure: number | null): string => (figure === null ? '-' : formatNumber(figure))
  const percent = change === null ? '' : `${change > 0 ? '+' : ''}${Math.round(100 * change)} %`
  const shown = verdict === 'worse' || verdict === 'better' ? verdict : ''
  const missed = isMet === false ? `${target} MISSED` : target
  return [`  ${name}`, cell(value), unit.slice(0, MAX_UNIT_LENGTH), cell(old), percent, shown, missed, loaded]
}

/** The commit that was measured. `+` marks changes that are not committed. */
function currentCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+'}`
}
