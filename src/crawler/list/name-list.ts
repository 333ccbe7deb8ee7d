/** The names that are to be crawled, line by line: of arguments, of a file, or of standard input, whatever their number. */

import { createReadStream, fstatSync, openSync, type Stats } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CommandFault } from '../../config/command-fault.ts'
import { decompress } from '../../import/stream/decompress.ts'
import { errorCause } from '../../import/stream/input-error.ts'
import { createLineSplitter, type InputLine } from '../../import/stream/line-splitter.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import { type DomainName, nameProblem, parseName } from '../../values/domain-name.ts'

/** `line` counts from 1. `digest` is of the list up to this line; `share` of it is gone through then (null: not known). */
type ListPosition = { line: number; digest: number; share: number | null }
/** A line that holds something: a name, or the reason why it is none. */
export type ListEntry = ListPosition & ({ name: DomainName } | { name: null; reason: string })
export type NameEntry = Extract<ListEntry, { name: DomainName }>

/** Where names come from. `path` is null for arguments, `-` for standard input; `unit` is what is counted. */
export type NameList = {
  path: string | null
  itemName: 'line' | 'name'
  stats: Stats | null
  entries: AsyncIterable<ListEntry>
}

const READ_CHUNK_BYTES = 16_384

export function nameListFromArguments(texts: readonly string[]): NameList {
  return { path: null, itemName: 'name', stats: null, entries: entriesFromArguments(texts) }
}

/**
 * Opens a file, plain or compressed by gzip or zstd; `-` is standard input. Throws CommandFault for what cannot be read, its
 * entries throw AbortError when the signal comes.
 */
export function openNameList(path: string, signal: AbortSignal): NameList {
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r')
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw new Error('it is a folder')
    // whoever imports node:process sets the pipe of standard input so that reads from its number fail while it is empty
    const bytes = fd === 0 ? process.stdin : createReadStream('', { fd, highWaterMark: READ_CHUNK_BYTES })
    return {
      path,
      itemName: 'line',
      stats,
      entries: entriesFromStream(addAbortSignal(signal, bytes), path, stats.size),
    }
  } catch (error) {
    throw new CommandFault(`${path} cannot be read: ${errorCause(error)}`)
  }
}

async function* entriesFromArguments(texts: readonly string[]): AsyncGenerator<ListEntry> {
  for (const [index, text] of texts.entries()) {
    const line = index + 1
    yield { line, digest: 0, share: line / texts.length, ...parseEntryName(text) }
  }
}

/** `size` in bytes, 0 where it is not known, as of a pipe. Throws CommandFault for data that is cut off or damaged. */
async function* entriesFromStream(bytes: Readable, path: string, size: number): AsyncGenerator<ListEntry> {
  let bytesRead = 0
  let bytesConsumed = 0
  const counted = bytes.map((chunk: Buffer) => {
    bytesRead += chunk.length
    return chunk
  })
  const share = (): number | null => (size > 0 ? Math.min(bytesConsumed, bytesRead, size) / size : null)
  const position: ListPosition = { line: 0, digest: 0, share: null }
  const parseLine = (line: InputLine): ListEntry | null => {
    position.line++
    position.digest = crc32(line.bytes, crc32('\n', position.digest))
    bytesConsumed += line.length + 1
    const text = entryText(line, position.line)
    return text === '' ? null : { ...position, share: share(), ...parseEntryName(text) }
  }
  const cutter = createLineSplitter()
  try {
    for await (const chunk of decompress(counted, path)) {
      for (const line of cutter.split(chunk)) {
        const entry = parseLine(line)
        if (entry) yield entry
      }
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new CommandFault(`${path}: ${(error as Error).message}; read up to line ${position.line}`)
  }
  const rest = cutter.rest()
  const last = rest && parseLine(rest)
  if (last) yield last
}

function entryText({ bytes }: InputLine, number: number): string {
  const text = bytes.toString('utf8')
  return parseListLine(number === 1 ? text.replace(/^\ufeff/, '') : text)
}

function parseEntryName(text: string): { name: DomainName } | { name: null; reason: string } {
  const name = parseName(text)
  return name === null ? { name, reason: nameProblem(text) } : { name }
}
