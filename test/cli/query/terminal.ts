/** Runs domaindex on a pseudo terminal, which script(1) of util-linux provides. */

import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../../../bin/domaindex.js', import.meta.url))

/** The option `skip` of tests that need a terminal. */
export const noTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? false
    : 'there is no script(1) of util-linux'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns what the terminal shows, of standard output and standard error, and the exit code. */
export function runOnTerminal(
  folder: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; shown: string }> {
  const line = [process.execPath, LAUNCHER, ...args].map(quoted).join(' ')
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (shown += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, shown })))
}
