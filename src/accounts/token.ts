/** The API token: how one is made, told from noise, and kept. */

import type { Instant } from '../words/time.ts'

/** A token as it is kept: never the token itself. `hint` is its beginning, for people to tell tokens apart. */
export type Token = {
  id: number
  name: string
  hint: string
  created: Instant
  expires: Instant | null
  last_used: Instant | null
  revoked: Instant | null
}

export type NewToken = { name: string; hint: string; hash: Uint8Array; expires: Instant | null }
