/** Prints the error of a command on standard error: a line if the user can fix it, otherwise the stack. */

import { CommanderError } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { SettingsFault } from '../../config/settings.ts'
import { InputError } from '../../import/stream/input-error.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { userMessageOf } from '../../store/engines.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { ClientFault } from './client-fault.ts'
import { reportLine } from './output.ts'

const EXIT_CODE_FAILED = 1
const EXIT_CODE_USAGE = 2

/** Prints the error; returns the exit code: 2 for wrong usage, that of a ClientFault, 1 for anything else. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODE_USAGE // commander has already printed it
  const isPlain =
    error instanceof CommandFault ||
    error instanceof BuildFault ||
    error instanceof SettingsFault ||
    error instanceof StoreFault ||
    error instanceof InputError
  const lines = isPlain ? error.message : userMessageOf(error)
  if (lines === null) console.error(error)
  else for (const line of lines.split('\n')) reportLine(line)
  if (error instanceof ClientFault) return error.exitCode
  return error instanceof UsageFault ? EXIT_CODE_USAGE : EXIT_CODE_FAILED
}
