/** The findings of `check`: what `check --repair` does about each, and what an operator does about the others. */

import type { CheckFault } from '../../port/store.ts'
import { EVENT_FINDING, LEDGER_FINDINGS } from './ledger.ts'

/**
 * How a finding is mended at once. `slot`: a name moves to its slot. `name`: the rows that follow from the facts of one
 * name are written. `count`: a counter is recounted. `page`: a start page leaves the index. `document`: the indexer checks
 * whether a start page has it. `certificate`: its states are counted. `listing`: the list of names. `lease`: a range of
 * slots. `ledger`: statements of the finding.
 */
export type RowRepair = 'slot' | 'name' | 'count' | 'page' | 'document' | 'certificate' | 'listing' | 'lease' | 'ledger'
/** Removes rows that no fact needs. `row`: one that names share. `orphan`: those with the id of no name. */
export type Removal = 'row' | 'orphan'
/** Builds an index again from the facts. */
export type IndexRepair = 'inverse' | 'similar'
export type Repair = RowRepair | Removal | IndexRepair

/**
 * What is left to an operator. `observe`: `domaindex forget`, then crawl or import the names again. `restore`: go back to
 * a backup. `release`: check with a newer release. `schema`: restore, or enable what was disabled.
 */
export type Remedy = 'observe' | 'restore' | 'restore ledger' | 'release' | 'schema'

export const REMEDIES: Record<Remedy, string> = {
  observe: 'forget the name, then crawl or import it again; or restore a backup',
  restore: 'restore a backup; without one, copy what can be read into a new store',
  'restore ledger': 'restore the ledger from a backup',
  release: 'run the check of the newest release that uses the store',
  schema: 'restore a backup; on PostgreSQL, enable or reindex what is disabled or invalid',
}

/**
 * `tables`: where it is found; any without it. `problem`: with … for what differs. `losesFacts`: the store may have lost
 * facts here that other rows still know. While it is there, no rows are removed, and the inverse index is not rebuilt.
 */
type Finding = { tables?: readonly string[]; problem: string; losesFacts?: true } & (
  | { repair: Repair }
  | { remedy: Remedy }
)

const NAMES = ['crawl_state', 'facts']
const ROWS = ['presence', 'redirect']
const COUNTERS = ['address_count', 'redirect_count']
const INDEX_OF_SIMILAR = ['posting', 'document_frequency']

