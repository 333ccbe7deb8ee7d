/** The calls that the document starts for the view of an address: each of data is charged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstCalls } from '../../web/client/first-calls.ts'

/** The calls of data of somebody who is signed in; the first call is that for the calls that are left. */
function dataCallsOf(address: string): string[] {
  const { pathname, searchParams } = new URL(address, 'http://x.test')
  const [left, ...rest] = firstCalls(pathname, searchParams, true)
  assert.match(left!, /^\/app\/usage\?from=/)
  return rest
}

const FINGERPRINT = 'ab'.repeat(32)
const CASES: readonly (readonly [address: string, calls: string[]])[] = [
  ['/', []],
  ['/domain/example.com', ['/domain/example.com']],
  ['/domain/example.com?at=2026-03-01', ['/domain/example.com?at=2026-03-01']],
  ['/domain/example.com/history?type=A', ['/app/api/dnshistory?query=example.com&limit=100']],
  ['/domain/example.com/neighbours', ['/app/api/reverseip?query=example.com']],
  ['/domain/example.com/uses', ['/app/api/uses?host=example.com']],
  ['/domain/example.com/uses?text=%5B%22x%22%5D', []],
  ['/domain/example.com/nothing', []],
  ['/domain/example.com/constructor', []],
  ['/domain/example.com/__proto__', []],
  ['/domain', []],
  ['/ip/192.0.2.1', ['/ip/192.0.2.1']],
  ['/ip/192.0.2.1?at=2026-03-01', ['/ip/192.0.2.1?at=2026-03-01']],
  ['/ip/192.0.2.0/24', ['/ip/192.0.2.0/24']],
  ['/ip/192.0.2.0%2F24', ['/ip/192.0.2.0/24']],
  [`/certificate/${FINGERPRINT}`, [`/certificate/${FINGERPRINT}`]],
  ['/certificate/abc', []],
  ['/account/tokens', ['/app/tokens']],
  ['/watches', ['/watches']],
  ['/search?q=bank', []],
  ['/operator', []],
]

for (const [address, calls] of CASES)
  test(`the document at ${address} starts ${calls.length === 0 ? 'no call of data' : calls.join()}`, () => {
    assert.deepEqual(dataCallsOf(address), calls)
  })

test('without a session, the document starts no call, but that of the reference', () => {
  for (const [address] of CASES) {
    const { pathname, searchParams } = new URL(address, 'http://x.test')
    assert.deepEqual(firstCalls(pathname, searchParams, false), [])
  }
  assert.deepEqual(firstCalls('/docs/lookup', new URLSearchParams(), false), ['/openapi.json'])
})
