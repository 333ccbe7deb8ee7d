/** Tells stored values that cannot be read from faults of the engine. */

/** Whether an error says that a stored value cannot be parsed. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError
}
