/** Errors of a command that its user can correct. The message is one line that says what to do, without a stack. */

/** The exit code of a command that finished, but rejected or held back part of its input or output. */
export const PARTLY_DONE = 3

export class CommandFault extends Error {
  override name = 'CommandFault'
}

/** Incorrect usage of a command. The command does nothing and ends with exit code 2. */
export class UsageFault extends CommandFault {
  override name = 'UsageFault'
}
