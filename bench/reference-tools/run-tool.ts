/** Runs a reference tool, a program that examines the same names independently, and returns its output. */

import { execFile } from 'node:child_process'

/** `code`: null if the tool was killed at its timeout. */
export type ToolOutput = { code: number | null; text: string }

/** Returns standard output and standard error together, as UTF-8. The tool gets no input. */
export function runTool(program: string, args: readonly string[], milliseconds: number): Promise<ToolOutput> {
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
