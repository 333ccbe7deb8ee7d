/** Rotations of names. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Rotations, rotationRange, unpackRotation } from '../../../src/inverse/entries/rotation.ts'

const label = fc.stringMatching(/^[a-c0-9_-]{1,6}$/)
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))

const rotations = new Rotations()

function packed(text: string, at: number): string {
  rotations.begin(text)
  return rotations.packAt(at).toString('latin1')
}

test('a packed rotation gives back its name and its place', () => {
  fc.assert(
    fc.property(name, fc.nat(), (each, number) => {
      const at = number % each.length
      assert.deepEqual(unpackRotation(packed(each, at)), { name: each, at })
    }),
  )
  const longest = '_'.repeat(253)
  assert.equal(packed(longest, 7).length, 2 * Math.ceil((2 * 253 + 1) / 3))
  assert.deepEqual(unpackRotation(packed(longest, 7)), { name: longest, at: 7 })
})

test('the range of a text has exactly the rotations that begin with it, and at an end those of names that end with it', () => {
  let found = 0
  fc.assert(
    fc.property(name, fc.nat(), fc.nat(), name, fc.boolean(), (each, number, length, other, isOther) => {
      const at = number % each.length
      const text = isOther ? other : each.slice(at, at + 1 + (length % (each.length - at)))
      const key = packed(each, at)
      for (const isEnd of [false, true]) {
        const { from, to } = rotationRange(text, isEnd)
        const isThere = isEnd ? each.slice(at) === text : each.startsWith(text, at)
        if (isThere) found++
        assert.equal(key >= from && key < to, isThere)
      }
    }),
    { numRuns: 1000 },
  )
  assert.ok(found > 300, 'the generator makes texts that are found')
})

test('rotations are in the order of what follows the place, where no name has an underscore', () => {
  const order = '\x01-.0123456789abcdefghijklmnopqrstuvwxyz'
  fc.assert(
    fc.property(fc.stringMatching(/^[a-c.-]{1,9}$/), fc.stringMatching(/^[a-c.-]{1,9}$/), (a, b) => {
      const symbols = (text: string): string =>
        Array.from(text, (each) => String.fromCharCode(order.indexOf(each))).join('')
      assert.equal(packed(a, 0) < packed(b, 0), symbols(`${a}\x01`) < symbols(`${b}\x01`))
    }),
  )
})
