/**
 * The world of bench:lossy: the lab, of which one server in twenty is dead, and what a visit of each name must give.
 */

import { DEAF, HARBOUR } from '../../lab/hosts.ts'
import { type LabRow, NO_WEB, rows, type StateDescription } from '../../lab/lab-row.ts'
import { namesOf, ROWS, stateOf } from '../../lab/scenarios.ts'
import { encrypted, page, type Site } from '../../lab/site.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { formatInstant, type Instant } from '../../src/values/time.ts'

/** `kind`: what its servers do. `gives`: the observation of a visit at a time. */
export type Visited = { name: DomainName; kind: string; gives(at: Instant): Observation }

/** Names of which the servers are dead, of a hundred. */
export const DEAD_PERCENT = 5
/** Answers otherwise each time that it is asked, so that no answer is right. */
const MOODY = 'rebinding.example'

const TEXT = 'Open every day.'
const site = (name: string): Site => encrypted(name, page(TEXT))
const found: StateDescription['web'] = { redirect_to_https: true, text: TEXT }

/** All names; `hole`: an address from which nothing ever comes back, null where there is none. */
export function namesIn(hole: string | null): Visited[] {
  const dead = deadRows(hole)
  return allRows(hole, dead).flatMap((row) => namesOf(row).map((name) => visited(row, name, dead.includes(row))))
}

/** Every row of the world. */
export function allRows(hole: string | null, dead = deadRows(hole)): LabRow[] {
  return [...ROWS.filter(({ name }) => name !== MOODY), ...dead, ...halfRows(hole)]
}

function visited(row: LabRow, name: DomainName, isDead: boolean): Visited {
  const { ssl, ...given } = stateOf(row, name, 0).expected
  return {
    name,
    kind: isDead ? row.description : 'the servers live',
    gives(at) {
      const told = { domain: name, observed_at: `${formatInstant(at)}Z`, ...given }
      const observation = parseObservation(JSON.stringify(told))
      if (typeof observation === 'string') throw new Error(`${name}: ${observation}`)
      return ssl === undefined ? observation : { ...observation, ssl }
    },
  }
}

/** One name in twenty, of each kind as many. */
function deadRows(hole: string | null): LabRow[] {
  const living = ROWS.flatMap(namesOf).length
  const kinds: [name: string, shows: string, told: StateDescription][] = [
    ['dead-silent', 'the name servers are silent', { fails: 'silent', web: null }],
    ['dead-refusing', 'the name servers refuse', { fails: 'refused', web: null }],
    ['dead-web', 'the web server refuses', { at: [DEAF], site: site(''), web: NO_WEB }],
  ]
  if (hole !== null) kinds.push(['dead-hole', 'the web server is silent', { at: [hole], web: NO_WEB }])
  const each = Math.ceil((living * DEAD_PERCENT) / (100 - DEAD_PERCENT) / kinds.length)
  return kinds.map(([name, shows, told]) => rows(`${name}-#.example`, each, shows, () => told))
}

/** Of two web servers one is dead, the other one is found. */
function halfRows(hole: string | null): LabRow[] {
  const told = (dead: string) => (name: string) => ({ at: [dead, HARBOUR], site: site(name), web: found })
  const refusing = rows('half-web-#.example', 5, 'One of two web servers refuses.', told(DEAF))
  return hole === null
    ? [refusing]
    : [refusing, rows('half-hole-#.example', 5, 'One of two web servers is silent.', told(hole))]
}
