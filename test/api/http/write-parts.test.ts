/** How the parts of a body are written. */

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { chunksOf, joinIfShort, type ResponseBody, writeParts } from '../../../src/api/http/write-parts.ts'

const BODIES: ResponseBody[] = [
  ['{}'],
  ['{"a":"', Buffer.from('größe'), '', '"}'],
  ['ASCII', 'Größe', '漢字', '\u{1F600}', Buffer.of(0xc3), Buffer.of(0xbc)],
]

test('parts of every kind are written as UTF-8, one after the other', async () => {
  for (const body of BODIES) {
    const to = new PassThrough()
    let calls = 0
    writeParts(to, body, () => calls++)
    to.end()
    const expected = Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
    assert.deepEqual(await buffer(to), expected)
    assert.equal(calls, 1)
  }
})

test('texts that are short together are one text, and other bodies stay as they are', () => {
  assert.deepEqual(joinIfShort(['{"a":"', 'größe', '"}']), ['{"a":"größe"}'])
  assert.deepEqual(joinIfShort(['[', 'x'.repeat(16_382), ']']), [`[${'x'.repeat(16_382)}]`])
  const others: ResponseBody[] = [[], ['{}'], ['{"a":"', Buffer.from('b'), '"}'], ['[', 'x'.repeat(16_383), ']']]
  for (const body of others) assert.equal(joinIfShort(body), body)
})

test('the pieces of a long text are the text, and none ends within a character', () => {
  const bytes = Buffer.from('bytes')
  for (const start of ['', 'x']) {
    const text = start + '\u{1F600}'.repeat(150_000)
    const pieces = [...chunksOf([text, bytes])]
    assert.equal(pieces.pop(), bytes)
    assert.equal(pieces.join(''), text)
    assert.ok(pieces.length > 2)
    for (const piece of pieces) assert.ok((piece as string).isWellFormed())
  }
})
