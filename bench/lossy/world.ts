/** The names of bench:lossy: the lab with one dead server in twenty, and the observation that each name must give. */

import { DEAF, HARBOUR } from '../../lab/hosts.ts'
import { type LabRow, NO_WEB, rows, type StateDescription } from '../../lab/lab-row.ts'
import { namesOf, ROWS, stateOf } from '../../lab/scenarios.ts'
import { encrypted, page, type Site } from '../../lab/site.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { formatInstant, type Instant } from '../../src/values/time.ts'

/**
 * `serverState`: what the servers of the name do. `expectedAt`: the expected observation of a probe at a given time.
 */
export type ProbedName = { name: DomainName; serverState: string; expectedAt(at: Instant): Observation }

/** Percentage of names whose servers are dead. */
export const DEAD_PERCENT = 5
/** Left out, because its answer differs at each query and no answer is right. */
const UNSTABLE_NAME = 'rebinding.example'

const TEXT = 'Open every day.'
const site = (name: string): Site => encrypted(name, page(TEXT))
const foundWeb: StateDescription['web'] = { redirect_to_https: true, text: TEXT }

/** Returns all names. `blackHole`: an address that never responds, or null if there is none. */
export function namesIn(blackHole: string | null): ProbedName[] {
  const dead = deadRows(blackHole)
  return allRows(blackHole, dead).flatMap((row) =>
    namesOf(row).map((name) => probedName(row, name, dead.includes(row))),
  )
}

/** Returns every row of the lab and of the dead servers. */
export function allRows(blackHole: string | null, dead = deadRows(blackHole)): LabRow[] {
  return [...ROWS.filter(({ name }) => name !== UNSTABLE_NAME), ...dead, ...halfDeadRows(blackHole)]
}

function probedName(row: LabRow, name: DomainName, isDead: boolean): ProbedName {
  const { ssl, ...expected } = stateOf(row, name, 0).expected
  return {
    name,
    serverState: isDead ? row.description : 'the servers work',
    expectedAt(at) {
      const state = { domain: name, observed_at: `${formatInstant(at)}Z`, ...expected }
      const observation = parseObservation(JSON.stringify(state))
      if (typeof observation === 'string') throw new Error(`${name}: ${observation}`)
      return ssl === undefined ? observation : { ...observation, ssl }
    },
  }
}

/** One name in twenty, the same number of each kind. */
function deadRows(blackHole: string | null): LabRow[] {
  const liveCount = ROWS.flatMap(namesOf).length
  const kinds: [name: string, description: string, state: StateDescription][] = [
    ['dead-silent', 'the name servers are silent', { fails: 'silent', web: null }],
    ['dead-refusing', 'the name servers refuse', { fails: 'refused', web: null }],
    ['dead-web', 'the web server refuses', { at: [DEAF], site: site(''), web: NO_WEB }],
  ]
  if (blackHole !== null) kinds.push(['dead-hole', 'the web server is silent', { at: [blackHole], web: NO_WEB }])
  const each = Math.ceil((liveCount * DEAD_PERCENT) / (100 - DEAD_PERCENT) / kinds.length)
  return kinds.map(([name, description, state]) => rows(`${name}-#.example`, each, description, () => state))
}

/** Names with two web servers, of which one is dead. */
function halfDeadRows(blackHole: string | null): LabRow[] {
  const state = (dead: string) => (name: string) => ({ at: [dead, HARBOUR], site: site(name), web: foundWeb })
  const refusing = rows('half-web-#.example', 5, 'One of two web servers refuses.', state(DEAF))
  return blackHole === null
    ? [refusing]
    : [refusing, rows('half-hole-#.example', 5, 'One of two web servers is silent.', state(blackHole))]
}
