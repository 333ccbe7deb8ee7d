/** Sorts more texts than fit in memory: writes sorted runs to an unnamed temporary file and merges them. */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCause, StorageError } from './input-error.ts'

/** The position of a run in the file: its first byte, and the byte after its last. */
type SortedRun = { from: number; to: number }

const MAX_MEMORY_BYTES = 67_108_864
const TEXT_OVERHEAD_BYTES = 64 // memory of a text beyond its characters
const TEXTS_PER_WRITE = 10_000
/** All runs are read at once, each through its own buffer. */
const READ_BUFFER_BYTES = 33_554_432
const MIN_RUN_BUFFER_BYTES = 4_096
const MAX_RUN_BUFFER_BYTES = 262_144
const NEWLINE_BYTE = 10

export type ExternalSorter = ReturnType<typeof createExternalSorter>

/** Sorts texts by their UTF-16 units. No text may contain a line end. Throws StorageError if the disk is full. */
export function createExternalSorter(memory = MAX_MEMORY_BYTES) {
  const runs: SortedRun[] = []
  let buffered: string[] = []
  let bytes = 0
  let fd: number | null = null
  const spill = (): void => {
    fd ??= openUnlinkedFile()
    const from = runs.at(-1)?.to ?? 0
    runs.push({ from, to: writeRun(fd, from, buffered.sort()) })
    buffered = []
    bytes = 0
  }
  return {
    add(text: string): void {
      buffered.push(text)
      bytes += text.length + TEXT_OVERHEAD_BYTES
      if (bytes >= memory) spill()
    },
    /** Yields all added texts in order. The file is removed at the end. */
    *sorted(): Generator<string> {
      const size = Math.min(
        Math.max(Math.floor(READ_BUFFER_BYTES / (runs.length || 1)), MIN_RUN_BUFFER_BYTES),
        MAX_RUN_BUFFER_BYTES,
      )
      const inFile = fd
      const sequences = inFile === null ? [] : runs.map((run) => linesOfRun(inFile, run, size))
      yield* mergeSorted([...sequences, buffered.sort().values()])
      if (inFile !== null) closeSync(inFile)
      fd = null
    },
  }
}

/** Opens a file, readable by its owner only, that disappears with this process however it ends. */
function openUnlinkedFile(): number {
  return withTemporaryFolder(() => {
    const folder = mkdtempSync(join(tmpdir(), 'domaindex-runs-'))
    try {
      return openSync(join(folder, 'runs'), 'wx+', 0o600)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

/** Writes the texts as lines. Returns the position of their end. */
function writeRun(fd: number, from: number, texts: readonly string[]): number {
  let at = from
  for (let index = 0; index < texts.length; index += TEXTS_PER_WRITE) {
    const bytes = Buffer.from(`${texts.slice(index, index + TEXTS_PER_WRITE).join('\n')}\n`)
    for (let done = 0; done < bytes.length; )
      done += withTemporaryFolder(() => writeSync(fd, bytes, done, bytes.length - done, at + done))
    at += bytes.length
  }
  return at
}

function* linesOfRun(fd: number, { from, to }: SortedRun, size: number): Generator<string> {
  const buffer = Buffer.allocUnsafe(size)
  let rest: Buffer = Buffer.alloc(0)
  for (let at = from; at < to; ) {
    const length = withTemporaryFolder(() => readSync(fd, buffer, 0, Math.min(size, to - at), at))
    if (length === 0) throw new StorageError('a temporary file was cut off')
    at += length
    const bytes = Buffer.concat([rest, buffer.subarray(0, length)])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE_BYTE); end >= 0; end = bytes.indexOf(NEWLINE_BYTE, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
}

/** Merges sorted sequences in pairs. */
function mergeSorted(sequences: IterableIterator<string>[]): Iterable<string> {
  if (sequences.length <= 1) return sequences[0] ?? []
  const middle = sequences.length >> 1
  return mergeTwo(mergeSorted(sequences.slice(0, middle)), mergeSorted(sequences.slice(middle)))
}

function* mergeTwo(first: Iterable<string>, second: Iterable<string>): Generator<string> {
  const [one, other] = [first[Symbol.iterator](), second[Symbol.iterator]()]
  let [a, b] = [one.next(), other.next()]
  while (!a.done && !b.done) {
    if (a.value <= b.value) {
      yield a.value
      a = one.next()
    } else {
      yield b.value
      b = other.next()
    }
  }
  for (; !a.done; a = one.next()) yield a.value
  for (; !b.done; b = other.next()) yield b.value
}

function withTemporaryFolder<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new StorageError(
      `the temporary folder ${tmpdir()} cannot be used: ${errorCause(error)}; TMPDIR names another`,
    )
  }
}
