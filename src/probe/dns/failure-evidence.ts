/** The failed attempts of a DNS query, and how much each failure says about the host. */

import type { DnsFailure } from '../probe-result.ts'
import type { QueryTicket } from './concurrency-limiter.ts'
import type { DnsServerClient } from './server-client.ts'

/** An attempt that failed. */
export type FailedAttempt = { why: DnsFailure; ticket: QueryTicket }
export type FailuresByServer = Map<DnsServerClient, FailedAttempt[]>

/** A server's own word says more than an answer that cannot be read, and that more than none. */
const FAILURE_WEIGHTS: Readonly<Record<DnsFailure, number>> = {
  timeout: 1,
  malformed: 2,
  lame: 3,
  refused: 3,
  servfail: 3,
}
const EXPLICIT_FAILURE_WEIGHT = 3

/** So many voices make a failure or NXDOMAIN a fact: of two servers, or twice that of the only one. */
export const MIN_AGREEING_SERVERS = 2
/** And so many of them are needed of an only server, or of two together: an overload that nobody notices fails a question or two. */
export const MIN_AGREEING_FAILURES = 3

/** Whether two servers failed explicitly, and one of them again after a pause. */
export function isAgreedFailure(failures: FailuresByServer): boolean {
  const counts = [...failures]
    .map(([server, attempts]) => explicitFailuresOf(server, attempts))
    .filter((count) => count > 0)
  return counts.length >= MIN_AGREEING_SERVERS && counts.reduce((sum, count) => sum + count) >= MIN_AGREEING_FAILURES
}

/** The failure that says most; the first of several with the same weight. Returns null if there is none. */
export function heaviestFailure(failures: readonly DnsFailure[]): DnsFailure | null {
  return failures.toSorted((a, b) => FAILURE_WEIGHTS[b] - FAILURE_WEIGHTS[a])[0] ?? null
}

/** Attempts that failed, and not by the load. */
export function failuresWithoutOverload(failures: FailuresByServer): number {
  let count = 0
  for (const [line, attempts] of failures) {
    for (const { ticket } of attempts) if (!line.path.limiter.mayBeOverload(ticket)) count++
  }
  return count
}

/** How often a server gave its own word while it was not asked more than it bears. */
export function explicitFailuresOf(server: DnsServerClient, attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ why, ticket }) => isExplicitFailure(why) && !server.path.limiter.mayBeOverload(ticket))
    .length
}

export function isExplicitFailure(why: DnsFailure): boolean {
  return FAILURE_WEIGHTS[why] === EXPLICIT_FAILURE_WEIGHT
}
