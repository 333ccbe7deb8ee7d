/** Measured processes: starts them on a core with a nice value, reads their output, and stops them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

process.env.PATH = `${process.env.PATH}:/usr/sbin` // where Debian installs servers

/** `core`: the only core that the process may use. `cgroup`: the folder of a cgroup that it joins. `uid`: its user. */
export type ProcessOptions = {
  core?: number
  nice?: number
  env?: Record<string, string>
  cgroup?: string
  uid?: number
  /** Starts a process group, so that a signal also reaches the children. */
  hasOwnGroup?: boolean
  /** The file that the output goes to. */
  outputFile?: string
}

/** A running process. `output` returns what it printed so far. `exited` resolves with its exit code. */
export type RunningProcess = { child: ChildProcess; hasOwnGroup: boolean; output(): string; exited: Promise<number> }

/**
 * The resources that a process used. `bytesWritten`: bytes passed to write calls. `bytesToDisk`: bytes that reached the
 * disk.
 */
export type ResourceUsage = { peakBytes: number; cpuSeconds: number; bytesWritten: number; bytesToDisk: number }

/** Returns whether a program is on the path. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Starts a program. Its output contains standard output and standard error. */
export function startProcess(command: readonly string[], options: ProcessOptions = {}): RunningProcess {
  const { core, nice, env = {}, cgroup, uid, outputFile, hasOwnGroup = false } = options
  const args = [...command]
  if (core !== undefined && isInstalled('taskset')) args.unshift('taskset', '-c', String(core))
  if (nice !== undefined) args.unshift('nice', '-n', String(nice))
  if (cgroup !== undefined) args.unshift('sh', '-c', `echo $$ > ${cgroup}/cgroup.procs && exec "$@"`, 'sh')
  const file = outputFile === undefined ? null : openSync(outputFile, 'w')
  const child = spawn(args[0]!, args.slice(1), {
    cwd: ROOT,
    detached: hasOwnGroup,
    env: { ...process.env, ...env },
    stdio: file === null ? ['ignore', 'pipe', 'pipe'] : ['ignore', file, file],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  if (file !== null) closeSync(file)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-100_000)
    })
  }
  const exited = once(child, 'exit').then(([code]) => code ?? 1)
  return { child, hasOwnGroup, output: () => (outputFile === undefined ? output : readStart(outputFile)), exited }
}

function readStart(path: string): string {
  const buffer = Buffer.alloc(10_000)
  const file = openSync(path, 'r')
  const length = readSync(file, buffer)
  closeSync(file)
  return buffer.toString('utf8', 0, length)
}

/**
 * Waits until the output of a process matches the pattern. Throws if the process ends or the time is up before that.
 */
export async function waitForOutput(running: RunningProcess, pattern: RegExp, seconds = 60): Promise<RegExpExecArray> {
  const deadline = Date.now() + 1000 * seconds
  for (;;) {
    const found = pattern.exec(running.output())
    if (found) return found
    if (running.child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`${running.child.spawnargs.join(' ')} did not print ${pattern}:\n${running.output()}`)
    }
    await new Promise((done) => setTimeout(done, 20))
  }
}

/** Signals a process, or its process group if it has one, and waits for its end. Returns its exit code. */
export async function stopProcess(
  { child, hasOwnGroup, exited }: RunningProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) process.kill(hasOwnGroup ? -child.pid! : child.pid!, signal)
  return exited
}

/** Restricts a running process, and the children that it starts from now on, to one core. */
export async function pinProcess({ child }: RunningProcess, core: number): Promise<void> {
  if (isInstalled('taskset')) await runProcess(['taskset', '-a', '-c', '-p', String(core), String(child.pid)])
}

/** Runs a program to its end and returns its output. Throws if the exit code is not one of `successCodes`. */
export async function runProcess(
  command: readonly string[],
  options: ProcessOptions = {},
  successCodes = [0],
): Promise<string> {
  const running = startProcess(command, options)
  const code = await running.exited
  if (!successCodes.includes(code))
    throw new Error(`${command.join(' ')} ended with exit code ${code}:\n${running.output()}`)
  return running.output()
}

/** Returns the command that runs domaindex. */
export function domaindexCommand(...args: string[]): string[] {
  return [process.execPath, join(ROOT, 'bin/domaindex.js'), ...args]
}

/** Runs domaindex to its end. Returns its output, its duration in seconds and the resources that it used. */
export async function measureCommand(
  args: readonly string[],
  options: ProcessOptions,
  successCodes = [0],
): Promise<{ output: string; seconds: number; usage: ResourceUsage }> {
  const folder = makeTemporaryFolder()
  const USAGE_FILE = join(folder, 'usage.json')
  const NODE_OPTIONS = `--import ${new URL('./report-usage.ts', import.meta.url).href}`
  const startedAt = performance.now()
  try {
    const output = await runProcess(
      domaindexCommand(...args),
      { ...options, env: { ...options.env, USAGE_FILE, NODE_OPTIONS } },
      successCodes,
    )
    const seconds = (performance.now() - startedAt) / 1000
    return { output, seconds, usage: JSON.parse(readFileSync(USAGE_FILE, 'utf8')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Creates a folder for the files of a bench, below BENCH_FOLDER or the system's temporary folder. */
export function makeTemporaryFolder(): string {
  return mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'domaindex-bench-'))
}
