/** Probes the whole lab, and checks that each probe gives the observation of its row. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startLab } from '../../lab/lab.ts'
import { namesOf, ROWS } from '../../lab/scenarios.ts'
import type { LabAddresses } from '../../lab/sockets.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { inForm } from '../long.ts'
import { NOON } from '../spec/world.ts'
import { crawl } from './crawls.ts'
import { observationOf } from './rows.ts'

type Row = (typeof ROWS)[number]

/** One crawl: the state of the lab, the time of its probe results, the probed rows and the observations. */
export type LabCrawl = { state: 0 | 1; at: number; rows: readonly Row[]; seen: ReadonlyMap<DomainName, Observation> }

/** The names of a row that are visited: in the short form not all of the hundreds that are alike. */
export const visitedNames = (row: Row): readonly DomainName[] => namesOf(row).slice(0, inForm(50, 1_000))

const changing = ROWS.filter((row) => namesOf(row).some((name) => row.states(name).length > 1))

/** Every domain in both states of the lab. In the end, the domains that change return to the first state. */
const CRAWLS = [
  { state: 0, at: NOON - 172_800, rows: ROWS },
  { state: 1, at: NOON - 86_400, rows: ROWS },
  { state: 0, at: NOON - 3600, rows: changing },
] as const

/** Without IPv6 on this computer, its row cannot be observed. */
const SIXTH_ONLY = 'ipv6-only.example'

/** Starts the lab, runs the first `count` crawls and stops it. `isSeen`: whether this computer can observe a row. */
export async function visitLab(addresses?: LabAddresses, count: number = CRAWLS.length) {
  const lab = await startLab(addresses)
  const crawls: LabCrawl[] = []
  for (const { state, at, rows } of CRAWLS.slice(0, count)) {
    crawls.push({ state, at, rows, seen: await crawl(lab, rows.flatMap(visitedNames), at) })
    lab.change()
  }
  await lab.close()
  const hasSixth = lab.portMappings.some(({ address }) => address === '::1')
  return { crawls, stands: lab.portMappings, isSeen: (row: Row) => hasSixth || row.name !== SIXTH_ONLY }
}

export function describeVisits({ crawls, isSeen }: Awaited<ReturnType<typeof visitLab>>): void {
  describe('a probe gives the observation of its row', () => {
    for (const row of ROWS) {
      test(`${row.name}: ${row.description}`, { skip: !isSeen(row) && 'this computer has no IPv6' }, () => {
        for (const [index, { state, at, rows, seen }] of crawls.entries()) {
          for (const name of rows.includes(row) ? visitedNames(row) : []) {
            assert.deepEqual(
              withoutCertificate(seen.get(name)!),
              observationOf(row, name, state, at),
              `visit ${index + 1} of ${name}`,
            )
          }
        }
      })
    }
  })
}

/** The certificates are new in each run. One is known if the verdict is about one. */
function withoutCertificate({ web, ...observation }: Observation): Observation {
  if (web === null) return { ...observation, web }
  const { certificate, ...others } = web
  assert.equal(certificate === null, web.ssl === 'nocert')
  assert.match(certificate?.sha256 ?? '', web.ssl === 'nocert' ? /^$/ : /^[0-9a-f]{64}$/)
  return { ...observation, web: others }
}
