/** What is wrong with a file or folder, in words for the person who can mend it. */

/** Names the thing and says what to do; shown without a stack. */
export class InputError extends Error {
  override name = 'InputFault'
}

/** What is wrong with the machine or its folders, and not with what was given: that may be taken another time. */
export class StorageError extends InputError {}

/** The words of an error without the code and the call that Node puts around them: `no such file or directory`. */
export function errorCause(error: unknown): string {
  return (error as Error).message.replace(/^E[A-Z]+: |, [a-z]+( '.*)?$/g, '')
}
