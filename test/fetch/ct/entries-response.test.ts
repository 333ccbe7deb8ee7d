/** Entries whose bytes arrive in pieces of any length. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type LogEntry, parseLeafInput } from '../../../src/fetch/ct/log/log-entry.ts'
import { readLeaves } from '../../../src/fetch/ct/log/rfc6962-source.ts'
import { Slots } from '../../../src/fetch/ct/slots.ts'

const LONG = 400_000

/** A leaf with a certificate of so many bytes. */
function leafOf(certificateBytes: number): Buffer {
  const leaf = Buffer.alloc(12 + 3 + certificateBytes + 2)
  for (let at = 15; at < 15 + certificateBytes; at++) leaf[at] = at * 7
  leaf.writeUIntBE(certificateBytes, 12, 3)
  return leaf
}

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function leavesOf(text: string, size: number): Promise<LogEntry[]> {
  const leaves: LogEntry[] = []
  for await (const leaf of readLeaves(piecesOf(Buffer.from(text), size), new Slots(1))) leaves.push(leaf)
  return leaves
}

test('leaves are those that were sent, in pieces of any length, with and without escapes', async () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 2, 50, 3_000, LONG, LONG + 1, LONG + 2), { minLength: 1, maxLength: 4 })
  const escapes = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.replaceAll('/', '\\/'),
    (text) => text.replaceAll('=', '\\u003d').replaceAll('+', '\\u002B').replaceAll('/', '\\u002f'),
  )
  await fc.assert(
    fc.asyncProperty(sizes, escapes, fc.integer({ min: 1_000, max: 70_000 }), async (lengths, escaped, pieceBytes) => {
      const leaves = lengths.map(leafOf)
      const entries = leaves.map(
        (leaf) => `{"extra_data":"AAAA", "leaf_input" : "${escaped(leaf.toString('base64'))}"}`,
      )
      const found = await leavesOf(`{"entries":[${entries.join(',')}]}`, pieceBytes)
      const expected = leaves.map(parseLeafInput)
      assert.deepEqual(
        found.map(({ hash, time, bytes }) => [hash, time, bytes]),
        expected.map(({ hash, time, bytes }) => [hash, time, bytes]),
      )
      assert.deepEqual(
        found.map(({ certificate }) => certificate?.length ?? null),
        lengths.map((length) => (length >= LONG ? null : length)),
      )
    }),
    { numRuns: 40 },
  )
  const text = `{"entries":[{"leaf_input":"${leafOf(20).toString('base64')}"}]}`
  for (let size = 1; size < 20; size++) assert.equal((await leavesOf(text, size)).length, 1)
})

test('a response that ends within a leaf, or whose leaf has another form, is a fault of the log', async () => {
  for (const length of [20, LONG]) {
    const text = leafOf(length).toString('base64')
    await assert.rejects(leavesOf(`{"leaf_input":"${text}`, 60_000), {
      name: 'LogFault',
      message: 'an entry is cut off',
    })
    await assert.rejects(leavesOf(`{"leaf_input":"${text.slice(0, -8)}"`, 60_000), { message: 'an entry is cut off' })
    await assert.rejects(leavesOf(`{"leaf_input":"/${text.slice(1)}"`, 60_000), /is not of version 1/)
    const longer = Buffer.concat([leafOf(length), Buffer.alloc(1)]).toString('base64')
    await assert.rejects(leavesOf(`{"leaf_input":"${longer}"`, 60_000), /bytes follow an entry/)
  }
  assert.deepEqual(await leavesOf('[[[[{"leaf_inputs":"AAAA"}]]]]', 7), [])
})
