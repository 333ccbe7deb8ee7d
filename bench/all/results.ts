/** The figures of the last committed run: `bench/results.json`, one figure per line, so that a diff shows a change. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BenchResults, BenchRun } from './compare.ts'

const RESULTS_FILE = fileURLToPath(new URL('../results.json', import.meta.url))

/** Returns no results if the file does not exist. */
export function readResults(): BenchResults {
  return existsSync(RESULTS_FILE) ? JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) : {}
}

/** Replaces the runs of these benches in the file and keeps the others. A failed run replaces nothing. */
export function writeResults(runs: BenchResults): void {
  const succeeded = Object.entries(runs).filter(([, run]) => run.error === null)
  const all = { ...readResults(), ...Object.fromEntries(succeeded) }
  writeFileSync(RESULTS_FILE, formatResults(all))
}

/** Formats results as JSON with one line per figure, sorted by bench. */
export function formatResults(results: BenchResults): string {
  const benches = Object.keys(results).sort()
  return `{\n${benches.map((name) => formatRun(name, results[name]!)).join(',\n')}\n}\n`
}

function formatRun(name: string, { figures, ...run }: BenchRun): string {
  const fields = Object.entries(run).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  const lines = figures.map((figure) => `    ${JSON.stringify(figure)}`).join(',\n')
  return `${JSON.stringify(name)}: {\n${fields.join('')}  "figures": [${lines === '' ? '' : `\n${lines}\n  `}]\n}`
}
