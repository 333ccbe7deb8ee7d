/** The opt-out list: names and addresses whose owners refuse probes. The file is reloaded when it changes. */

import { readFileSync, statSync } from 'node:fs'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { type AddressRange, parseAddressRange, rangeMatcher } from '../guard.ts'

export type OptOutList = {
  hasName(name: DomainName): boolean
  /**
   * Does not look inside IPv6 addresses. The guard (src/probe/guard.ts) checks an embedded IPv4 address separately.
   */
  hasAddress(address: IpAddress): boolean
  /** Stops reloading the file. */
  close(): void
}

/**
 * `example.com` means that name and its `www.` host. `.example.com` or `*.example.com` means the name and everything
 * below it.
 */
type OptOutEntries = { names: Set<string>; suffixes: Set<string>; ranges: AddressRange[] }

/** A loaded list. */
type OptOutMatcher = Pick<OptOutList, 'hasName' | 'hasAddress'>
/** Reads a list, some lines at each step. */
type ListReading = Generator<undefined, OptOutMatcher>
/** Receives the list, the error, or null after a step that is not the last. Returns false to stop reading. */
type ReadHandler = (read: OptOutMatcher | Error | null) => boolean

/** The file cannot be read or a line is invalid. The message says why, with the line number. */
export class OptOutListError extends Error {
  override name = 'OptOutListError'
}

/** `nowMs`: milliseconds of a monotonic clock. `log` receives one message when the file becomes invalid. */
type OptOutOptions = { nowMs: () => number; log: (message: string) => void }

/** Milliseconds between two checks of the file. */
const CHECK_INTERVAL_MS = 1000
const MAX_LIST_BYTES = 8 * 1024 * 1024
/** Lines per step. A step takes a few milliseconds, and other work runs between steps. */
const LINES_PER_STEP = 5_000
/** Each connection is checked against all of them. */
const MAX_RANGES = 10_000
const WWW = 'www.'

/**
 * Reads the list, and checks the file for changes at most once a second when the list is used. New entries apply when
 * the whole file is read. A file of more than 5,000 lines is read in steps with other work in between. Removed entries
 * apply until the next check finds the file unchanged, because it may be half written. While the file is invalid, the
 * list stays as it was. Throws OptOutListError.
 */
export function openOptOutList(path: string, { nowMs, log }: OptOutOptions): OptOutList {
  let fingerprint = fileFingerprint(path)
  let current = readAll(parseList(path))
  let previous: OptOutMatcher | null = null
  let state: 'sound' | 'bad' | 'reading' = 'sound'
  let checkedAt = nowMs()
  let isClosed = false

  const checkFile = (): void => {
    checkedAt = nowMs()
    const now = fileFingerprint(path)
    if (now !== fingerprint) {
      fingerprint = now
      state = 'reading'
      continueReading(parseList(path), onRead)
    } else if (state === 'sound') previous = null
  }
  const onRead: ReadHandler = (read) => {
    if (isClosed || read === null) return !isClosed
    state = read instanceof Error ? 'bad' : 'sound'
    if (read instanceof Error) log(`opt-out list not reloaded: ${read.message}`)
    else [previous, current] = [previous ?? current, read]
    return false
  }
  const lists = (): OptOutMatcher[] => {
    if (!isClosed && state !== 'reading' && nowMs() - checkedAt >= CHECK_INTERVAL_MS) checkFile()
    return previous === null ? [current] : [current, previous]
  }

  return {
    hasName: (name) => lists().some((list) => list.hasName(name)),
    hasAddress: (address) => lists().some((list) => list.hasAddress(address)),
    close() {
      isClosed = true
    },
  }
}

/** Parses the lines of a file. Skips empty lines and everything after a `#`. Throws OptOutListError. */
function* parseList(path: string): ListReading {
  const text = readListFile(path)
  const entries: OptOutEntries = { names: new Set(), suffixes: new Set(), ranges: [] }
  let number = 0
  for (const [line] of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) {
    if (number > 0 && number % LINES_PER_STEP === 0) yield
    number++
    const entry = line.replace(/#.*$/s, '').trim()
    if (entry !== '' && !addEntry(entries, entry)) {
      throw new OptOutListError(`${path}, line ${number}: ${JSON.stringify(entry.slice(0, 100))} is ${NOT_AN_ENTRY}`)
    }
  }
  const { length } = entries.ranges
  if (length > MAX_RANGES) throw new OptOutListError(`${path} has ${length} ranges: the maximum is ${MAX_RANGES}`)
  return matcherOf(entries)
}

/** Reads the first lines at once, and more at each iteration of the event loop. */
function continueReading(reading: ListReading, onRead: ReadHandler): void {
  if (onRead(nextStep(reading))) setImmediate(continueReading, reading, onRead)
}

function nextStep(reading: ListReading): Parameters<ReadHandler>[0] {
  try {
    const { done, value } = reading.next()
    return done ? value : null
  } catch (error) {
    return error as Error
  }
}

function readAll(reading: ListReading): OptOutMatcher {
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
  }
}

/** Adds an entry. Returns false if the text is invalid. */
function addEntry({ names, suffixes, ranges }: OptOutEntries, text: string): boolean {
  const range = parseAddressRange(text)
  const suffix = parseSuffix(text)
  const name = parseName(text)
  if (range !== null) ranges.push(range)
  else if (suffix !== null) suffixes.add(suffix)
  else if (name !== null) names.add(name)
  else return false
  return true
}

const NOT_AN_ENTRY = 'not a name (example.com), suffix (.example.com) or range (192.0.2.0/24, 2001:db8::/32)'

function readListFile(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > MAX_LIST_BYTES) throw new Error(`it is larger than ${MAX_LIST_BYTES / 2 ** 20} MiB`)
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptOutListError(`${path} cannot be read: ${code === 'ENOENT' ? 'the file does not exist' : message}`)
  }
}

/**
 * The suffix that covers the name and everything below it. A single label is enough. Returns null if the text is not a
 * suffix.
 */
function parseSuffix(text: string): string | null {
  const [, rest] = /^\*?(\..+)$/.exec(text) ?? []
  return rest === undefined ? null : (parseName(`x${rest}`)?.slice(2) ?? null)
}

function matcherOf({ names, suffixes, ranges }: OptOutEntries): OptOutMatcher {
  return {
    hasName(name) {
      if (names.has(name) || (name.startsWith(WWW) && names.has(name.slice(WWW.length)))) return true
      if (suffixes.size === 0) return false
      for (let at = 0; at >= 0; at = name.indexOf('.', at) + 1 || -1) if (suffixes.has(name.slice(at))) return true
      return false
    },
    hasAddress: rangeMatcher(ranges),
  }
}

/** Identifies one version of the file. Returns '' if the file is missing. */
function fileFingerprint(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return ''
  }
}
