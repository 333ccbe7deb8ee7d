/** Sorts more texts than memory holds: sorted runs of them go to a temporary file without a name, and are merged from there. */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlaceFault, plainCause } from './fault.ts'

/** Where a run lies in the file: its first byte, and the one behind its last. */
type Run = { from: number; to: number }

const MEMORY_BYTES = 67_108_864
const TEXT_BYTES = 64 // what a text takes beside its characters
const WRITE_TEXTS = 10_000
/** All runs are read at once, each through a buffer of its own. */
const READ_BYTES = 33_554_432
const LEAST_READ_BYTES = 4_096
const MOST_READ_BYTES = 262_144
const NEWLINE = 10

export type Sorter = ReturnType<typeof sorter>

/** Texts in the order of their UTF-16 units, none with a line end in it. Throws PlaceFault where there is no room for them. */
export function sorter(memory = MEMORY_BYTES) {
  const runs: Run[] = []
  let held: string[] = []
  let bytes = 0
  let fd: number | null = null
  const spill = (): void => {
    fd ??= openNameless()
    const from = runs.at(-1)?.to ?? 0
    runs.push({ from, to: writeRun(fd, from, held.sort()) })
    held = []
    bytes = 0
  }
  return {
    add(text: string): void {
      held.push(text)
      bytes += text.length + TEXT_BYTES
      if (bytes >= memory) spill()
    },
    /** Everything that was added, in order; the file goes with the last of it. */
    *sorted(): Generator<string> {
      const size = Math.min(Math.max(Math.floor(READ_BYTES / (runs.length || 1)), LEAST_READ_BYTES), MOST_READ_BYTES)
      const inFile = fd
      const parts = inFile === null ? [] : runs.map((run) => linesOf(inFile, run, size))
      yield* merged([...parts, held.sort().values()])
      if (inFile !== null) closeSync(inFile)
      fd = null
    },
  }
}

/** A file for its owner alone that is gone with this process, however that ends. */
function openNameless(): number {
  return inTemporary(() => {
    const folder = mkdtempSync(join(tmpdir(), 'domaindex-runs-'))
    try {
      return openSync(join(folder, 'runs'), 'wx+', 0o600)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

/** Writes the texts as lines; where they end. */
function writeRun(fd: number, from: number, texts: readonly string[]): number {
  let at = from
  for (let index = 0; index < texts.length; index += WRITE_TEXTS) {
    const bytes = Buffer.from(`${texts.slice(index, index + WRITE_TEXTS).join('\n')}\n`)
    for (let done = 0; done < bytes.length; )
      done += inTemporary(() => writeSync(fd, bytes, done, bytes.length - done, at + done))
    at += bytes.length
  }
  return at
}

function* linesOf(fd: number, { from, to }: Run, size: number): Generator<string> {
  const buffer = Buffer.allocUnsafe(size)
  let rest: Buffer = Buffer.alloc(0)
  for (let at = from; at < to; ) {
    const length = inTemporary(() => readSync(fd, buffer, 0, Math.min(size, to - at), at))
    if (length === 0) throw new PlaceFault('a temporary file was cut off')
    at += length
    const bytes = Buffer.concat([rest, buffer.subarray(0, length)])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
}

/** Merges sorted sequences two by two. */
function merged(parts: IterableIterator<string>[]): Iterable<string> {
  if (parts.length <= 1) return parts[0] ?? []
  const middle = parts.length >> 1
  return mergedTwo(merged(parts.slice(0, middle)), merged(parts.slice(middle)))
}

function* mergedTwo(first: Iterable<string>, second: Iterable<string>): Generator<string> {
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

function inTemporary<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new PlaceFault(`the temporary folder ${tmpdir()} cannot be used: ${plainCause(error)}; TMPDIR names another`)
  }
}
