/** The failed attempts of a DNS query, and how much each failure says about the host. */

import type { DnsFailure } from '../probe-result.ts'
import type { QueryTicket } from './concurrency-limiter.ts'
import type { DnsServerClient } from './server-client.ts'

export type FailedAttempt = { why: DnsFailure; ticket: QueryTicket }
export type FailuresByServer = ReadonlyMap<DnsServerClient, readonly FailedAttempt[]>

/** An explicit failure of the server weighs more than a malformed answer, and that weighs more than silence. */
const FAILURE_WEIGHTS: Readonly<Record<DnsFailure, number>> = {
  timeout: 1,
  malformed: 2,
  lame: 3,
  refused: 3,
  servfail: 3,
}
const EXPLICIT_FAILURE_WEIGHT = 3

/** A failure or NXDOMAIN needs the agreement of this many servers, or as many answers of a single server. */
export const MIN_AGREEING_SERVERS = 2
/** A failure needs this many failed attempts in total. An unnoticed overload fails only one or two queries. */
export const MIN_AGREEING_FAILURES = 3

/** Whether two servers failed explicitly and one of them failed again after a pause. */
export function isAgreedFailure(failures: FailuresByServer): boolean {
  if (failures.size < MIN_AGREEING_SERVERS) return false
  const counts = [...failures]
    .map(([server, attempts]) => explicitFailuresOf(server, attempts))
    .filter((count) => count > 0)
  return counts.length >= MIN_AGREEING_SERVERS && counts.reduce((sum, count) => sum + count) >= MIN_AGREEING_FAILURES
}

/** The failure with the most weight, the first of several with the same weight. Returns null if there is none. */
export function heaviestFailure(failures: readonly DnsFailure[]): DnsFailure | null {
  return failures.toSorted((a, b) => FAILURE_WEIGHTS[b] - FAILURE_WEIGHTS[a])[0] ?? null
}

/** The number of failed attempts that overload does not explain. */
export function failuresWithoutOverload(failures: FailuresByServer): number {
  let count = 0
  for (const [server, attempts] of failures) {
    for (const { ticket } of attempts) if (!server.path.limiter.mayBeOverload(ticket)) count++
  }
  return count
}

/** How often a server failed explicitly without overload. */
export function explicitFailuresOf(server: DnsServerClient, attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ why, ticket }) => isExplicitFailure(why) && !server.path.limiter.mayBeOverload(ticket))
    .length
}

export function isExplicitFailure(why: DnsFailure): boolean {
  return FAILURE_WEIGHTS[why] === EXPLICIT_FAILURE_WEIGHT
}
