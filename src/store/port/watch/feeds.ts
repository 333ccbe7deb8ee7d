/** The feeds' part of the ledger: links to the newest events of an account. */

import type { Account } from '../../../accounts/account.ts'
import type { Instant } from '../../../values/time.ts'

export interface Feeds {
  /** When the link of an account was created; null if it has none. */
  feedCreated(account: number): Promise<Instant | null>
  /** The account whose link has the key with this SHA-256; null if there is none. */
  findFeed(hash: Uint8Array): Promise<Account | null>
  /** Creates the link of an account. An earlier one is not valid any more. */
  replaceFeed(account: number, hash: Uint8Array, now: Instant): Promise<void>
  removeFeed(account: number): Promise<void>
}
