/** A certificate log as its follower sees it: what identifies it, what is kept of it, and what it yields. */

import type { LoggedCertificate } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'

/**
 * A log of a log list. `id`: SHA-256 of its key, base64. `url`: the monitoring prefix of tiles, or the base of RFC 6962;
 * it ends with `/`. `key`: SubjectPublicKeyInfo, DER.
 */
export type CertificateLog = { id: string; name: string; kind: 'tiles' | 'rfc6962'; url: string; key: Buffer }

/**
 * What is kept of a log. `position`: entries so far. `hashes`: base64, the compact range of these entries, only for
 * RFC 6962. `head`: the last verified head, with its root in base64.
 */
export type LogState = {
  position: number
  hashes: readonly string[]
  head: { size: number; root: string; time: Instant }
}

/**
 * Verified entries, in order. `state`: to be kept when the names are stored. `names`: registrable domains, each once.
 * `certificates`: those of entries, if they are kept.
 * `unusableNames`: names that are no domain names. `unusableEntries`: entries that are no certificates. `newest`: the
 * time of the last entry.
 */
export type LogBatch = {
  state: LogState
  entries: number
  names: DomainName[]
  certificates: LoggedCertificate[]
  unusableNames: number
  unusableEntries: number
  newest: Instant
}

/** The log contradicts itself or its key, so nothing that it says can be used. The message says why. */
export class LogFault extends Error {
  override name = 'LogFault'
}

/** The log cannot be read now. `retryAfterMs`: what it asks for, or null. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable'
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
