/** The rows of the lab as observations in canonical form. */

import type { LabRow } from '../../lab/lab-row.ts'
import { stateOf } from '../../lab/scenarios.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { formatInstant, type Instant } from '../../src/values/time.ts'

/** Returns the observation that a probe of the domain must give in this state of the lab. */
export function observationOf(row: LabRow, domain: DomainName, state: number, at: Instant): Observation {
  const { ssl, ...gives } = stateOf(row, domain, state).expected
  const given = { domain, observed_at: `${formatInstant(at)}Z`, ...gives }
  const observation = parseObservation(JSON.stringify(given))
  if (typeof observation === 'string') throw new Error(`${row.name}: ${observation}`)
  return ssl === undefined ? observation : { ...observation, ssl }
}
