/** Runs a reference tool: a program that examines the same names independently. Returns its output. */

import { execFile } from 'node:child_process'

/** `code` is null where it was ended because its time was up. */
export type Said = { code: number | null; text: string }

/** Its standard output and error together, as UTF-8; it gets nothing to read. */
export function ask(program: string, args: readonly string[], milliseconds: number): Promise<Said> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { timeout: milliseconds, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 },
      (_, stdout, stderr) => resolve({ code: child.exitCode, text: `${stdout}\n${stderr}` }),
    )
    child.stdin?.end()
  })
}
