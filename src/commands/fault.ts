/** What a command cannot do and its user can mend: said in one line that says what to do, without a stack. */

export class CommandFault extends Error {
  override name = 'CommandFault'
}

/** The words of an error without the code and the call that Node puts around them: `no such file or directory`. */
export function plainCause(error: unknown): string {
  return (error as Error).message.replace(/^E[A-Z]+: |, [a-z]+( '.*)?$/g, '')
}
