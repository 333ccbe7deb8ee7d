/** All rows of the lab, and the internet that they form in one of its states. */

import { type DomainName, parseName } from '../src/values/domain-name.ts'
import type { Kind } from './authority.ts'
import type { DnsTable } from './dns-table.ts'
import type { LabRow, LabState } from './lab-row.ts'
import { CERTIFICATES } from './scenarios/certificates.ts'
import { REACH } from './scenarios/connectivity.ts'
import { DEAD_ENDS } from './scenarios/dead-ends.ts'
import { HOSTING } from './scenarios/hosting.ts'
import { NAMES } from './scenarios/names.ts'
import { PAGES } from './scenarios/pages.ts'
import { PROTOCOL } from './scenarios/protocol.ts'
import { REDIRECTS } from './scenarios/redirects.ts'
import { SOCIAL } from './scenarios/social.ts'
import { STATUSES } from './scenarios/statuses.ts'
import type { Site } from './site.ts'

export { TARGET } from './scenarios/redirects.ts'

export const ROWS: readonly LabRow[] = [
  ...CERTIFICATES,
  ...REACH,
  ...REDIRECTS,
  ...DEAD_ENDS,
  ...STATUSES,
  ...NAMES,
  ...PAGES,
  ...PROTOCOL,
  ...SOCIAL,
  ...HOSTING,
]

/** One state of all rows: DNS, and the site of each host. */
export type Internet = { dns: DnsTable; sites: ReadonlyMap<string, Site> }

/** Returns the domains of a row in order. */
export function namesOf({ name, count }: LabRow): DomainName[] {
  if (count === undefined) return [parseName(name)!]
  return Array.from({ length: count }, (_, index) => parseName(name.replace('#', String(index + 1).padStart(3, '0')))!)
}

/** `state`: 0 or 1. A row that does not change has the same state for both. */
export function stateOf(row: LabRow, name: DomainName, state: number): LabState {
  const states = row.states(name)
  return states[state] ?? states[0]!
}

export function internetOf(rows: readonly LabRow[], state: number): Internet {
  const states = rows.flatMap((row) => namesOf(row).map((name) => stateOf(row, name, state)))
  return {
    dns: Object.assign(Object.create(null), ...states.map(({ zone }) => zone)),
    sites: new Map(states.flatMap(({ sites }) => Object.entries(sites))),
  }
}

/** Returns the hosts that need each kind of certificate in any state. */
export function hostsByKind(internets: readonly Internet[]): Map<Kind, Set<string>> {
  const hosts = new Map<Kind, Set<string>>([['other', new Set()]])
  for (const [host, { certificate = 'valid' }] of internets.flatMap(({ sites }) => [...sites])) {
    hosts.set(certificate, (hosts.get(certificate) ?? new Set()).add(host))
  }
  return hosts
}
