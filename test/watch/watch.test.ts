/** The values of watches, and which watches the index finds. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type IpAddress, networkAround, parseAddress } from '../../src/values/ip-address.ts'
import type { WatchKind } from '../../src/values/watch-kind.ts'
import { MAX_DAILY_EVENTS, withinDailyLimit } from '../../src/watch/daily-limit.ts'
import { parseWatchValue, patternOfValue, type Watch } from '../../src/watch/watch.ts'
import { WatchIndex } from '../../src/watch/watch-index.ts'

const watch = (id: number, kind: WatchKind, value: string): Watch => ({
  id,
  account: 1,
  kind,
  value,
  threshold: null,
  types: null,
})

const VALUES: readonly [kind: WatchKind, text: string, value: string | RegExp][] = [
  ['name', ' Example.COM. ', 'example.com'],
  ['name', 'https://example.com/', /a scheme does not belong to the name/],
  ['suffix', '*.example.com', 'example.com'],
  ['suffix', '.co.uk', 'co.uk'],
  ['suffix', 'com', 'com'],
  ['suffix', '*.Рф', 'xn--p1ai'],
  ['suffix', '1', /./],
  ['suffix', '', /./],
  ['address', '192.0.2.1', '192.0.2.1'],
  ['address', '::ffff:192.0.2.1', '192.0.2.1'],
  ['address', '2001:DB8::/32', '2001:db8::/32'],
  ['address', '192.0.2.77/24', '192.0.2.0/24'],
  ['address', '10.0.0.0/7', /a prefix of at least 8 bits/],
  ['address', 'example.com', /send an address/],
  ['pattern', ' *PayPal* ', '*paypal*'],
  ['pattern', '/PayPa[l1]/', '/PayPa[l1]/'],
  ['pattern', '*.bank', '*.bank'],
  ['pattern', 'ab*', /3 fixed characters in a row/],
  ['pattern', '*', /no 3 fixed characters/],
  ['text', 'example.com', 'example.com'],
]

for (const [kind, text, expected] of VALUES)
  test(`the value ${text.trim()} of the kind ${kind} is ${expected instanceof RegExp ? 'refused' : expected}`, () => {
    const parsed = parseWatchValue(kind, text)
    if (expected instanceof RegExp) assert.match((parsed as { problem: string }).problem, expected)
    else assert.deepEqual(parsed, { value: expected })
  })

const label = fc.stringMatching(/^[ab-]{1,6}$/)
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
const pattern = fc
  .tuple(fc.constantFrom('', '*'), fc.stringMatching(/^[ab.-]{3,12}$/), fc.constantFrom('', '*', '?', '*a'))
  .map((parts) => parts.join(''))
  .filter((text) => 'value' in parseWatchValue('pattern', text))

test('the index finds the patterns that match a name, also after some were removed', () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 30 }), fc.array(name), fc.array(fc.nat(29)), (patterns, names, gone) => {
      const index = new WatchIndex()
      for (const [id, value] of patterns.entries()) index.set(watch(id, 'pattern', value))
      for (const id of gone) index.remove(id)
      for (const each of names)
        assert.deepEqual(
          index
            .ofName(each)
            .map(({ id }) => id)
            .sort((a, b) => a - b),
          [...patterns.keys()].filter((id) => !gone.includes(id) && patternOfValue(patterns[id]!).matches(each)),
        )
    }),
  )
})

test('the index finds the networks of an address, of any prefix length', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const v4 = bytes(4).map((each) => each.join('.') as IpAddress)
  const v6 = bytes(16).map(
    (each) =>
      parseAddress(
        Buffer.from(each)
          .toString('hex')
          .replace(/.{4}(?!$)/g, '$&:'),
      )!,
  )
  fc.assert(
    fc.property(fc.oneof(v4, v6), fc.nat(128), fc.nat(127), (address, length, bit) => {
      const network = networkAround(address, length)
      fc.pre(network !== null)
      const index = new WatchIndex()
      index.set(watch(1, 'address', `${network.first}/${length}`))
      assert.deepEqual(index.ofAddress(address), [watch(1, 'address', `${network.first}/${length}`)])
      const size = address.includes(':') ? 128 : 32
      const other = withBitFlipped(address, bit % size)
      assert.equal(index.ofAddress(other).length, bit % size < length ? 0 : 1)
    }),
  )
})

function withBitFlipped(address: IpAddress, bit: number): IpAddress {
  const { first, last } = networkAround(address, bit)!
  const half = networkAround(address, bit + 1)!
  return half.first === first ? networkAround(last, bit + 1)!.first : first
}

test('a host is found by itself and by each of its parents', () => {
  const index = new WatchIndex()
  for (const [id, value] of ['ns.example', 'example', 'a.ns.example', 'b.example'].entries())
    index.set(watch(id, 'nameserver', value))
  assert.deepEqual(
    index.ofHost('nameserver', 'ns.example').map(({ id }) => id),
    [0, 1],
  )
  index.remove(0)
  assert.deepEqual(
    index.ofHost('nameserver', 'x.ns.example').map(({ id }) => id),
    [1],
  )
})

test('an account gets so many events a day, then one that says so', () => {
  const event = (account: number) => ({ account, watch: 1, name: null, observed_at: 1, differences: [] })
  const events = [event(1), event(2), event(1), event(1)]
  const counts = new Map([[1, MAX_DAILY_EVENTS - 1]])
  const limited = withinDailyLimit(events, counts)
  assert.deepEqual(
    limited.stored.map(({ account, watch, differences }) => [account, watch, differences]),
    [
      [1, 1, '[]'],
      [2, 1, '[]'],
      [1, null, `[{"type":"limit","events":${MAX_DAILY_EVENTS}}]`],
    ],
  )
  assert.deepEqual(
    limited.counts,
    new Map([
      [1, MAX_DAILY_EVENTS + 1],
      [2, 1],
    ]),
  )
  assert.deepEqual(withinDailyLimit([event(1)], limited.counts).stored, [])
})
