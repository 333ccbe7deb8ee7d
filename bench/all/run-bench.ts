/** Runs one bench at its short size, in folders of its own and bounded in time, and collects what it reported. */

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder, ROOT, startProcess } from '../measure/process.ts'
import { childPids } from '../measure/processor-time.ts'
import { machine, type Report } from '../measure/report.ts'
import { type BenchRun, uniqueNames } from './compare.ts'
import type { ShortRun } from './short-runs.ts'

/** Of a failed bench, an error message, or else its last line, up to this length. */
const MAX_ERROR_LENGTH = 200

/** Runs a bench. Its output goes to a log file in `bench/out`. Never throws because the bench fails. */
export async function runBench(name: string, { args, maxMinutes }: ShortRun, commit: string): Promise<BenchRun> {
  const folder = makeTemporaryFolder()
  chmodSync(folder, 0o755) // under root, the PostgreSQL of a bench runs as another user
  const reports = join(folder, 'reports')
  mkdirSync(reports)
  const startedAt = performance.now()
  const running = startProcess([process.execPath, join(ROOT, `bench/${name}.ts`), ...args], {
    env: { BENCH_FOLDER: folder, BENCH_REPORTS: reports },
  })
  let isTimeUp = false
  const timer = setTimeout(() => {
    isTimeUp = true
    killTree(running.child.pid!)
  }, maxMinutes * 60_000)
  const code = await running.exited
  clearTimeout(timer)
  const failure = isTimeUp ? `did not end within ${maxMinutes} minutes` : errorIn(running.output())
  writeFileSync(join(ROOT, `bench/out/${name}.log`), running.output())
  const found = readdirSync(reports).map((file) => JSON.parse(readFileSync(join(reports, file), 'utf8')) as Report)
  rmSync(folder, { recursive: true, force: true })
  return {
    date: new Date().toISOString().slice(0, 10),
    commit,
    machine: machine(),
    arguments: args.join(' '),
    seconds: Math.round((performance.now() - startedAt) / 1000),
    isQuiet: found.every(({ isQuiet }) => isQuiet),
    load: found.map(({ load }) => load).join('; '),
    error: code === 0 ? null : failure,
    figures: figuresOf(found),
  }
}

/** Kills a process and its descendants. */
function killTree(pid: number): void {
  const children = childPids(pid)
  process.kill(pid, 'SIGKILL')
  children.forEach(killTree)
}

function figuresOf(reports: readonly Report[]): BenchRun['figures'] {
  const metrics = reports.flatMap((report) => report.metrics)
  const names = uniqueNames(metrics.map(({ name }) => name))
  return metrics.map(({ value, unit, target, isMet }, index) => ({ name: names[index]!, value, unit, target, isMet }))
}

function errorIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const line = lines.findLast((each) => /^\w*Error: /.test(each)) ?? lines.at(-1) ?? 'no output'
  return line.slice(0, MAX_ERROR_LENGTH)
}
