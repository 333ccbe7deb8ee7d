/** Members and elements of JSON texts: their bytes are those of the text, whatever the values contain. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { arrayElements, objectMembers } from '../../../src/api/queries/formatted-response.ts'

const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', ']', '}', '[', '{', ':', 'a', '語', '\n') })
const value = fc.jsonValue({ stringUnit: 'grapheme' })
const values = fc.array(fc.oneof(text, value, fc.array(text), fc.dictionary(fc.constantFrom('a', 'b'), text)))

test('the elements of an array are the texts of its values', () => {
  fc.assert(
    fc.property(values, (list) => {
      assert.deepEqual(
        [...arrayElements(JSON.stringify(list))],
        list.map((each) => JSON.stringify(each)),
      )
    }),
  )
})

test('the members of an object are the texts of its values by key', () => {
  const key = fc.string({ unit: fc.constantFrom(...'abcdefg_'), minLength: 1 })
  fc.assert(
    fc.property(fc.dictionary(key, fc.oneof(text, value), { noNullPrototype: true }), (object) => {
      const expected = Object.entries(object).map(([name, each]) => [name, JSON.stringify(each)])
      assert.deepEqual([...objectMembers(JSON.stringify(object))], expected)
    }),
  )
})
