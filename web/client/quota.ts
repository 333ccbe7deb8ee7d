/** The calls that the account has left today, kept up to date from the headers of each response. */

import { createSignal } from './signal.ts'

/** `limit` null: the account has no limit. */
export type Quota = { limit: number | null; remaining: number | null }

/** Null until it is known. */
export const quota = createSignal<Quota | null>(null)

/** Reads `RateLimit-Policy: "daily";q=100;w=86400` and `RateLimit: "daily";r=98;t=3600`. */
export function readQuota(headers: Headers): void {
  const limit = numberAt(headers.get('RateLimit-Policy'), 'q')
  const remaining = numberAt(headers.get('RateLimit'), 'r')
  if (limit !== null && remaining !== null) quota.set({ limit, remaining })
}

function numberAt(header: string | null, key: string): number | null {
  const [, digits] = new RegExp(`;${key}=(\\d+)`).exec(header ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}
