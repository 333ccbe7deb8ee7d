/** What is accepted of a certificate log: keys, addresses, and proofs of entries that it contains twice. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { requireLogKey } from '../../../src/fetch/ct/log/tree-head.ts'
import { LogFault } from '../../../src/fetch/ct/log.ts'
import { requireLogUrl } from '../../../src/fetch/ct/log-list.ts'
import { labEntries, openFollower } from './world.ts'

const der = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' })
const rsa = (modulusLength: number): Buffer => der(generateKeyPairSync('rsa', { modulusLength }).publicKey)

test('a log has a key of ECDSA with P-256, or of RSA with at least 2,048 bits', () => {
  requireLogKey(rsa(2_048))
  requireLogKey(der(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey))
  const refused = [
    rsa(1_024),
    rsa(2_040),
    der(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey),
    der(generateKeyPairSync('ed25519').publicKey),
    Buffer.from('no key'),
  ]
  for (const key of refused) assert.throws(() => requireLogKey(key), LogFault)
})

test('the URL of a log is http or https, without query, fragment and password', () => {
  assert.equal(requireLogUrl('https://log.example/2026'), 'https://log.example/2026/')
  assert.equal(requireLogUrl('https://log.example/2026/'), 'https://log.example/2026/')
  const refused = ['ftp://log.example/', 'log.example', 'https://log.example/?a=b', 'https://log.example/#a']
  for (const text of [...refused, 'https://:secret@log.example/'])
    assert.throws(() => requireLogUrl(text), /is not the URL of a log/, text)
})

test('a log whose first entries stand earlier in it too is read from the first one that it can prove', async (t) => {
  const entries = await labEntries(20)
  const again = [...entries.slice(0, 10), ...entries.slice(2, 4), ...entries.slice(10)]
  const { follow } = await openFollower(t, again)
  const batches = await follow('rfc6962', null, 12) // from entry 10: entries 10 and 11 are those of 2 and 3
  assert.equal(batches.at(-1)!.state.position, 22)
  assert.equal(
    batches.reduce((sum, { entries }) => sum + entries, 0),
    10,
  )
})
