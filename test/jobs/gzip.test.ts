/** Gzip on all cores: one standard member with exactly the source's content, bounded, without leftover threads. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { constants, crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { type GzipOptions, gzipParallel } from '../../src/jobs/gzip/gzip.ts'
import { inForm } from '../long.ts'
import { bytes, pieces } from './file-store/conformance.ts'

const hasGzip = spawnSync('gzip', ['--version']).status === 0

async function zipped(source: AsyncIterable<Uint8Array>, options: GzipOptions): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of gzipParallel(source, options)) all.push(piece)
  return Buffer.concat(all)
}

/** Checks that the file is one member with this content, the correct checksum and length, and nothing after it. */
function assertMember(file: Buffer, content: Uint8Array): void {
  assert.deepEqual([...file.subarray(0, 4)], [0x1f, 0x8b, 8, 0])
  const { buffer, engine } = inflateRawSync(file.subarray(10), {
    info: true,
    finishFlush: constants.Z_FINISH,
  }) as never as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  assert.ok(buffer.equals(content))
  assert.equal(engine.bytesWritten, file.length - 18)
  assert.equal(file.readUInt32LE(file.length - 8), crc32(content))
  assert.equal(file.readUInt32LE(file.length - 4), content.length)
}

const lines = fc
  .array(fc.constantFrom('example', 'shop', 'a', 'xn--bcher-kva', '0', '-'), { maxLength: 400 })
  .map((words) => {
    return Buffer.from(words.map((word, index) => `${word}${index % 7}.com\n`).join(''))
  })
const incompressible = fc.tuple(fc.nat(5_000), fc.nat(1_000)).map(([length, seed]) => Buffer.from(bytes(length, seed)))
const repeated = fc.tuple(fc.nat(90_000), fc.nat(255)).map(([length, byte]) => Buffer.alloc(length, byte))

test('gunzip restores identical bytes for every source, chunk size, block size, level and number of threads', async () => {
  const content = fc.array(fc.oneof(lines, incompressible, repeated), { maxLength: 4 })
  const options = fc.record({
    level: fc.integer({ min: 1, max: 9 }),
    threads: fc.integer({ min: 1, max: 3 }),
    block: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 30_000, max: 70_000 })),
  })
  await fc.assert(
    fc.asyncProperty(content, options, async (parts, options) => {
      const whole = Buffer.concat(parts)
      const block = Math.max(options.block, Math.ceil(whole.length / 400))
      const file = await zipped(pieces(...parts), { ...options, block })
      assert.ok(gunzipSync(file).equals(whole))
      assertMember(file, whole)
    }),
    { numRuns: inForm(10, 25) },
  )
})

for (const length of [0, 1, 2 ** 19 - 1, 2 ** 19, 2 ** 19 + 1, 2 ** 20]) {
  test(`node:zlib and the system's gzip read a source of ${length} bytes, about the size of a block`, async (t) => {
    const content = Buffer.from(bytes(length))
    const file = await zipped(pieces(content), { level: 4, threads: 2 })
    assertMember(file, content)
    if (!hasGzip) return t.diagnostic('this system has no gzip')
    const { stdout, status } = spawnSync('gzip', ['-dc'], { input: file, maxBuffer: 2 ** 26 })
    assert.equal(status, 0)
    assert.ok(stdout.equals(content))
  })
}

test('blocks are compressed with the preceding content as dictionary', async () => {
  const block = bytes(10_000)
  const file = await zipped(pieces(block, block, block, block), { level: 6, threads: 2, block: 10_000 })
  assert.ok(file.length < 11_000, `${file.length} bytes`)
})

test('the same content gives the same bytes, for all chunks and numbers of threads', async () => {
  const content = bytes(200_000)
  const one = await zipped(pieces(content), { level: 5, threads: 1, block: 50_000 })
  const cut = pieces(content.subarray(0, 3), content.subarray(3, 99_000), content.subarray(99_000))
  assert.ok((await zipped(cut, { level: 5, threads: 3, block: 50_000 })).equals(one))
})

test('a source is read at most a few blocks per thread ahead of the output', async () => {
  let read = 0
  async function* endless() {
    for (;;) {
      read++
      yield bytes(10_000, read)
    }
  }
  let taken = 0
  for await (const _ of gzipParallel(endless(), { level: 1, threads: 2, block: 10_000 })) {
    assert.ok(read <= taken + 6, `${read} blocks read, ${taken} written`)
    if (++taken === 50) break
  }
})

/** The compression threads of this process. */
const threads = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker').length

test('if the source fails or the reader stops, no thread stays', async () => {
  const before = threads()
  async function* broken() {
    yield bytes(100_000)
    yield bytes(100_000)
    throw new Error('the source broke')
  }
  await assert.rejects(zipped(broken(), { level: 4, threads: 3, block: 10_000 }), /the source broke/)
  assert.equal(threads(), before)
  let chunks = 0
  for await (const _ of gzipParallel(pieces(bytes(300_000)), { level: 4, threads: 3, block: 10_000 })) {
    if (++chunks === 1) continue // the header comes before the first block
    assert.equal(threads(), before + 3)
    break
  }
  assert.equal(threads(), before)
})

test('a source of one block needs no thread, and one of two blocks has no more threads than blocks', async () => {
  const before = threads()
  for await (const _ of gzipParallel(pieces(bytes(9_999)), { level: 4, threads: 3, block: 10_000 }))
    assert.equal(threads(), before)
  for await (const _ of gzipParallel(pieces(bytes(19_999)), { level: 4, threads: 3, block: 10_000 }))
    assert.ok(threads() <= before + 2)
})