/** The first finding that matches counts. */
const FACTS_FINDINGS: readonly Finding[] = [
  { tables: ['store'], problem: '…', remedy: 'restore', losesFacts: true },
  { problem: 'cannot be read after this key…', remedy: 'restore', losesFacts: true },
  { tables: INDEX_OF_SIMILAR, problem: 'cannot be read: …', repair: 'similar' },
  { tables: INDEX_OF_SIMILAR, problem: 'does not match its checksum', repair: 'similar' },
  { tables: ['inverse_block'], problem: 'cannot be read: …', repair: 'inverse' },
  { tables: ['inverse_block'], problem: 'does not match its checksum', repair: 'inverse' },
  { tables: COUNTERS, problem: 'cannot be read: …', repair: 'count' },
  { tables: ['ledger'], problem: 'cannot be read: …', remedy: 'restore ledger' },
  { tables: ['document'], problem: 'cannot be read: …', remedy: 'observe' },
  { tables: ['certificate'], problem: 'cannot be read: …', remedy: 'restore', losesFacts: true },
  { tables: ['certificate'], problem: 'does not match its checksum', remedy: 'restore', losesFacts: true },
  { problem: 'cannot be read: …', remedy: 'observe', losesFacts: true },
  { problem: 'does not match its checksum', remedy: 'observe', losesFacts: true },

  { tables: NAMES, problem: 'is not listed on …', repair: 'name' },
  { tables: NAMES, problem: 'has a different date on …', repair: 'name' },
  { tables: NAMES, problem: 'is not among the sources of …', repair: 'name' },
  { tables: NAMES, problem: 'has first times on its addresses that do not match its states', repair: 'name' },
  { tables: NAMES, problem: 'has terms without a start page', repair: 'page' },
  { tables: NAMES, problem: 'is not listed', repair: 'listing' },
  { tables: NAMES, problem: 'has terms of another text', remedy: 'observe' },
  { tables: NAMES, problem: 'has a start page without terms', remedy: 'observe' },
  { tables: NAMES, problem: 'has the terms of …', remedy: 'observe' },
  { tables: NAMES, problem: 'has lost document …', remedy: 'observe' },
  { tables: NAMES, problem: 'has clock …, which this release does not know', remedy: 'release', losesFacts: true },
  {
    tables: NAMES,
    problem: 'has a state of a type that this release does not know',
    remedy: 'release',
    losesFacts: true,
  },
  {
    tables: NAMES,
    problem: 'has an interruption of a record type that this release does not know',
    remedy: 'release',
    losesFacts: true,
  },
  ...[
    'has addresses that are not in its records',
    'has ip …, which its records contradict',
    'has a wrong only_dns_no_web',
    'has a clock of … before its newest state',
    'has a fingerprint that does not match its records',
    'counts … states of …, has … superseded',
    'has a serial without its base',
    'has a state that was last confirmed before it began',
    'has an interruption of … at a time when it cannot be',
    'has an interruption of … without a state',
    'refers to the certificate …, which does not exist',
  ].map((problem): Finding => ({ tables: NAMES, problem, remedy: 'observe', losesFacts: true })),
  { tables: NAMES, problem: 'is stored in slot …', repair: 'slot', losesFacts: true },
  { tables: NAMES, problem: 'belongs to no name', repair: 'orphan' },
  { tables: NAMES, problem: 'was forgotten, and has a clock', remedy: 'observe', losesFacts: true },
  { tables: NAMES, problem: 'has lost its facts', remedy: 'observe', losesFacts: true },
  { tables: NAMES, problem: 'has the facts of …', remedy: 'observe', losesFacts: true },
  ...['is stored in partition …'].map(
    (problem): Finding => ({ tables: NAMES, problem, remedy: 'restore', losesFacts: true }),
  ),

  { tables: ROWS, problem: 'is stored in partition …', repair: 'row' },
  { tables: COUNTERS, problem: 'is stored in partition …', repair: 'count' },
  { tables: ['presence'], problem: 'belongs to no name that is on this address', repair: 'row' },
  { tables: ['redirect'], problem: 'belongs to no name that redirects there', repair: 'row' },
  { tables: ['presence'], problem: 'belongs to an address without a counter', repair: 'count' },
  { tables: ['redirect'], problem: 'belongs to a target without a counter', repair: 'count' },
  { tables: COUNTERS, problem: 'counts …, has … rows', repair: 'count' },

  { tables: ['document'], problem: 'belongs to no start page', repair: 'document' },
  { tables: ['document'], problem: 'has a digest that does not match its vector', remedy: 'observe' },
  { tables: ['document'], problem: 'is stored in partition …', remedy: 'restore' },

  { tables: INDEX_OF_SIMILAR, problem: 'belongs to no segment', repair: 'similar' },
  ...['ends with another term', 'lacks a term that has postings'].map(
    (problem): Finding => ({ tables: ['document_frequency'], problem, repair: 'similar' }),
  ),
  ...['has state …', 'ends before it begins', 'has documents of another segment', 'counts … documents, has …'].map(
    (problem): Finding => ({ tables: ['segment'], problem, repair: 'similar' }),
  ),

  ...['has no entry of …', 'has other times of …', 'lacks … of the keys by which it is found'].map(
    (problem): Finding => ({ tables: ['inverse_block'], problem, repair: 'inverse' }),
  ),
  { tables: ['inverse_block'], problem: 'has times of … that its history lacks', remedy: 'observe', losesFacts: true },
  { tables: ['inverse_block'], problem: 'has an entry of …, which does not have this key', repair: 'inverse' },
  { tables: ['inverse_block'], problem: 'has an entry of …, which has no facts', remedy: 'observe', losesFacts: true },
  { tables: ['inverse_block'], problem: 'has an entry of …, which is not known', remedy: 'observe', losesFacts: true },
  {
    tables: ['inverse_block'],
    problem: 'has an entry of …, whose history does not have it',
    remedy: 'observe',
    losesFacts: true,
  },
  ...['does not exist', 'does not have the name'].map(
    (problem): Finding => ({
      tables: ['inverse_block'],
      problem: `has an entry of a certificate that ${problem}`,
      remedy: 'restore',
      losesFacts: true,
    }),
  ),
  ...[
    'belongs to no run',
    'has entries that are not in order',
    'has no entries',
    'has another last position',
    'has an entry of an unknown kind',
    'has an entry with a wrong number of events',
    'has an entry of no name',
    'has an entry of …, which was forgotten',
    'has an entry of …, which is no domain name',
  ].map((problem): Finding => ({ tables: ['inverse_block'], problem, repair: 'inverse' })),
  { tables: ['inverse_run'], problem: 'has state …', repair: 'inverse' },

  { tables: ['certificate'], problem: 'counts … states, has …', repair: 'certificate' },
  { tables: ['certificate'], problem: 'belongs to no state', remedy: 'restore' },
  { tables: ['certificate'], problem: 'is not found by its name …', repair: 'inverse' },
  { tables: ['certificate'], problem: 'is stored in partition …', remedy: 'restore', losesFacts: true },

  { tables: ['sorted_name', 'pending_name'], problem: 'was forgotten', repair: 'listing' },
  { tables: ['sorted_name', 'pending_name'], problem: 'is unknown', remedy: 'observe', losesFacts: true },
  { tables: ['slot_lease'], problem: 'is missing or damaged: names of this range are not probed', repair: 'lease' },

  { tables: ['schema', 'ledger'], problem: 'is missing', remedy: 'schema' },
  { tables: ['schema', 'ledger'], problem: 'is disabled or invalid', remedy: 'schema' },
  { tables: ['schema', 'ledger'], problem: 'differs from the definition of this release', remedy: 'schema' },
]

