/** Bit sequences are read as they were written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BitReader, BitWriter, bitLength, riceParameterFor } from '../../../src/similar/text/bits.ts'

type Code = { code: 'bits' | 'gamma' | 'rice'; number: number; size: number }

/** A number of at most so many bits. Small and large ones are equally likely. */
const upTo = (most: number) =>
  fc.integer({ min: 0, max: most }).chain((bits) => fc.maxSafeNat().map((number) => number % 2 ** bits))
const plain = fc
  .tuple(upTo(48), fc.integer({ min: 0, max: 5 }))
  .map(([number, more]): Code => ({ code: 'bits', number, size: bitLength(number) + more }))
const gamma = upTo(48).map((number): Code => ({ code: 'gamma', number: number + 1, size: 0 }))
/** Parameters as they are chosen: a number without its lowest bits is small. */
const rice = fc
  .tuple(upTo(48), upTo(9))
  .map(([number, most]): Code => ({ code: 'rice', number, size: Math.max(0, bitLength(number) - bitLength(most)) }))
const codes = fc.array(fc.oneof(plain, gamma, rice), { maxLength: 200 })

const WRITERS: Readonly<Record<Code['code'], (writer: BitWriter, number: number, size: number) => void>> = {
  bits: (writer, number, size) => writer.writeBits(number, size),
  gamma: (writer, number) => writer.writeGamma(number),
  rice: (writer, number, size) => writer.writeRice(number, size),
}
const READERS: Readonly<Record<Code['code'], (reader: BitReader, size: number) => number>> = {
  bits: (reader, size) => reader.readBits(size),
  gamma: (reader) => reader.readGamma(),
  rice: (reader, size) => reader.readRice(size),
}

function write(writer: BitWriter, written: readonly Code[]): Uint8Array {
  for (const { code, number, size } of written) WRITERS[code](writer, number, size)
  return writer.take()
}

function read(reader: BitReader, { code, size }: Code): number {
  return READERS[code](reader, size)
}

test('codes of any numbers, in any order, are read as they were written', () => {
  const [writer, reader] = [new BitWriter(), new BitReader()]
  fc.assert(
    fc.property(codes, (written) => {
      reader.open(write(writer, written))
      assert.deepEqual(
        written.map((code) => read(reader, code)),
        written.map(({ number }) => number),
      )
      assert.ok(!reader.hasMore || reader.bitPosition % 8 !== 0, 'no byte is left over')
    }),
    { numRuns: 500 },
  )
})

test('a writer that was emptied starts again, whatever it wrote before', () => {
  const used = new BitWriter()
  fc.assert(
    fc.property(codes, (written) => {
      assert.deepEqual(write(used, written), write(new BitWriter(), written))
    }),
    { numRuns: 200 },
  )
})

test('a reader can move to any position and read on from there', () => {
  fc.assert(
    fc.property(codes, fc.nat(), (written, at) => {
      const reader = new BitReader()
      reader.open(write(new BitWriter(), written))
      const places = written.map((code) => {
        const { bitPosition: place } = reader
        read(reader, code)
        return place
      })
      if (written.length === 0) return
      const chosen = at % written.length
      reader.bitPosition = places[chosen]!
      assert.equal(read(reader, written[chosen]!), written[chosen]!.number)
    }),
    { numRuns: 200 },
  )
})

test('ascending numbers are read by their differences, alone or with a count each', () => {
  const ascending = fc.uniqueArray(fc.nat(2 ** 26), { maxLength: 300 }).map((all) => all.sort((a, b) => a - b))
  const [writer, reader] = [new BitWriter(), new BitReader()]
  fc.assert(
    fc.property(ascending, fc.integer({ min: 0, max: 26 }), (numbers, parameter) => {
      const spread = Math.max(parameter, riceParameterFor(2 ** 26, Math.max(1, numbers.length)) - 6)
      const counts = numbers.map((number) => 1 + (number % 70_000))
      for (const [at, number] of numbers.entries()) writer.writeRice(number - (numbers[at - 1] ?? -1) - 1, spread)
      reader.open(writer.take())
      const alone = new Float64Array(numbers.length + 2)
      reader.readAscending(alone, 1, numbers.length, -1, spread)
      assert.deepEqual([...alone], [0, ...numbers, 0])
      for (const [at, number] of numbers.entries()) {
        writer.writeRice(number - (numbers[at - 1] ?? -1) - 1, spread)
        writer.writeGamma(counts[at]!)
      }
      reader.open(writer.take())
      const [words, times] = [new Uint32Array(numbers.length), new Uint32Array(numbers.length)]
      reader.readCounted(words, times, numbers.length, spread)
      assert.deepEqual([[...words], [...times]], [numbers, counts])
    }),
    { numRuns: 300 },
  )
})

test('bit lengths are correct, and a parameter is the integer part of log2 of the mean difference', () => {
  for (let bits = 1; bits <= 53; bits++) {
    assert.equal(bitLength(2 ** (bits - 1)), bits)
    assert.equal(bitLength(2 ** bits - 1), bits)
    assert.equal(riceParameterFor(2 ** (bits - 1), 1), bits - 1)
    assert.equal(riceParameterFor(2 ** bits - 1, 1), bits - 1)
  }
  assert.equal(bitLength(0), 1)
  assert.deepEqual(
    [riceParameterFor(10, 10), riceParameterFor(1, 10), riceParameterFor(80, 10), riceParameterFor(79, 10)],
    [0, 0, 3, 2],
  )
})
