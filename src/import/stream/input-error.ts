/** Errors in a file or folder, with a message for the person who can correct them. */

/** The message names the file or setting and says what to do. It is shown without a stack. */
export class InputError extends Error {
  override name = 'InputError'
}

/** A problem of the machine or its folders, not of the input. The same input may succeed later. */
export class StorageError extends InputError {}

/** Returns the message of a Node error without its code and system call: `no such file or directory`. */
export function errorCause(error: unknown): string {
  return (error as Error).message.replace(/^E[A-Z]+: |, [a-z]+( '.*)?$/g, '')
}
