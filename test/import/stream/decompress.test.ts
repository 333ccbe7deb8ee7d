/** Tests the bytes of an import: decompressed by content, and split into lines of limited length. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, createZstdCompress, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { progressLine } from '../../../src/cli/program/output.ts'
import { decompress } from '../../../src/import/stream/decompress.ts'
import { createLineSplitter, lineText, MAX_LINE_BYTES } from '../../../src/import/stream/line-splitter.ts'

const PLAIN = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `line ${index} ${Math.sin(index)}\n`).join(''))

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

/** Returns the output, and the complaint at its end. */
async function inflated(bytes: Buffer, size = 10_000, path = '-'): Promise<[Buffer, string]> {
  const parts: Buffer[] = []
  try {
    for await (const part of decompress(pieces(bytes, size), path)) parts.push(Buffer.from(part))
    return [Buffer.concat(parts), '']
  } catch (error) {
    return [Buffer.concat(parts), (error as Error).message]
  }
}

/** The length of a stream is unknown, so its frame requests the whole window. */
async function zstdWithWindow(log: number): Promise<Buffer> {
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: log } })
  compressor.write(PLAIN)
  compressor.flush()
  compressor.end()
  return Buffer.concat(await compressor.toArray())
}

const half = Math.floor(PLAIN.length / 2)
const twice = (compress: (bytes: Buffer) => Buffer) =>
  Buffer.concat([compress(PLAIN.subarray(0, half)), compress(PLAIN.subarray(half))])

for (const [what, bytes] of [
  ['plain text', PLAIN],
  ['gzip', gzipSync(PLAIN)],
  ['gzip of many members', twice(gzipSync)],
  ['gzip padded with zeros', Buffer.concat([gzipSync(PLAIN), Buffer.alloc(700)])],
  ['zstd', zstdCompressSync(PLAIN)],
  ['zstd of many frames', twice(zstdCompressSync)],
  ['zstd with a window of 128 MiB', await zstdWithWindow(27)],
] as const) {
  test(`${what} is decompressed completely, in pieces of any size`, async () => {
    for (const size of [997, 65_536, bytes.length]) assert.deepEqual(await inflated(bytes, size), [PLAIN, ''])
  })
}

test('truncated gzip gives everything before the cut, wherever the cut is', async () => {
  const bytes = twice(gzipSync)
  for (const end of [5, 5000, gzipSync(PLAIN.subarray(0, half)).length + 5, bytes.length - 1]) {
    const [out, words] = await inflated(bytes.subarray(0, end))
    assert.equal(words, 'the gzip data is cut off')
    assert.deepEqual(out, PLAIN.subarray(0, out.length))
    if (end === bytes.length - 1) assert.equal(out.length, PLAIN.length)
  }
})

test('damaged gzip and zstd, and other data after them, are reported', async () => {
  const damaged = Buffer.from(gzipSync(PLAIN))
  damaged[20_000]! ^= 0xff
  assert.match((await inflated(damaged))[1], /^the gzip data is damaged \(/)
  for (const compress of [gzipSync, zstdCompressSync]) {
    assert.match((await inflated(Buffer.concat([compress(PLAIN), Buffer.from('{"a":1}\n')])))[1], /is damaged \(/)
  }
})

test('zstd with a window over 128 MiB is reported', async () => {
  assert.match((await inflated(await zstdWithWindow(28)))[1], /Frame requires too much memory/)
})

test('the name decides about a file that is too short to detect', async () => {
  assert.deepEqual(await inflated(Buffer.alloc(0), 1, 'a.jsonl'), [Buffer.alloc(0), ''])
  assert.equal((await inflated(Buffer.alloc(0), 1, 'a.jsonl.gz'))[1], 'the gzip data is cut off')
})

test('lines are split at newlines, whatever the pieces are', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\n')))
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 50 }), (given, size) => {
      const cutter = createLineSplitter()
      const bytes = Buffer.from(given.map((text) => `${text}\n`).join(''))
      const lines: (string | null)[] = []
      for (let from = 0; from < bytes.length; from += size) {
        const piece = Buffer.from(bytes.subarray(from, from + size))
        for (const line of cutter.split(piece)) lines.push(lineText(line, 2))
        piece.fill(0) // the buffer is reused
      }
      assert.deepEqual([lines, cutter.rest()], [given, null])
    }),
  )
})

test('a line at the limit is complete, and of a longer one 4 KiB and its length are kept', () => {
  for (const [length, kept] of [
    [MAX_LINE_BYTES, MAX_LINE_BYTES],
    [MAX_LINE_BYTES + 1, 4096],
    [MAX_LINE_BYTES * 5, 4096],
  ] as const) {
    for (const size of [4096, 300_000, length + 2]) {
      const cutter = createLineSplitter()
      const bytes = Buffer.alloc(length + 2, 'a')
      bytes[length] = 10
      const lines = []
      for (let from = 0; from < bytes.length; from += size)
        lines.push(...cutter.split(bytes.subarray(from, from + size)))
      assert.deepEqual([lines.length, lines[0]?.length, lines[0]?.bytes.length], [1, length, kept])
      assert.equal(cutter.rest()?.length, 1)
    }
  }
})

test('the progress line contains lines, lines per second, share and remaining time', () => {
  assert.equal(progressLine('lines', 1_234_567, 0.25, 30), '1,234,567 lines  41,152/s  25 %  1:30 left')
  assert.equal(progressLine('lines', 5000, null, 2), '5,000 lines  2,500/s')
  assert.equal(progressLine('copying', null, 0.5, 7200), 'copying  50 %  2:00:00 left')
})
