/** The wishes' part of the port: names that somebody wants to be visited soon. It lies with the ledger, so that an API may write it. */

import type { Name } from '../words/name.ts'
import type { Day } from '../words/time.ts'

/** `asked`: a caller looked up a name that was not known. `followup`: a file of the night needs fresh facts. */
export const WISHES = ['asked', 'followup'] as const
export type WishKind = (typeof WISHES)[number]

/** A caller's wish; at most `most` new names an account and day are taken. */
export type Question = { account: number; day: Day; name: Name; most: number }

export interface Wishes {
  /** Wants a name for a caller. False where the account's wishes of the day are used up; a name that is wanted already costs nothing. */
  ask(question: Question): Promise<boolean>
  /** Wants names; those that are wanted already stay so. */
  want(kind: WishKind, names: readonly Name[]): Promise<void>
  /** The ranges of slots in which any name is wanted, ascending. */
  ranges(kind: WishKind): Promise<number[]>
  /** At most `limit` wanted names of a range, bytewise. */
  wanted(kind: WishKind, range: number, limit: number): Promise<Name[]>
  /** How many names are wanted of a kind. */
  count(kind: WishKind): Promise<number>
  /** They were visited, or are not to be. */
  fulfil(kind: WishKind, names: readonly Name[]): Promise<void>
}
