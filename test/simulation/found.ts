/** The steps that found faults of the product, each as short as the simulation could make them. */

import type { DomainName } from '../../src/values/domain-name.ts'
import { NAMES, type Step } from './steps.ts'

const QUIET = { disturbance: null, losesPower: false, salt: 0 }
/** The names of the lists. */
const [FIRST, SECOND] = NAMES as [DomainName, DomainName]

/** Seeds that found a fault of the product which no shorter steps show, and how many of their steps show it. */
export const FOUND_SEEDS: Readonly<Record<string, readonly [seed: number, steps: number]>> = {
  'a list that an import had published before its sync failed was taken for durable by the next import': [2_043, 722],
}

export const FOUND: Readonly<Record<string, readonly Step[]>> = {
  'a loss of power returned an imported list to the inbox': [
    { ...QUIET, kind: 'list', list: null, daysAgo: 2, names: [FIRST, SECOND] },
    { ...QUIET, kind: 'pass', seconds: 33 },
    { ...QUIET, kind: 'jobs' },
    { ...QUIET, kind: 'power', salt: 163_108_372 },
    { ...QUIET, kind: 'pass', seconds: 78_415 },
    { ...QUIET, kind: 'jobs' },
  ],
  'a loss of power returned days that had been pruned': [
    { ...QUIET, kind: 'list', list: 'theirs', daysAgo: 3, names: [FIRST, SECOND] },
    { ...QUIET, kind: 'pass', seconds: 7_841_513 },
    { ...QUIET, kind: 'jobs' },
    { ...QUIET, kind: 'power', salt: 1_048_136_363 },
  ],
  'the lock of an import whose file could not be written stayed': [
    { ...QUIET, kind: 'list', list: null, daysAgo: 2, names: [FIRST, SECOND] },
    { ...QUIET, kind: 'pass', seconds: 33 },
    { ...QUIET, kind: 'jobs', disturbance: { call: 25, what: 'tear', code: 'ENOSPC' } },
    { ...QUIET, kind: 'pass', seconds: 78_415 },
    { ...QUIET, kind: 'jobs' },
  ],
}
