/** The certificate logs' part of the port: how far each log was read, and who reads it. */

import type { Instant } from '../../values/time.ts'

/** Seconds until a lease of a log expires unless it is renewed. */
export const LOG_LEASE_SECONDS = 120

/** A leased log. Each lease of a log has a higher fencing token. `id`: base64 of the SHA-256 of its key. */
export type LogLease = { id: string; fence: number }

/** `state`: JSON text of the follower, null before the first entry. */
export type LeasedLog = { lease: LogLease; state: string | null }

/**
 * What is stored of a log. `savedAt`: when its state was last saved. `problem`: why it is left out, null if it is not.
 * `holder`: null without a valid lease.
 */
export type StoredLog = {
  id: string
  url: string
  state: string | null
  savedAt: Instant | null
  problem: string | null
  holder: string | null
}

/** For followers of certificate logs. All times are those of the store's clock. */
export interface CertificateLogs {
  /** Leases a log, which becomes known. Returns null if another process holds it, or if it is left out. */
  lease(log: { id: string; url: string }, holder: string): Promise<LeasedLog | null>
  /** Saves the state of a leased log and renews the lease. Returns false, and saves nothing, if the lease is lost. */
  save(lease: LogLease, state: string): Promise<boolean>
  /** Renews a lease. Returns false if it is lost. */
  renew(lease: LogLease): Promise<boolean>
  /** Releases a log. With `problem`, it is left out from now on. Does nothing if the lease is lost. */
  release(lease: LogLease, problem: string | null): Promise<void>
  /** Takes a log back in that was left out. It begins anew. Returns false if there is no such log. */
  readmit(id: string): Promise<boolean>
  /** All known logs, by URL. */
  list(): Promise<StoredLog[]>
}
