/** The names of a list crawl, read line by line from arguments, a file or standard input of any size. */

import { createReadStream, fstatSync, openSync, type Stats } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CommandFault } from '../../config/command-fault.ts'
import { decompress } from '../../import/stream/decompress.ts'
import { errorCause } from '../../import/stream/input-error.ts'
import { createLineSplitter, type InputLine } from '../../import/stream/line-splitter.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import { type DomainName, nameProblem, parseName } from '../../values/domain-name.ts'

/**
 * `line` counts from 1. `digest`: of the list up to this line. `share`: the part of the list up to here, null if
 * unknown.
 */
type ListPosition = { line: number; digest: number; share: number | null }
/** A line with content: a name, or the reason why it is invalid. */
export type ListEntry = ListPosition & ({ name: DomainName } | { name: null; reason: string })
export type NameEntry = Extract<ListEntry, { name: DomainName }>

/** The source of names. `path` is null for arguments and `-` for standard input. `itemName` is the counted unit. */
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
 * Opens a file, plain or compressed by gzip or zstd. `-` is standard input. Throws CommandFault if it cannot be read.
 * Its entries throw AbortError after the signal.
 */
export function openNameList(path: string, signal: AbortSignal): NameList {
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r')
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw new Error('it is a folder')
    // importing node:process makes a standard input pipe nonblocking, so that reads of its descriptor fail while it is
    // empty
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

/** `size` in bytes, 0 if unknown, as for a pipe. Throws CommandFault for truncated or damaged data. */
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
  const splitter = createLineSplitter()
  try {
    for await (const chunk of decompress(counted, path)) {
      for (const line of splitter.split(chunk)) {
        const entry = parseLine(line)
        if (entry) yield entry
      }
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new CommandFault(`${path}: ${(error as Error).message}; read up to line ${position.line}`)
  }
  const rest = splitter.rest()
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
