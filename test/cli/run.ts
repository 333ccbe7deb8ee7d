/**
 * Runs domaindex in a folder of its own, without settings from the environment: in the process of the test, or as a user
 * does, with the launcher.
 */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Console } from 'node:console'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../../src/cli/program/program.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { until } from '../until.ts'

export type Outcome = { code: number | null; signal: string | null; stdout: string; stderr: string }
type Input = string | Uint8Array
type Call = { args: readonly string[]; folder: string; env: NodeJS.ProcessEnv; input: Input | undefined }

/** Thrown by `process.exit`, so that the command ends there. */
class Exit extends Error {}

/** The environment of the test without settings. */
const PLAIN_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('DOMAINDEX_')),
)
const LAUNCHER = fileURLToPath(new URL('../../bin/domaindex.js', import.meta.url))

/** How a process starts: behind which command, and whether it leads a process group of its own. */
export type Start = { command?: readonly [string, ...string[]]; detached?: boolean }
type Options = { env?: Record<string, string> | undefined; input?: Input }

/**
 * Creates a folder with the store `store.db`. It is removed after the test, or after all tests of the file if their
 * `after` is passed.
 */
export function folderOf(test: { after(operation: () => void | Promise<void>): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-command-'))
  const running = new Set<ChildProcess>()
  test.after(async () => {
    const ended = [...running].map((child) => once(child, 'close')) // a process would create its files again
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
    rmSync(folder, { recursive: true, force: true })
  })
  const path = (name: string): string => join(folder, name)
  const url = `sqlite:${path('store.db')}`
  const environment = (env: Record<string, string> = {}) => ({ ...PLAIN_ENVIRONMENT, DOMAINDEX_STORE: url, ...env })
  const start = (
    args: string[],
    env?: Record<string, string>,
    { command: [program, ...options] = [process.execPath], detached = false }: Start = {},
  ): ChildProcessWithoutNullStreams => {
    const child = spawn(program, [...options, LAUNCHER, ...args], {
      cwd: folder,
      env: environment(env),
      detached,
    })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }
  /** Runs a command to its end in a process of its own. */
  const runAlone = (args: string[], { env, input }: Options = {}): Promise<Outcome> => {
    const child = start(args, env)
    child.stdin.on('error', () => {}) // the command may end before it has read everything
    child.stdin.end(input)
    return outcomeOf(child)
  }
  return {
    path,
    url,
    start,
    /** Runs a command to its end: in the process of the test, unless it reads the file descriptor of standard input. */
    run: (args: string[], { env, input }: Options = {}): Promise<Outcome> =>
      args[0] === 'import' && input !== undefined
        ? runAlone(args, { env, input })
        : runHere({ args, folder, env: environment(env), input }),
    runAlone,
    /** Opens the store for the length of `work`. */
    async withStore<Result>(work: (store: Store) => Promise<Result>, store = url): Promise<Result> {
      const opened = await openStore(store, { access: 'write', ledger: 'own', secret: null })
      return work(opened).finally(() => opened.close())
    },
  }
}

/** Returns the bytes of all files in a folder. */
function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const sizes = entries.map(
    ({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0,
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Kills a process once it has written `bytes` more into its folder, unless it ends before. */
export async function killAfter(child: ChildProcess, folder: string, bytes: number): Promise<void> {
  const target = bytesIn(folder) + bytes
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  await until(() => isOver() || bytesIn(folder) >= target)
  child.kill('SIGKILL')
}

/** Collects the output of a process until it ends. */
export function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })))
}

/** The end of the command that was called last. */
let latest: Promise<unknown> = Promise.resolve()

/** Runs a command with the given folder as its working directory, environment and input, after those called before. */
function runHere(call: Call): Promise<Outcome> {
  const outcome = latest.then(() => runNow(call))
  latest = outcome.catch(() => {})
  return outcome
}

async function runNow({ args, folder, env, input }: Call): Promise<Outcome> {
  const stdout = collector()
  const stderr = collector()
  let exitCode: number | null = null
  const exit = (code: number | string | null = process.exitCode ?? 0): never => {
    exitCode ??= Number(code)
    stdout.close()
    stderr.close()
    throw new Exit()
  }
  const restore = replaceProcess({
    folder,
    env,
    properties: { stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]), stdout, stderr, exit },
  })
  try {
    await runProgram(args)
    const code = exitCode ?? Number(process.exitCode ?? 0)
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    restore()
  }
}

/** A stream that keeps what is written until `close`. */
function collector() {
  const chunks: Buffer[] = []
  let isOpen = true
  const stream = new Writable({
    write(chunk, _encoding, done) {
      if (isOpen) chunks.push(chunk)
      done()
    },
  })
  return Object.assign(stream, {
    close(): void {
      isOpen = false
    },
    text: () => Buffer.concat(chunks).toString(),
  })
}

/** Replaces what a command sees of its process; returns a function that puts everything back. */
function replaceProcess({ folder, env, properties }: Pick<Call, 'folder' | 'env'> & { properties: object }) {
  const before = {
    folder: process.cwd(),
    env: { ...process.env },
    umask: process.umask(),
    console: globalThis.console,
    exitCode: process.exitCode,
    properties: Object.fromEntries(
      Object.keys(properties).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)!]),
    ),
  }
  process.chdir(folder)
  setEnvironment(env)
  process.exitCode = undefined
  for (const [name, value] of Object.entries(properties))
    Object.defineProperty(process, name, { value, configurable: true, writable: true })
  globalThis.console = new Console({ stdout: process.stdout, stderr: process.stderr })
  return (): void => {
    process.chdir(before.folder)
    setEnvironment(before.env)
    process.umask(before.umask)
    process.exitCode = before.exitCode
    globalThis.console = before.console
    Object.defineProperties(process, before.properties)
  }
}

/** Changes the environment in place, because the runtime reads some variables from there, such as HOME. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name]
  Object.assign(process.env, env)
}
