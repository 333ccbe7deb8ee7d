/** Which known names a search asks for, as the index of names answers it. */

/**
 * All text is in lower case.
 * - `below`: the names that end with a dot and `text`, in the order of their reversed labels.
 * - `start`: those that begin with `text`, in the order of their labels.
 * - `end`: those that end with `text`, which does not begin with a dot.
 * - `inside`: those that contain `text`: first those that begin with it, then those that contain it before their last
 *   dot, in the order of what follows, then the others, by their last labels.
 */
export type NameQuery = { by: 'below' | 'start' | 'end' | 'inside'; text: string }

/**
 * Parts of names, all text in lower case: names that begin with one of `starts`, or that contain one of `insides` after
 * their first character and before their last dot.
 */
export type NameParts = { starts: readonly string[]; insides: readonly string[] }

/** Rejects names of a query. It must be pure and fast. */
export type NameFilter = (name: string) => boolean
