/**
 * Follows certificate logs: reads their list each day, and each log under a lease from its state to its head, in
 * verified batches. Adds the names of their certificates to the store.
 */

import { LruMap } from '../../probe/lru-map.ts'
import { addNames } from '../../registrations/add-names.ts'
import { LOG_LEASE_SECONDS, type LogLease } from '../../store/port/certificate-logs.ts'
import type { LoggedCertificate, Store } from '../../store/port/store.ts'
import type { Certificate } from '../../values/certificate/certificate.ts'
import { type DomainName, registrableDomainOrNull } from '../../values/domain-name.ts'
import { type EntrySource, MAX_KEPT_CERTIFICATE_BYTES, MAX_NAMES_IN_MEMORY } from './log/entry-source.ts'
import type { LogClient } from './log/log-client.ts'
import { addSummary, emptySummary } from './log/log-entry.ts'
import { openRfc6962Source } from './log/rfc6962-source.ts'
import { openTileSource } from './log/tile-source.ts'
import type { TreeHead } from './log/tree-head.ts'
import { type CertificateLog, type LogBatch, LogFault, type LogState, LogUnavailable } from './log.ts'
import { Slots } from './slots.ts'
import { type FollowedState, nextFollowedState, parseFollowedState } from './stored-state.ts'

export type ListFollowing = Omit<LogFollowing, 'logs'> & {
  /** Returns the logs to follow. Its first failure ends the following; later ones leave the logs as they are. */
  readLogs(): Promise<CertificateLog[]>
  /** Called if the list cannot be read again. */
  onListProblem(error: Error): void
  /** Milliseconds after which the list is read again. By default a day. */
  rereadMs?: number
}

const REREAD_MS = 86_400_000

/** Certificates per transaction. */
const CERTIFICATES_PER_WRITE = 200
/** Entries per batch, about. */
const BATCH_ENTRIES = 4_096

/** Waits for a number of milliseconds, or until the signal aborts. */
type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

export type LogFollowing = {
  logs: readonly CertificateLog[]
  store: Pick<Store, 'certificateLogs' | 'observations' | 'now'>
  /** The unique ID of this process. */
  holder: string
  client: LogClient
  /** Entries before the head at which an unknown log begins. */
  startBack: number
  /** Whether the certificates are stored, and not only their names. */
  keepsCertificates: boolean
  /** Ends when each log was read to its head. */
  isOnce: boolean
  /** Whether the owner of a name opted out. Such names are not added. */
  optOut: { hasName(name: DomainName): boolean }
  wait: Wait
  signal: AbortSignal
  /** Called with the names that were not seen lately, before they are stored. */
  onNames(names: readonly DomainName[]): void
  onBatch(log: CertificateLog, batch: LogBatch, newNames: number): void
  /** Called if a log cannot be read. `isLeftOut`: it contradicts itself, and is not read any more. */
  onProblem(log: CertificateLog, message: string, isLeftOut: boolean): void
}

/** Names that are remembered as seen. A certificate has its names twice, and is renewed after weeks. */
const MAX_SEEN_NAMES = 200_000
/** Logs that are read at once. */
const MAX_ACTIVE_LOGS = 8
/** Milliseconds until a log that was read to its head, or that another process holds, is tried again. */
const POLL_MS = 30_000
const RENEW_MS = (LOG_LEASE_SECONDS * 1000) / 3
const FIRST_RETRY_MS = 10_000
const MAX_RETRY_MS = 600_000
/** Tries of a log that cannot be read, if it is read only once. */
const MAX_TRIES_ONCE = 3

/** Follows until the signal. Rejects if the store fails. A log that cannot be read does not stop the others. */
export async function followLogs(following: LogFollowing): Promise<void> {
  const shared: SharedParts = { seen: new LruMap(MAX_SEEN_NAMES), slots: new Slots(MAX_ACTIVE_LOGS) }
  const failure = new AbortController()
  const signal = AbortSignal.any([following.signal, failure.signal])
  const tasks = following.logs.map((log) => followOne({ ...following, signal }, shared, log))
  const settled = await Promise.allSettled(tasks.map((task) => task.catch((error) => fail(error, failure))))
  for (const each of settled) if (each.status === 'rejected') throw each.reason
}

function fail(error: unknown, failure: AbortController): never {
  failure.abort()
  throw error
}

/** `seen`: names that were passed to the store lately. */
type SharedParts = { seen: LruMap<DomainName, true>; slots: Slots }

