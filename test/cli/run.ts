/** Runs domaindex as a user does: with the launcher, in a folder of its own, without settings from the environment. */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { until } from '../until.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/domaindex.js', import.meta.url))

export type Outcome = { code: number | null; signal: string | null; stdout: string; stderr: string }
/** How a process starts: behind which command, and whether it leads a process group of its own. */
export type Start = { command?: readonly [string, ...string[]]; detached?: boolean }
type Options = { env?: Record<string, string>; input?: string | Uint8Array }

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
  const start = (
    args: string[],
    env: Record<string, string> = {},
    { command: [program, ...options] = [process.execPath], detached = false }: Start = {},
  ): ChildProcessWithoutNullStreams => {
    const child = spawn(program, [...options, LAUNCHER, ...args], {
      cwd: folder,
      env: { ...plainEnvironment(), DOMAINDEX_STORE: url, ...env },
      detached,
    })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }
  return {
    path,
    url,
    start,
    /** Runs a command to its end. */
    run: (args: string[], { env, input }: Options = {}): Promise<Outcome> => {
      const child = start(args, env)
      child.stdin.on('error', () => {}) // the command may end before it has read everything
      child.stdin.end(input)
      return outcomeOf(child)
    },
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

function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DOMAINDEX_')))
}
