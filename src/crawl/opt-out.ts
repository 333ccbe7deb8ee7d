/** The opt-out list: the names and addresses whose owners want no visits, in a file that is read anew when it changes. */

import { readFileSync, statSync } from 'node:fs'
import type { Address } from '../words/address.ts'
import { type Name, parseName } from '../words/name.ts'
import { parseRange, type Range, rangesHold } from './guard.ts'

export type OptOut = {
  hasName(name: Name): boolean
  /** An IPv4 address inside an IPv6 address is asked for by itself (src/crawl/guard.ts). */
  hasAddress(address: Address): boolean
  /** From now on the list stays as it is. */
  close(): void
}

/** `example.com` is that name and its `www.`; `.example.com`, or `*.example.com`, everything under it and itself. */
type Entries = { names: Set<string>; suffixes: Set<string>; ranges: Range[] }

/** A list in use. */
type List = Pick<OptOut, 'hasName' | 'hasAddress'>
/** A list that is being read, some lines at each step. */
type Reading = Generator<undefined, List>
/** Told of each step: the list, what is wrong with it, or null where it goes on; false where it shall not. */
type Take = (read: List | Error | null) => boolean

/** The file cannot be read, or a line of it is none: in words, with the number of the line. */
export class OptOutFault extends Error {
  override name = 'OptOutFault'
}

/** `ticks`: milliseconds of a clock that is never set back. `say`: told, once, of a file that turned bad. */
type OptOutOptions = { ticks: () => number; say: (words: string) => void }

/** Milliseconds between two looks at the file. */
const LOOK = 1000
const MOST_BYTES = 8 * 1024 * 1024
/** Lines that are read at once, a few milliseconds; behind them others have their turn. */
const LINES = 5_000
/** Each connection is compared with all of them. */
const RANGES = 10_000
const WWW = 'www.'

/**
 * Reads the list, and looks at the file again whenever it is asked, at most once a second. What is new on it counts at once,
 * in a file of over 5,000 lines when all are read, between which others have their turn; what is no longer on it counts until
 * the next look finds the file as it is, because it may be half written. While the file cannot be used the list stays what it
 * was. Throws OptOutFault.
 */
export function openOptOut(path: string, { ticks, say }: OptOutOptions): OptOut {
  let print = printOf(path)
  let current = allOf(readList(path))
  let former: List | null = null
  let state: 'sound' | 'bad' | 'reading' = 'sound'
  let looked = ticks()
  let isClosed = false

  const look = (): void => {
    looked = ticks()
    const now = printOf(path)
    if (now !== print) {
      print = now
      state = 'reading'
      readOn(readList(path), take)
    } else if (state === 'sound') former = null
  }
  const take: Take = (read) => {
    if (isClosed || read === null) return !isClosed
    state = read instanceof Error ? 'bad' : 'sound'
    if (read instanceof Error) say(`the opt-out list stays what it was: ${read.message}`)
    else [former, current] = [former ?? current, read]
    return false
  }
  const lists = (): List[] => {
    if (!isClosed && state !== 'reading' && ticks() - looked >= LOOK) look()
    return former === null ? [current] : [current, former]
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
function* readList(path: string): Reading {
  const text = readText(path)
  const entries: Entries = { names: new Set(), suffixes: new Set(), ranges: [] }
  let number = 0
  for (const [line] of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) {
    if (number > 0 && number % LINES === 0) yield
    number++
    const entry = line.replace(/#.*$/s, '').trim()
    if (entry !== '' && !add(entries, entry)) {
      throw new OptOutFault(`${path}, line ${number}: ${JSON.stringify(entry.slice(0, 100))} is ${NEITHER}`)
    }
  }
  const { length } = entries.ranges
  if (length > RANGES) throw new OptOutFault(`${path} holds ${length} ranges, at most ${RANGES} may be`)
  return listOf(entries)
}

/** The first lines at once, some more at each turn of the event loop. */
function readOn(reading: Reading, take: Take): void {
  if (take(stepOf(reading))) setImmediate(readOn, reading, take)
}

function stepOf(reading: Reading): Parameters<Take>[0] {
  try {
    const { done, value } = reading.next()
    return done ? value : null
  } catch (error) {
    return error as Error
  }
}

function allOf(reading: Reading): List {
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
  }
}

/** False for a text that is none. */
function add({ names, suffixes, ranges }: Entries, text: string): boolean {
  const range = parseRange(text)
  const suffix = suffixOf(text)
  const name = parseName(text)
  if (range !== null) ranges.push(range)
  else if (suffix !== null) suffixes.add(suffix)
  else if (name !== null) names.add(name)
  else return false
  return true
}

const NEITHER = 'no name (example.com), suffix (.example.com) or range (192.0.2.0/24, 2001:db8::/32)'

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > MOST_BYTES) throw new Error(`it has over ${MOST_BYTES / 2 ** 20} MiB`)
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptOutFault(`${path} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}`)
  }
}

/** The name under which all is meant; one label is enough. Null for a text that means no more than itself. */
function suffixOf(text: string): string | null {
  const [, rest] = /^\*?(\..+)$/.exec(text) ?? []
  return rest === undefined ? null : (parseName(`x${rest}`)?.slice(2) ?? null)
}

function listOf({ names, suffixes, ranges }: Entries): List {
  return {
    hasName(name) {
      if (names.has(name) || (name.startsWith(WWW) && names.has(name.slice(WWW.length)))) return true
      if (suffixes.size === 0) return false
      for (let at = 0; at >= 0; at = name.indexOf('.', at) + 1 || -1) if (suffixes.has(name.slice(at))) return true
      return false
    },
    hasAddress: rangesHold(ranges),
  }
}

/** What tells one state of the file from another; '' where there is none to be seen. */
function printOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return ''
  }
}