/** Follows one log: leases it, reads to its head, and waits. */
async function followOne(following: LogFollowing, shared: SharedParts, log: CertificateLog): Promise<void> {
  const { store, holder, isOnce, signal, wait } = following
  while (!signal.aborted) {
    const leased = await store.certificateLogs.lease(log, holder)
    if (leased !== null && (await followLeased(following, shared, { log, ...leased }))) return
    if (leased === null) {
      const problem = (await store.certificateLogs.list()).find(({ id }) => id === log.id)?.problem ?? null
      if (problem !== null) return following.onProblem(log, problem, true)
      if (isOnce) return following.onProblem(log, 'another process reads it', false)
    }
    await wait(POLL_MS, signal).catch(() => {})
  }
}

type Leased = { log: CertificateLog; lease: LogLease; state: string | null }

/** Returns true if the log is done: read once, or left out. */
async function followLeased(following: LogFollowing, shared: SharedParts, leased: Leased): Promise<boolean> {
  const { store, isOnce, signal, wait } = following
  const { log, lease } = leased
  const ended = new AbortController()
  const renewal = renewLease(following, lease, ended.signal)
  let state = parseFollowedState(leased.state)
  let problem: string | null = null
  try {
    for (let failures = 0; !signal.aborted; ) {
      const outcome = await readToHead(following, shared, { log, lease, state })
      state = outcome.state
      if (outcome.is === 'lost') return false
      if (outcome.is === 'fault') {
        problem = outcome.message
        following.onProblem(log, problem, true)
        return true
      }
      failures = outcome.is === 'unavailable' ? failures + 1 : 0
      if (outcome.is === 'unavailable') following.onProblem(log, outcome.message, false)
      if (isOnce && (failures === 0 || failures === MAX_TRIES_ONCE)) return true
      const retryMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS)
      await wait(outcome.is === 'unavailable' ? (outcome.retryAfterMs ?? retryMs) : POLL_MS, signal).catch(() => {})
    }
    return true
  } finally {
    ended.abort()
    await renewal
    await store.certificateLogs.release(lease, problem)
  }
}

/** How reading to the head ended. `lost`: another process has the lease. */
type ReadOutcome = { state: FollowedState | null } & (
  | { is: 'read' | 'lost' }
  | { is: 'fault'; message: string }
  | { is: 'unavailable'; message: string; retryAfterMs: number | null }
)

async function readToHead(
  following: LogFollowing,
  { seen, slots }: SharedParts,
  { log, lease, state: before }: { log: CertificateLog; lease: LogLease; state: FollowedState | null },
): Promise<ReadOutcome> {
  const { store, client, startBack, keepsCertificates, signal } = following
  let state = before
  const release = await slots.take()
  try {
    for await (const batch of followLog(log, state, { startBack, keepsCertificates, client })) {
      const newNames = await storeNames(following, seen, batch.names)
      await storeCertificates(following, batch.certificates)
      const next = nextFollowedState(state, batch, newNames)
      if (!(await store.certificateLogs.save(lease, JSON.stringify(next)))) return { is: 'lost', state }
      state = next
      following.onBatch(log, batch, newNames)
      if (signal.aborted) break
    }
    return { is: 'read', state }
  } catch (error) {
    if (error instanceof LogFault) return { is: 'fault', message: error.message, state }
    if (error instanceof LogUnavailable)
      return { is: 'unavailable', message: error.message, retryAfterMs: error.retryAfterMs, state }
    if (signal.aborted) return { is: 'read', state }
    throw error
  } finally {
    release()
  }
}

/** Stores the names that were not seen lately. Returns how many the store did not have. */
async function storeNames(
  { store, optOut, signal, onNames }: LogFollowing,
  seen: LruMap<DomainName, true>,
  found: readonly DomainName[],
): Promise<number> {
  const names = found.filter((name) => seen.get(name) === undefined && !optOut.hasName(name))
  if (names.length === 0) return 0
  onNames(names)
  let newNames = 0
  const onAdded = (_: number, added: number): void => {
    newNames += added
  }
  await addNames([names], { insertsUnknown: true, makesDue: false }, { store, signal, onAdded })
  for (const name of names) seen.set(name, true)
  return newNames
}

/** Stores certificates, except those that name a host or a domain that was forgotten or whose owner opted out. */
async function storeCertificates(
  { store: { observations }, optOut }: LogFollowing,
  certificates: readonly LoggedCertificate[],
): Promise<void> {
  const domainsOf = ({ names }: Certificate): DomainName[] =>
    names.flatMap((name) => {
      const host = name.replace('*.', '') as DomainName
      return [host, registrableDomainOrNull(host) ?? host]
    })
  for (let at = 0; at < certificates.length; at += CERTIFICATES_PER_WRITE) {
    const some = certificates.slice(at, at + CERTIFICATES_PER_WRITE)
    const domains = [...new Set(some.flatMap(({ certificate }) => domainsOf(certificate)))]
    const states = await observations.crawlStates(domains)
    const excluded = new Set(domains.filter((name, index) => states[index]!.forgotten || optOut.hasName(name)))
    const kept = some.filter(({ certificate }) => domainsOf(certificate).every((name) => !excluded.has(name)))
    if (kept.length > 0) await observations.addLogged(kept)
  }
}

