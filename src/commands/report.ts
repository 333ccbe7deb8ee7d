/** What went wrong in a command, told on standard error: a line for what the user can mend, the stack for anything else. */

import { CommanderError } from 'commander'
import { SettingsFault } from '../config.ts'
import { InputFault } from '../input/fault.ts'
import { BuildFault } from '../nightly/fault.ts'
import { plainWords, StoreFault } from '../store/fault.ts'
import { CommandFault, UsageFault } from './fault.ts'

const FAILED = 1
const USAGE = 2

/** Prints the error; returns the exit code: 2 for wrong usage, 1 for anything else. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE // it has said what it has to say
  const isPlain =
    error instanceof CommandFault ||
    error instanceof BuildFault ||
    error instanceof SettingsFault ||
    error instanceof StoreFault ||
    error instanceof InputFault
  const lines = isPlain ? error.message : plainWords(error)
  if (lines === null) console.error(error)
  else for (const line of lines.split('\n')) console.error(`domaindex: ${line}`)
  return error instanceof UsageFault ? USAGE : FAILED
}
