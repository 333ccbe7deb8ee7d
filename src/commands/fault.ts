/** What a command cannot do and its user can mend: said in one line that says what to do, without a stack. */

export class CommandFault extends Error {
  override name = 'CommandFault'
}