/** Renews a lease until the signal. A lost lease shows when the next state is saved. */
async function renewLease({ store, wait }: LogFollowing, lease: LogLease, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await wait(RENEW_MS, ended).catch(() => {})
    if (!ended.aborted) await store.certificateLogs.renew(lease).catch(() => false)
  }
}

/**
 * Yields the entries from `state` to the current head, then ends. Without a state, it begins `startBack` entries before
 * the head, at least one. If there are no new entries, it yields a batch without entries. Throws LogFault and
 * LogUnavailable.
 */
export async function* followLog(
  log: CertificateLog,
  state: LogState | null,
  { startBack, keepsCertificates, client }: Pick<LogFollowing, 'startBack' | 'keepsCertificates' | 'client'>,
): AsyncGenerator<LogBatch> {
  const open = log.kind === 'tiles' ? openTileSource : openRfc6962Source
  const source = open(log, client, keepsCertificates)
  const head = await source.head()
  const start = state === null ? await firstState(source, head, startBack) : state
  if (state !== null) await requireSuccessor(source, state.head, head)
  const kept = { size: head.size, root: head.root.toString('base64'), time: head.time }
  let [position, hashes] = [start.position, start.hashes]
  let batch = emptySummary(keepsCertificates)
  if (position === head.size) {
    yield { ...batch, names: [], certificates: [], newest: head.time, state: { ...start, head: kept } }
    return
  }
  for await (const verified of source.entries(start, head)) {
    addSummary(batch, verified.summary)
    position += verified.summary.entries
    hashes = verified.hashes
    const isLong = keepsCertificates && batch.bytes >= MAX_KEPT_CERTIFICATE_BYTES
    const isFull = batch.entries >= BATCH_ENTRIES || batch.names.size >= MAX_NAMES_IN_MEMORY || isLong
    if (!isFull && position < head.size) continue
    yield {
      ...batch,
      names: [...batch.names],
      certificates: batch.certificates ?? [],
      state: { position, hashes, head: kept },
    }
    batch = emptySummary(keepsCertificates)
  }
}

/** At least one entry before the end, so that the start can be proved. */
async function firstState(
  source: EntrySource,
  head: TreeHead,
  startBack: number,
): Promise<Pick<LogState, 'position' | 'hashes'>> {
  if (head.size === 0) return { position: 0, hashes: [] }
  return source.startAt(Math.max(0, head.size - Math.max(1, startBack)), head)
}

/**
 * Throws LogFault unless the head follows the former one, and LogUnavailable if it is an earlier one of the same tree:
 * servers of one log may differ for a while. Each tree is signed later than the one before it (RFC 6962, section 3.5).
 */
async function requireSuccessor(source: EntrySource, former: LogState['head'], head: TreeHead): Promise<void> {
  if (head.size < former.size) {
    const earlier = { size: head.size, root: head.root.toString('base64'), time: head.time }
    await source.requireConsistency(earlier, { ...former, root: Buffer.from(former.root, 'base64') })
    throw new LogUnavailable(`its tree head has ${head.size} entries, and an earlier one had ${former.size}`)
  }
  if (head.size > former.size && head.time < former.time)
    throw new LogFault(`its tree of ${head.size} entries was signed before that of ${former.size}`)
  await source.requireConsistency(former, head)
}

/** Follows until the signal, or once. Rejects if the first list or the store fails. */
export async function followListedLogs(following: ListFollowing): Promise<void> {
  const { readLogs, onListProblem, rereadMs = REREAD_MS, isOnce, wait, signal } = following
  let logs = await readLogs()
  if (isOnce) return followLogs({ ...following, logs })
  while (!signal.aborted) {
    const round = new AbortController()
    const both = AbortSignal.any([signal, round.signal])
    const isOver = wait(rereadMs, both).catch(() => {})
    const reading = followLogs({ ...following, logs, signal: both })
    try {
      await Promise.race([isOver, reading.then(() => isOver)])
    } finally {
      round.abort()
    }
    await reading
    if (signal.aborted) return
    logs = await readLogs().catch((error: Error) => {
      onListProblem(error)
      return logs
    })
  }
}
