/** What a command cannot do and its user can mend: said in one line that says what to do, without a stack. */

/** The exit code of a command that did its work, but for what it had to refuse or hold back. */
export const PARTLY_DONE = 3

export class CommandFault extends Error {
  override name = 'CommandFault'
}

/** A command that is used wrongly: it ends with exit code 2 and has done nothing. */
export class UsageFault extends CommandFault {
  override name = 'UsageFault'
}
