/** Processes that are measured: started on a core, with a nice value, watched, ended. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** `core`: the only one it may run on. `enter`: a cgroup's folder. `uid`: whom it runs as. */
export type Manner = {
  core?: number
  nice?: number
  env?: Record<string, string>
  enter?: string
  uid?: number
  /** A group of its own, so that a signal reaches its children too. */
  group?: boolean
  /** The file that what it says goes to. */
  output?: string
}

/** A process and what it has said so far. */
export type Started = { child: ChildProcess; group: boolean; said(): string; ended: Promise<number> }

/** What a process used. Bytes handed to write calls, and bytes that went to the disk. */
export type Used = { peakBytes: number; cpuSeconds: number; written: number; toDisk: number }

/** True where a program is on the path. */
export function has(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Starts a program; standard error comes out where it is said. */
export function start(command: readonly string[], manner: Manner = {}): Started {
  const { core, nice, env = {}, enter, uid, output, group = false } = manner
  const words = [...command]
  if (core !== undefined && has('taskset')) words.unshift('taskset', '-c', String(core))
  if (nice !== undefined) words.unshift('nice', '-n', String(nice))
  if (enter !== undefined) words.unshift('sh', '-c', `echo $$ > ${enter}/cgroup.procs && exec "$@"`, 'sh')
  const file = output === undefined ? null : openSync(output, 'w')
  const child = spawn(words[0]!, words.slice(1), {
    cwd: ROOT,
    detached: group,
    env: { ...process.env, ...env },
    stdio: file === null ? ['ignore', 'pipe', 'pipe'] : ['ignore', file, file],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  if (file !== null) closeSync(file)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-100_000)
    })
  }
  const ended = once(child, 'exit').then(([code]) => code ?? 1)
  return { child, group, said: () => (output === undefined ? said : beginningOf(output)), ended }
}

function beginningOf(path: string): string {
  const buffer = Buffer.alloc(10_000)
  const file = openSync(path, 'r')
  const length = readSync(file, buffer)
  closeSync(file)
  return buffer.toString('utf8', 0, length)
}

/** Waits until a process has said something that the pattern finds. Throws where it ends without. */
export async function hears(started: Started, pattern: RegExp, seconds = 60): Promise<RegExpExecArray> {
  const until = Date.now() + 1000 * seconds
  for (;;) {
    const found = pattern.exec(started.said())
    if (found) return found
    if (started.child.exitCode !== null || Date.now() > until) {
      throw new Error(`${started.child.spawnargs.join(' ')} never said ${pattern}:\n${started.said()}`)
    }
    await new Promise((done) => setTimeout(done, 20))
  }
}

/** Ends a process, with its group where it has one of its own, and waits for it. */
export async function end({ child, group, ended }: Started, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) process.kill(group ? -child.pid! : child.pid!, signal)
  return ended
}

/** Runs a program to its end; throws where it ends with another code than those that are well. */
export async function run(command: readonly string[], manner: Manner = {}, well = [0]): Promise<string> {
  const started = start(command, manner)
  const code = await started.ended
  if (!well.includes(code)) throw new Error(`${command.join(' ')} ended with ${code}:\n${started.said()}`)
  return started.said()
}

/** The words that run domaindex with the store at a path. */
export function domaindex(...words: string[]): string[] {
  return [process.execPath, join(ROOT, 'bin/domaindex.js'), ...words]
}

/** Runs domaindex to its end and says what it said, how long it took in seconds and what it used. */
export async function timed(
  words: readonly string[],
  manner: Manner,
  well = [0],
): Promise<{ said: string; seconds: number; used: Used }> {
  const folder = temporary()
  const WITNESS = join(folder, 'used.json')
  const NODE_OPTIONS = `--import ${new URL('./report-usage.ts', import.meta.url).href}`
  const begun = performance.now()
  try {
    const said = await run(domaindex(...words), { ...manner, env: { ...manner.env, WITNESS, NODE_OPTIONS } }, well)
    const seconds = (performance.now() - begun) / 1000
    return { said, seconds, used: JSON.parse(readFileSync(WITNESS, 'utf8')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A new folder for what a bench makes, below BENCH_FOLDER or the system's. */
export function temporary(): string {
  return mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'domaindex-bench-'))
}
