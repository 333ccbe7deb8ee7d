/** Sorts more texts than fit in memory: writes sorted runs to an unnamed temporary file and merges them. */

import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnnamedFile } from './unnamed-file.ts'

/** The position of a run in the file: its first byte, and the byte after its last. */
type SortedRun = { from: number; to: number }

const MAX_MEMORY_BYTES = 67_108_864
const TEXT_OVERHEAD_BYTES = 64 // memory of a text beyond its characters
const TEXTS_PER_WRITE = 10_000
/** All runs are read at once, each through its own buffer. */
const READ_BUFFER_BYTES = 16_777_216
const MIN_RUN_BUFFER_BYTES = 4_096
const MAX_RUN_BUFFER_BYTES = 65_536
const NEWLINE_BYTE = 10

export type ExternalSorter = ReturnType<typeof createExternalSorter>

/**
 * Sorts texts by their UTF-16 units. No text may contain a line end. `memory`: the bytes of texts that are written as a
 * run. `folder`: where the file is; null for the temporary folder. Throws StorageError if the disk is full.
 */
export function createExternalSorter(memory = MAX_MEMORY_BYTES, folder: string | null = null) {
  const runs: SortedRun[] = []
  let buffered: string[] = []
  let bytes = 0
  let file: UnnamedFile | null = null
  const spill = (): void => {
    file ??= openRunFile(folder)
    runs.push(writeRun(file, buffered.sort()))
    buffered = []
    bytes = 0
  }
  const close = (): void => {
    file?.close()
    file = null
  }
  return {
    add(text: string): void {
      buffered.push(text)
      bytes += text.length + TEXT_OVERHEAD_BYTES
      if (bytes >= memory) spill()
    },
    /** Adds texts that are sorted already, each with its line end. */
    addSorted(lines: Uint8Array): void {
      file ??= openRunFile(folder)
      const from = file.append(lines)
      runs.push({ from, to: from + lines.length })
    },
    /** Yields all added texts in order, once. The file is removed at the end. */
    *sorted(): Generator<string> {
      const size = runBufferBytes(runs.length)
      try {
        yield* mergeSorted([...runs.map((run) => linesOfRun(file!, run, size)), buffered.sort().values()])
      } finally {
        close()
      }
    },
    /** Removes the file before the end. */
    close,
  }
}

function runBufferBytes(runs: number): number {
  return Math.min(Math.max(Math.floor(READ_BUFFER_BYTES / (runs || 1)), MIN_RUN_BUFFER_BYTES), MAX_RUN_BUFFER_BYTES)
}

function openRunFile(folder: string | null): UnnamedFile {
  const name = `domaindex-runs-${randomUUID()}`
  if (folder !== null)
    return new UnnamedFile(join(folder, name), (cause) => `the folder ${folder} cannot be used: ${cause}`)
  const temporary = tmpdir()
  return new UnnamedFile(
    join(temporary, name),
    (cause) => `the temporary folder ${temporary} cannot be used: ${cause}; TMPDIR names another`,
  )
}

/** Writes the texts as lines. */
function writeRun(file: UnnamedFile, texts: readonly string[]): SortedRun {
  const run = { from: file.bytes, to: file.bytes }
  for (let index = 0; index < texts.length; index += TEXTS_PER_WRITE) {
    file.append(Buffer.from(`${texts.slice(index, index + TEXTS_PER_WRITE).join('\n')}\n`))
    run.to = file.bytes
  }
  return run
}

/** Yields the lines of a run. It reads through one buffer, which grows if a line is longer. */
function* linesOfRun(file: UnnamedFile, { from, to }: SortedRun, size: number): Generator<string> {
  let buffer = Buffer.allocUnsafe(size)
  let rest = 0
  for (let at = from; at < to; ) {
    if (rest === buffer.length) buffer = Buffer.concat([buffer], 2 * rest)
    const end = rest + Math.min(buffer.length - rest, to - at)
    file.read(buffer.subarray(rest, end), at)
    at += end - rest
    let start = 0
    for (;;) {
      const newline = buffer.indexOf(NEWLINE_BYTE, start)
      if (newline < 0 || newline >= end) break
      yield buffer.toString('utf8', start, newline)
      start = newline + 1
    }
    buffer.copyWithin(0, start, end)
    rest = end - start
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
