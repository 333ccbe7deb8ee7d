/**
 * Checks the inverse index: its blocks, the owners of its entries, and that it has every entry and key of a name.
 */

import { STATE_TYPE_NUMBERS } from '../../apply/stored-numbers.ts'
import { EntryCursor, positionOf, timeOfEvent } from '../../inverse/entries/block.ts'
import { valueKeysOfSet } from '../../inverse/entries/record-events.ts'
import {
  hostOfValueKey,
  isKeyOfName,
  KEY_KIND,
  keysOfLastLabel,
  keysOfName,
  knownNameOfKey,
  nameOfSetKey,
  nameSetKey,
  namesHost,
  parseEntryKey,
} from '../../inverse/entries/value-key.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { addressFamily } from '../../values/ip-address.ts'
import type { StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import type { CheckFault } from '../port/store.ts'
import { type CheckSlice, checkSlice, problemReporter } from '../shared/check/slice.ts'
import { problemsOfNamedHosts } from './check-certificates.ts'
import {
  type CheckedBlock,
  type CheckedCertificate,
  type CheckedOwner,
  type FoundBlock,
  type FoundState,
  findEntries,
  type InverseCheck,
  latin1,
  type StateRequest,
} from './check-entries.ts'
import { formerKeysOf, nameOfFormerKey } from './former-certificates.ts'
import { entriesOfName, newestTextsOf, presentedBy, type StoredHistory } from './name-events.ts'

/** The states of a run (migration `inverse`). */
const RUN_STATES = ['building', 'published', 'replaced']
/** Rows of `CHECK_SLICE_ROWS` that take as long as one block with the owners of its entries. */
const ROWS_PER_BLOCK = 40
/** The bytes of names. */
const NAME_PATTERN = /^[!-~]+$/

/** The kinds of sets whose keys belong to no name. */
const SETS_OF_OTHERS: readonly string[] = [KEY_KIND.knownHost, KEY_KIND.namedHost, KEY_KIND.lastLabel]

/** A name of a certificate. */
type NamedEntry = { key: string; block: CheckedBlock }
/** `at`: the time of its first event in the block; 0 without events. */
type OwnedEntry = {
  key: string
  name: DomainName
  type: StateType | null
  valueKey: string
  at: Instant
  block: CheckedBlock
}

/** The number of blocks of a slice. */
export function blocksPerSlice(limit: number): number {
  return Math.ceil(limit / ROWS_PER_BLOCK)
}

/**
 * Where a slice of blocks starts: [bound, run, position in hexadecimal]. `bound`: the highest run of the check. Writers
 * add runs all the time, and the check would otherwise not end before they do. `newest`: the newest run.
 */
export function blockStart(after: string | null, newest: number): { bound: number; run: number; position: Buffer } {
  const [bound, run, hex] = after === null ? [0, -1, ''] : (JSON.parse(after) as [number, number, string])
  return { bound: bound > 0 ? bound : newest, run, position: Buffer.from(hex, 'hex') }
}

/** Checks runs after a number, at most `limit`. */
export function checkRuns(runs: readonly { number: number; state: string }[], limit: number): CheckSlice {
  const faults: CheckFault[] = []
  for (const { number, state } of runs)
    if (!RUN_STATES.includes(state)) problemReporter(faults, 'inverse_run', String(number))(`has state ${state}`)
  // every transaction of a writer adds a run: a slice that is not full is the end
  const last = runs.length < limit ? null : JSON.stringify([runs.at(-1)!.number])
  return { faults, checked: runs.length, last }
}

/**
 * Checks consecutive blocks. `after`: where the slice starts, null for the first block. If the first of `blocks` is at
 * that place, it was checked before, and the next one must follow it.
 */
export function* checkBlocks(
  blocks: readonly CheckedBlock[],
  after: string | null,
  bound: number,
): InverseCheck<CheckSlice> {
  const faults: CheckFault[] = []
  const entries: OwnedEntry[] = []
  const named: NamedEntry[] = []
  const isChecked = blocks[0] !== undefined && blockPlace(bound, blocks[0]) === after
  for (let index = isChecked ? 1 : 0; index < blocks.length; index++) {
    const block = blocks[index]!
    const before = blocks[index - 1]
    const report = blockReporter(faults, block)
    if (block.state === null) report('belongs to no run')
    if (!block.isIntact) {
      report('does not match its checksum')
      continue // what it says is no finding about a name
    }
    try {
      const problem = readBlock(block, before?.run === block.run ? before.last : null, entries, named)
      if (problem !== null) report(problem)
    } catch (error) {
      report(`cannot be read: ${(error as Error).message}`)
    }
  }
  yield* checkKnown(
    entries.filter(({ type }) => type === null),
    faults,
  )
  yield* checkOwners(
    entries.filter(({ type }) => type !== null),
    faults,
  )
  const problems = yield* problemsOfNamedHosts(named.map(({ key }) => key))
  for (const { key, block } of named)
    if (problems.has(key)) blockReporter(faults, block)(`has an entry of a certificate that ${problems.get(key)}`)
  const checked = blocks.length - (isChecked ? 1 : 0)
  const last = blocks.at(-1)
  return checkSlice(faults, checked, last && blockPlace(bound, last))
}

function blockPlace(bound: number, { run, last }: FoundBlock): string {
  return JSON.stringify([bound, run, Buffer.from(last).toString('hex')])
}

function blockReporter(faults: CheckFault[], { run, last }: FoundBlock) {
  return problemReporter(faults, 'inverse_block', `${run} ${Buffer.from(last).toString('hex')}`)
}

/**
 * Adds the entries of a block that belong to a name, or to a certificate. `before`: the position of the block before in
 * the same run. Returns what is wrong with the block, null if nothing is. Throws RangeError if it is damaged.
 */
function readBlock(
  block: CheckedBlock,
  before: Uint8Array | null,
  entries: OwnedEntry[],
  named: NamedEntry[],
): string | null {
  const cursor = new EntryCursor([block.entries])
  let reached = before === null ? null : latin1(before)
  let problem: string | null = null
  let count = 0
  let lastKey: string | null = null
  for (; cursor.next(); count++) {
    const key = cursor.key.toString('latin1', 0, cursor.keyLength)
    for (let index = 0; index < Math.max(1, cursor.eventCount); index++) {
      const position = positionOf(key, cursor.eventCount === 0 ? 0 : cursor.events[index]!)
      if (reached !== null && position <= reached) problem ??= 'has entries that are not in order'
      reached = position
    }
    const entry = key === lastKey ? null : ownedEntry(key, cursor, block)
    lastKey = key
    if (key !== null && key[0] === KEY_KIND.namedHost) named.push({ key, block })
    if (typeof entry === 'string') problem ??= entry
    else if (entry !== null) entries.push(entry)
  }
  if (count === 0) return 'has no entries'
  return problem ?? (reached === latin1(block.last) ? null : 'has another last position')
}

/** The entry of a key. Null for one that belongs to no name. A text is what is wrong with it. */
function ownedEntry(
  key: string,
  { eventCount, events }: Pick<EntryCursor, 'eventCount' | 'events'>,
  block: CheckedBlock,
): OwnedEntry | string | null {
  const former = nameOfFormerKey(key) as DomainName | null
  if (former !== null) return { key, name: former, type: 'certificate', valueKey: key, at: 0, block }
  const parsed = parseEntryKey(key)
  const ofKnownName = knownNameOfKey(key)
  if (parsed === null && ofKnownName === null && !SETS_OF_OTHERS.includes(key[0]!))
    return 'has an entry of an unknown kind'
  if ((parsed === null) !== (eventCount === 0)) return 'has an entry with a wrong number of events'
  const name = (parsed?.name ?? ofKnownName) as DomainName | null
  if (name === null) return null
  if (!NAME_PATTERN.test(name)) return 'has an entry of no name'
  const valueKey = key.slice(0, key.length - name.length)
  const at = eventCount === 0 ? 0 : timeOfEvent(events[0]!)
  return { key, name, type: parsed === null ? null : typeOf(parsed.value), valueKey, at, block }
}

function typeOf(value: NonNullable<ReturnType<typeof parseEntryKey>>['value']): StateType {
  if (value.kind === 'host') return value.type
  if (value.kind === 'text') return 'TXT'
  if (value.kind === 'redirect') return 'web'
  if (value.kind === 'certificate') return 'certificate'
  return addressFamily(value.address) === 4 ? 'A' : 'AAAA'
}

function reportEntry(faults: CheckFault[], { name, block }: OwnedEntry, problem: string): void {
  blockReporter(faults, block)(`has an entry of ${name}, ${problem}`)
}

/** Each key of a set of known names is one of a name that is known. */
function* checkKnown(entries: readonly OwnedEntry[], faults: CheckFault[]): InverseCheck<void> {
  if (entries.length === 0) return
  const rows = (yield { needs: 'known', names: namesOf(entries) }) as { name: DomainName }[]
  const known = new Set(rows.map(({ name }) => name))
  const unknown = entries.filter(({ name }) => !known.has(name))
  const problemOf = yield* problemsOfUnowned(unknown, 'which is not known')
  for (const entry of entries) {
    if (!known.has(entry.name)) reportEntry(faults, entry, problemOf(entry))
    else if (!isKeyOfName(entry.name, entry.key)) reportEntry(faults, entry, 'which does not have this key')
  }
}

/**
 * Each entry belongs to a name whose newest records of the type have the value, or those at the time of the entry, or
 * otherwise its history. A history is read last, because a name with a long one has many entries.
 */
function* checkOwners(entries: readonly OwnedEntry[], faults: CheckFault[]): InverseCheck<void> {
  const report = (entry: OwnedEntry, problem: string): void => reportEntry(faults, entry, problem)
  const owners = (yield { needs: 'owners', names: namesOf(entries) }) as CheckedOwner[]
  const newest = new Map(owners.map((owner) => [owner.name, readableNewestTexts(owner)]))
  const former: OwnedEntry[] = []
  const unowned = entries.filter(({ name }) => !newest.has(name))
  const problemOf = yield* problemsOfUnowned(unowned, 'which has no facts')
  for (const entry of entries) {
    const ofName = newest.get(entry.name)
    if (ofName === undefined) report(entry, problemOf(entry))
    else if (!hasValue(entry, ofName[entry.type!]?.records)) former.push(entry)
  }
  const others = yield* withoutState(former)
  if (others.length === 0) return
  const histories = (yield { needs: 'histories', names: namesOf(others) }) as StoredHistory[]
  const expected = new Map(histories.map((history) => [history.name, keysOf(history)]))
  for (const entry of others) {
    const ofName = expected.get(entry.name)
    if (ofName && !ofName.has(entry.key)) report(entry, 'whose history does not have it')
  }
}

/** The entries whose value is not in the superseded state of the time of the entry. */
function* withoutState(entries: readonly OwnedEntry[]): InverseCheck<readonly OwnedEntry[]> {
  if (entries.length === 0) return entries
  const requestOf = ({ name, type, at }: OwnedEntry) => ({ name, type: STATE_TYPE_NUMBERS[type!], at })
  const place = ({ name, type, at }: StateRequest): string => `${type} ${at} ${name}`
  const asked = new Map(entries.map(requestOf).map((request) => [place(request), request]))
  const found = (yield { needs: 'states', states: [...asked.values()] }) as FoundState[]
  const records = new Map(found.map((state) => [place(state), state.records]))
  return entries.filter((entry) => !hasValue(entry, records.get(place(requestOf(entry)))))
}

/** What is wrong with entries whose names the store does not have. `problem`: unless the index itself is wrong. */
function* problemsOfUnowned(
  entries: readonly OwnedEntry[],
  problem: string,
): InverseCheck<(entry: OwnedEntry) => string> {
  if (entries.length === 0) return () => problem
  const rows = (yield { needs: 'forgotten', names: namesOf(entries) }) as { name: DomainName }[]
  const forgotten = new Set(rows.map(({ name }) => name))
  return ({ name }) => {
    if (forgotten.has(name)) return 'which was forgotten'
    return parseName(name) === name ? problem : 'which is no domain name'
  }
}

function namesOf(entries: readonly OwnedEntry[]): DomainName[] {
  return [...new Set(entries.map(({ name }) => name))]
}

/** The newest states of a name; none if they cannot be read, which the check of facts reports. */
function readableNewestTexts(owner: CheckedOwner): ReturnType<typeof newestTextsOf> {
  try {
    return newestTextsOf(owner)
  } catch {
    return {}
  }
}

/** Whether a stored text has the value of an entry; false if it cannot be read. */
function hasValue({ type, valueKey }: OwnedEntry, records: string | undefined): boolean {
  try {
    return records !== undefined && valueKeysOfSet(type!, records).includes(valueKey)
  } catch {
    return false
  }
}

/** The keys of all entries that a name may have; null if its history cannot be read. */
function keysOf(history: StoredHistory): Set<string> | null {
  const entries = readableEntries(history)
  return entries && new Set([...entries.keys(), ...formerKeysOf(history)])
}

/** The entries of a name; null if its history cannot be read, which the check of facts reports. */
function readableEntries(history: StoredHistory): ReturnType<typeof entriesOfName> | null {
  try {
    return entriesOfName(history)
  } catch {
    return null
  }
}

/** The published runs have every entry of each name, with exactly its events, and its hosts. `limit`: of the slice. */
export function* checkNames(histories: Iterable<StoredHistory>, limit: number): InverseCheck<CheckFault[]> {
  const expected: [DomainName, Map<string, number[]>][] = []
  const presented = new Map<DomainName, string[]>()
  const keys = new Set<string>()
  for (const history of histories) {
    const entries = readableEntries(history)
    if (entries === null) continue
    for (const host of new Set([...entries.keys()].filter(namesHost).map(hostOfValueKey)))
      entries.set(nameSetKey('knownHost', host), [])
    expected.push([history.name, entries])
    presented.set(history.name, presentedBy(history))
    for (const key of entries.keys()) keys.add(key)
  }
  const found = yield* findEntries([...keys].sort(), limit)
  const lost = yield* lostCertificates(presented)
  const faults: CheckFault[] = []
  for (const [name, entries] of expected) {
    const missing = [...entries].filter(([key]) => !found.has(key))
    const present = [...entries].filter(([key]) => found.has(key))
    const lacking = present.filter(([key, events]) => events.some((event) => !found.get(key)!.has(event)))
    const further = present.filter(([key, events]) => [...found.get(key)!].some((event) => !events.includes(event)))
    const report = problemReporter(faults, 'inverse_block', name)
    if (missing.length > 0) report(`has no entry of ${valueText(missing[0]![0])}${others(missing.length)}`)
    if (lacking.length > 0) report(`has other times of ${valueText(lacking[0]![0])}${others(lacking.length)}`)
    if (further.length > 0)
      report(`has times of ${valueText(further[0]![0])}${others(further.length)} that its history lacks`)
    const unknown = presented.get(name)!.find((sha256) => lost.has(sha256))
    if (unknown !== undefined)
      problemReporter(faults, 'facts', name)(`refers to the certificate ${unknown}, which does not exist`)
  }
  return yield* ofOwners(faults)
}

/** The faults whose key is a name that has facts. Facts of no name are a finding of their own. */
function* ofOwners(faults: readonly CheckFault[]): InverseCheck<CheckFault[]> {
  if (faults.length === 0) return []
  const names = [...new Set(faults.map(({ key }) => key as DomainName))]
  const owners = new Set(((yield { needs: 'owners', names }) as CheckedOwner[]).map(({ name }) => name))
  return faults.filter(({ key }) => owners.has(key as DomainName))
}

/** The published runs have every key of known names. `limit`: of the slice. */
export function* checkKnownNameKeys(names: readonly DomainName[], limit: number): InverseCheck<CheckFault[]> {
  const expected = names.map((name) => [...keysOfName(name), ...keysOfLastLabel(name)])
  const found = yield* findEntries([...new Set(expected.flat())].sort(), limit)
  const faults: CheckFault[] = []
  for (const [index, keys] of expected.entries()) {
    const missing = keys.filter((key) => !found.has(key)).length
    if (missing > 0)
      problemReporter(faults, 'inverse_block', names[index]!)(`lacks ${missing} of the keys by which it is found`)
  }
  return faults
}

/** The certificates of names that do not exist. */
function* lostCertificates(presented: ReadonlyMap<DomainName, string[]>): InverseCheck<Set<string>> {
  const sha256s = [...new Set([...presented.values()].flat())]
  if (sha256s.length === 0) return new Set()
  const rows = (yield { needs: 'certificates', sha256s }) as CheckedCertificate[]
  const known = new Set(rows.map(({ sha256 }) => sha256))
  return new Set(sha256s.filter((sha256) => !known.has(sha256)))
}

function others(count: number): string {
  return count > 1 ? ` and ${count - 1} others` : ''
}

/** What a key says, for a message. */
function valueText(key: string): string {
  const parsed = parseEntryKey(key)
  if (parsed === null) return `host ${nameOfSetKey(key)}`
  const { value } = parsed
  if (value.kind === 'text') return 'TXT'
  if (value.kind === 'redirect') return `redirect to ${value.host}`
  if (value.kind === 'certificate') return `certificate ${value.sha256}`
  return value.kind === 'host' ? `${value.type} ${value.host}` : `${typeOf(value)} ${value.address}`
}