const ROW_FINDINGS = [EVENT_FINDING, ...LEDGER_FINDINGS].map(
  ({ table, problem, repairs }): Finding => ({
    tables: [table],
    problem,
    ...(repairs === undefined ? { remedy: 'restore ledger' } : { repair: 'ledger' }),
  }),
)

export const FINDINGS: readonly Finding[] = [
  ...FACTS_FINDINGS,
  ...ROW_FINDINGS,
  { tables: ['ledger'], problem: '…', remedy: 'restore ledger' },
]

const PATTERNS = FINDINGS.map((finding) => ({ finding, pattern: patternOf(finding.problem) }))

function patternOf(problem: string): RegExp {
  const parts = problem.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}

/** The finding of a fault. Throws if it is not in the table. */
export function findingOf({ table, problem }: CheckFault): Finding {
  const found = PATTERNS.find(
    ({ finding, pattern }) => (finding.tables?.includes(table) ?? true) && pattern.test(problem),
  )
  if (found === undefined) throw new Error(`${table}: ${problem} is no known finding`)
  return found.finding
}

/** How a fault is mended; null if it cannot be. */
export function repairOf(fault: CheckFault): Repair | null {
  const finding = findingOf(fault)
  return 'repair' in finding ? finding.repair : null
}

/** What an operator does about a fault that cannot be mended; null for others. */
export function remedyOf(fault: CheckFault): Remedy | null {
  const finding = findingOf(fault)
  return 'remedy' in finding ? finding.remedy : null
}
