/** Runs the test files of a mutated module in a copy of the checkout, until the first test fails. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** `passed`: no test noticed the change. `late`: the file took longer than its time, as in an endless loop. */
export type Outcome = 'passed' | 'failed' | 'late'

/** A test file, as a path from the root of the checkout, and how long it may run. */
export type TimedFile = { path: string; maxMs: number }

const MAX_UNCHANGED_MS = 600_000
const EXTRA_MS = 5_000

/** Runs each file without a change. Returns them with the time that they get, fastest first. Throws if a test fails. */
export async function timeFiles(copy: string, paths: readonly string[]): Promise<TimedFile[]> {
  const files: TimedFile[] = []
  for (const path of paths) {
    const startedAt = performance.now()
    const outcome = await runFile(copy, { path, maxMs: MAX_UNCHANGED_MS })
    if (outcome !== 'passed') throw new Error(`${path}: ${outcome} without a change`)
    files.push({ path, maxMs: 3 * (performance.now() - startedAt) + EXTRA_MS })
  }
  return files.sort((a, b) => a.maxMs - b.maxMs)
}

/** Runs the files in this order, and stops at the first that does not pass. */
export async function runFiles(copy: string, files: readonly TimedFile[]): Promise<Outcome> {
  for (const file of files) {
    const outcome = await runFile(copy, file)
    if (outcome !== 'passed') return outcome
  }
  return 'passed'
}

async function runFile(copy: string, { path, maxMs }: TimedFile): Promise<Outcome> {
  const args = ['--max-old-space-size=1024', '--test-reporter=tap', path]
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: `${copy}-compiled` },
  })
  let outcome: Outcome = 'passed'
  const end = (reason: Outcome): void => {
    if (outcome !== 'passed' || child.exitCode !== null) return
    outcome = reason
    process.kill(-child.pid!, 'SIGKILL')
  }
  const timer = setTimeout(() => end('late'), maxMs)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (/^\s*not ok /m.test(text)) end('failed')
  })
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  return outcome === 'passed' && code !== 0 ? 'failed' : outcome
}
