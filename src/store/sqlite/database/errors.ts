/** Errors of SQLite that mean damage of the file. */

/**
 * Result codes of SQLite that do not concern the file: busy, locked, no memory, read-only, interrupted, full, cannot
 * open.
 */
const NOT_DAMAGE_CODES = [5, 6, 7, 8, 9, 13, 14]

/** Returns the message of an error that concerns the file, and throws any other. */
export function damageMessage(error: unknown): string {
  const { errcode, message } = error as { errcode?: number; message: string }
  if (errcode !== undefined && NOT_DAMAGE_CODES.includes(errcode & 255)) throw error
  return message
}
