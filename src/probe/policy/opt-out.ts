/** The opt-out list: the names and addresses whose owners want no visits, in a file that is read anew when it changes. */

import { readFileSync, statSync } from 'node:fs'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { type AddressRange, parseAddressRange, rangeMatcher } from '../guard.ts'

export type OptOutList = {
  hasName(name: DomainName): boolean
  /** An IPv4 address inside an IPv6 address is asked for by itself (src/probe/guard.ts). */
  hasAddress(address: IpAddress): boolean
  /** From now on the list stays as it is. */
  close(): void
}

/** `example.com` is that name and its `www.`; `.example.com`, or `*.example.com`, everything under it and itself. */
type OptOutEntries = { names: Set<string>; suffixes: Set<string>; ranges: AddressRange[] }

/** A list in use. */
type OptOutMatcher = Pick<OptOutList, 'hasName' | 'hasAddress'>
/** A list that is being read, some lines at each step. */
type ListReading = Generator<undefined, OptOutMatcher>
/** Told of each step: the list, what is wrong with it, or null where it goes on; false where it shall not. */
type ReadHandler = (read: OptOutMatcher | Error | null) => boolean

/** The file cannot be read, or a line of it is none: in words, with the number of the line. */
export class OptOutListError extends Error {
  override name = 'OptOutFault'
}

/** `ticks`: milliseconds of a clock that is never set back. `say`: told, once, of a file that turned bad. */
type OptOutOptions = { nowMs: () => number; log: (message: string) => void }

/** Milliseconds between two looks at the file. */
const CHECK_INTERVAL_MS = 1000
const MAX_LIST_BYTES = 8 * 1024 * 1024
/** Lines that are read at once, a few milliseconds; behind them others have their turn. */
const LINES_PER_STEP = 5_000
/** Each connection is compared with all of them. */
const MAX_RANGES = 10_000
const WWW = 'www.'

/**
 * Reads the list, and looks at the file again whenever it is asked, at most once a second. What is new on it counts at once,
 * in a file of over 5,000 lines when all are read, between which others have their turn; what is no longer on it counts until
 * the next look finds the file as it is, because it may be half written. While the file cannot be used the list stays what it
 * was. Throws OptOutFault.
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

/** The lines of a file; empty ones, and what follows a `#`, are passed over. Throws OptOutFault. */
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
  if (length > MAX_RANGES) throw new OptOutListError(`${path} holds ${length} ranges, at most ${MAX_RANGES} may be`)
  return matcherOf(entries)
}

/** The first lines at once, some more at each turn of the event loop. */
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

/** False for a text that is none. */
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

const NOT_AN_ENTRY = 'no name (example.com), suffix (.example.com) or range (192.0.2.0/24, 2001:db8::/32)'

function readListFile(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > MAX_LIST_BYTES) throw new Error(`it has over ${MAX_LIST_BYTES / 2 ** 20} MiB`)
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptOutListError(`${path} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}`)
  }
}

/** The name under which all is meant; one label is enough. Null for a text that means no more than itself. */
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

/** What tells one state of the file from another; '' where there is none to be seen. */
function fileFingerprint(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return ''
  }
}
