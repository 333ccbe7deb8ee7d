/** What a simulation finds: a sentence about what the service did wrong. */

export class Violation extends Error {}

/** Throws a Violation unless the condition holds. */
export function require(holds: boolean, problem: () => string): void {
  if (!holds) throw new Violation(problem())
}
