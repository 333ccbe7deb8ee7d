/** The SHA-256 of the client library, compared with that of OpenSSL. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Sha256 } from '../../client/src/client.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('the examples of FIPS 180-4 have their hashes', () => {
  const hash = (text: string) => hexOf(new Sha256().update(Buffer.from(text)).digest())
  assert.equal(hash(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  assert.equal(hash('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const two = 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'
  assert.equal(hash(two), '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1')
})

test('any chunks have the hash of their bytes, also when hashes take turns', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 })
  fc.assert(
    fc.property(chunks, (parts) => {
      const [mine, other, theirs] = [new Sha256(), new Sha256(), createHash('sha256')]
      for (const part of parts) {
        mine.update(part)
        other.update(part).update(part)
        theirs.update(part)
      }
      assert.equal(hexOf(mine.digest()), theirs.digest('hex'))
      const doubled = Buffer.concat(parts.flatMap((part) => [part, part]))
      assert.equal(hexOf(other.digest()), createHash('sha256').update(doubled).digest('hex'))
    }),
  )
})

test('every length up to four blocks has its hash', () => {
  for (let length = 0; length <= 256; length++) {
    const bytes = new Uint8Array(length).fill(length)
    assert.equal(hexOf(new Sha256().update(bytes).digest()), createHash('sha256').update(bytes).digest('hex'))
  }
})
