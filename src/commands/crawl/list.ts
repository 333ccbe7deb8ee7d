/** The names that are to be crawled, line by line: of arguments, of a file, or of standard input, whatever their number. */

import { createReadStream, fstatSync, openSync, type Stats } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { plainCause } from '../../input/fault.ts'
import { inflate } from '../../input/inflate.ts'
import { type Line, lineCutter } from '../../input/lines.ts'
import { listedText } from '../../input/list-line.ts'
import { type Name, parseName, whyNotName } from '../../words/name.ts'
import { CommandFault } from '../fault.ts'

/** `line` counts from 1. `digest` is of the list up to this line; `share` of it is gone through then (null: not known). */
type Place = { line: number; digest: number; share: number | null }
/** A line that holds something: a name, or the reason why it is none. */
export type Entry = Place & ({ name: Name } | { name: null; reason: string })
export type Named = Extract<Entry, { name: Name }>

/** Where names come from. `path` is null for arguments, `-` for standard input; `unit` is what is counted. */
export type List = { path: string | null; unit: 'line' | 'name'; stats: Stats | null; entries: AsyncIterable<Entry> }

const CHUNK_BYTES = 16_384

export function listOfArguments(texts: readonly string[]): List {
  return { path: null, unit: 'name', stats: null, entries: given(texts) }
}

/**
 * Opens a file, plain or compressed by gzip or zstd; `-` is standard input. Throws CommandFault for what cannot be read, its
 * entries throw AbortError when the signal comes.
 */
export function openList(path: string, signal: AbortSignal): List {
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r')
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw new Error('it is a folder')
    // whoever imports node:process sets the pipe of standard input so that reads from its number fail while it is empty
    const bytes = fd === 0 ? process.stdin : createReadStream('', { fd, highWaterMark: CHUNK_BYTES })
    return { path, unit: 'line', stats, entries: read(addAbortSignal(signal, bytes), path, stats.size) }
  } catch (error) {
    throw new CommandFault(`${path} cannot be read: ${plainCause(error)}`)
  }
}

async function* given(texts: readonly string[]): AsyncGenerator<Entry> {
  for (const [index, text] of texts.entries()) {
    const line = index + 1
    yield { line, digest: 0, share: line / texts.length, ...nameIn(text) }
  }
}

/** `size` in bytes, 0 where it is not known, as of a pipe. Throws CommandFault for data that is cut off or damaged. */
async function* read(bytes: Readable, path: string, size: number): AsyncGenerator<Entry> {
  let came = 0
  let taken = 0
  const counted = bytes.map((chunk: Buffer) => {
    came += chunk.length
    return chunk
  })
  const share = (): number | null => (size > 0 ? Math.min(taken, came, size) / size : null)
  const place: Place = { line: 0, digest: 0, share: null }
  const take = (line: Line): Entry | null => {
    place.line++
    place.digest = crc32(line.bytes, crc32('\n', place.digest))
    taken += line.length + 1
    const text = textOf(line, place.line)
    return text === '' ? null : { ...place, share: share(), ...nameIn(text) }
  }
  const cutter = lineCutter()
  try {
    for await (const chunk of inflate(counted, path)) {
      for (const line of cutter.take(chunk)) {
        const entry = take(line)
        if (entry) yield entry
      }
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new CommandFault(`${path}: ${(error as Error).message}; read up to line ${place.line}`)
  }
  const rest = cutter.rest()
  const last = rest && take(rest)
  if (last) yield last
}

function textOf({ bytes }: Line, number: number): string {
  const text = bytes.toString('utf8')
  return listedText(number === 1 ? text.replace(/^\ufeff/, '') : text)
}

function nameIn(text: string): { name: Name } | { name: null; reason: string } {
  const name = parseName(text)
  return name === null ? { name, reason: whyNotName(text) } : { name }
}
