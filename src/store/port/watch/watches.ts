/** The watches' part of the ledger: of which changes each account wants to hear. */

import type { DomainName } from '../../../values/domain-name.ts'
import type { Instant } from '../../../values/time.ts'
import type { WatchRule } from '../../../watch/watch.ts'

/** A watch as its account sees it. `muted`: since when it matches nothing; null if it matches. */
export type OwnWatch = WatchRule & { id: number; created: Instant; muted: Instant | null }

/** Why a watch is not created: the account has as many as it may have, or one of this kind and value. */
export type WatchRejection = 'too_many_watches' | 'known_watch'

/** A name that an account watches. `id`: of the watch. */
export type WatchedName = { id: number; account: number; name: DomainName }

export interface Watches {
  /** The watches of an account, oldest first. */
  watches(account: number): Promise<OwnWatch[]>
  /** Null if the account has no such watch. */
  watch(account: number, watch: number): Promise<OwnWatch | null>
  /** The single names that watches of all accounts match, after the ID of a watch. Muted watches are left out. */
  watchedNames(after: number, limit: number): Promise<WatchedName[]>
  /** Creates a watch, if the account has fewer than `max`. It matches changes of transactions that begin afterwards. */
  createWatch(max: number, account: number, rule: WatchRule, now: Instant): Promise<OwnWatch | WatchRejection>
  /** Returns false if the account has no such watch. */
  removeWatch(account: number, watch: number): Promise<boolean>
  /** Mutes a watch, or ends that. Returns the watch; null if the account has no such watch. */
  muteWatch(account: number, watch: number, isMuted: boolean, now: Instant): Promise<OwnWatch | null>
}
