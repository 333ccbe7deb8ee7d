/** Deriving an observation from a probe result. */

import assert from 'node:assert/strict'
import { hash, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { generate } from 'selfsigned'
import type { WebPart } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { writeObservation } from '../../src/observe/observation-writer.ts'
import { observe, sslVerdict } from '../../src/observe/observe.ts'
import type { CertificateResult } from '../../src/probe/probe-result.ts'
import { anchor, answered, chain, page, SILENT, visit, web } from './probe-results.ts'

const DNS = { A: answered('192.0.2.1'), AAAA: answered() }
const NXDOMAIN = { outcome: 'nxdomain' } as const
const FAILED = { outcome: 'failed', why: 'timeout' } as const
const START = page([anchor('https://x.com/example')], ['Hello', 'world'])
const SHOWN: CertificateResult = { kind: 'presented', error: null }

test('a probe of a website gives an observation of all its parts', () => {
  const bare = { ...chain('answered', 'http://example.com/ 301', 'https://example.com/ 200'), page: START }
  assert.deepEqual(observe(visit({ dns: DNS, web: web(bare, null, SHOWN) })), {
    domain: 'example.com',
    observed_at: 1_800_000_000,
    dns: { status: 'ok', records: { A: [{ ipv4_address: '192.0.2.1' }], AAAA: [] } },
    web: {
      has_website: true,
      redirect_to_https: true,
      redirect_to_www: false,
      only_with_www: false,
      redirects_to: null,
      ssl: 'valid',
      social_accounts: [{ network: 'x', type: 'x', username: 'example', url: 'https://x.com/example' }],
      text: 'Hello world',
    },
  })
})

test('accounts and text come from the page of a domain with a website, otherwise there are none', () => {
  const away = { ...chain('answered', 'http://example.com/ 301', 'https://other.org/ 200'), page: START }
  const removed = { ...chain('answered', 'http://example.com/ 404'), page: START }
  const unread = chain('answered', 'http://example.com/ 200')
  for (const bare of [away, removed, unread, SILENT]) {
    const part: WebPart | null = observe(visit({ web: web(bare, null, SHOWN) })).web
    assert.deepEqual([part?.social_accounts, part?.text], [[], null])
  }
})

test('what could not be probed is left out', () => {
  assert.deepEqual(observe(visit({})), { domain: 'example.com', observed_at: 1_800_000_000, dns: null, web: null })
  assert.equal(observe(visit({ dns: {}, web: web(SILENT) })).dns, null)
  assert.equal(observe(visit({ dns: DNS, web: web(SILENT, null, { kind: 'unknown' }) })).web, null)
})

test('on nxdomain and servfail the web is left out', () => {
  for (const dns of [
    { A: NXDOMAIN, AAAA: NXDOMAIN },
    { A: FAILED, AAAA: FAILED },
  ]) {
    assert.equal(observe(visit({ dns, web: web(SILENT) })).web, null)
  }
})

for (const [certificate, verdict] of [
  [{ kind: 'none' }, 'nocert'],
  [{ kind: 'presented', error: null }, 'valid'],
  [{ kind: 'presented', error: 'CERT_HAS_EXPIRED' }, 'invalid'],
  [{ kind: 'presented', error: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'invalid'],
  [{ kind: 'presented', error: '' }, 'invalid'],
  [{ kind: 'unknown' }, null],
] satisfies [CertificateResult, string | null][]) {
  test(`a certificate ${JSON.stringify(certificate)} is ${verdict ?? 'not judged'}`, () => {
    assert.equal(sslVerdict(certificate), verdict)
  })
}

test('if the web cannot be judged, the certificate verdict is kept, which no observation file contains', () => {
  const toPort = chain('not_allowed', 'http://example.com/ 301', 'https://example.com:8443/')
  const seen = observe(visit({ dns: DNS, web: web(toPort, null, SHOWN) }))
  assert.deepEqual([seen.web, seen.ssl], [null, 'valid'])
  assert.ok(!('ssl' in observe(visit({ dns: DNS, web: web(toPort, null, { kind: 'unknown' }) }))))
  assert.ok(
    !('ssl' in observe(visit({ dns: DNS, web: web(chain('answered', 'http://example.com/ 200'), null, SHOWN) }))),
  )
  assert.doesNotMatch(writeObservation(seen), /"web"|"ssl"/)
})

test('a certificate with any verification error is invalid', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (error) => sslVerdict({ kind: 'presented', error }) === 'invalid'),
  )
})

test('the certificate is kept, null if there is none, and left out if its bytes are unknown or unreadable', async () => {
  const bare = chain('answered', 'http://example.com/ 200')
  const kept = (certificate: CertificateResult) => observe(visit({ dns: DNS, web: web(bare, null, certificate) })).web
  const { raw } = new X509Certificate((await generate([{ name: 'commonName', value: 'a.example' }])).cert)
  const found = kept({ kind: 'presented', error: 'CERT_HAS_EXPIRED', der: raw })
  assert.equal(found?.certificate?.sha256, hash('sha256', raw))
  assert.equal(kept({ kind: 'none' })?.certificate, null)
  for (const der of [undefined, raw.subarray(1), Buffer.from('')])
    assert.ok(!('certificate' in kept({ kind: 'presented', error: null, ...(der && { der }) })!))
  const seen = observe(visit({ dns: DNS, web: web(bare, null, { kind: 'presented', error: null, der: raw }) }))
  assert.deepEqual(parseObservation(writeObservation(seen)), seen)
})

test('an import accepts the observation and gives it back unchanged', () => {
  const bare = { ...chain('answered', 'http://example.com/ 200'), page: START }
  const seen = observe(visit({ dns: { ...DNS, TXT: answered(['\\000 ü']) }, web: web(bare, null, SHOWN) }))
  assert.deepEqual(parseObservation(writeObservation(seen)), seen)
})
