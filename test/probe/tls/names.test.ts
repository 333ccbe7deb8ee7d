/** The names of a certificate with modified bytes: there is always a verdict. */

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { before, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { generate } from 'selfsigned'
import type { CertificateResult } from '../../../src/probe/probe-result.ts'
import { certificateAfterFailure } from '../../../src/probe/tls/handshake.ts'

const NAMES = ['a.example', '*.b.example', 'xn--bcher-kva.example']
let der = Buffer.alloc(0)

before(async () => {
  const altNames = NAMES.map((value) => ({ type: 2 as const, value }))
  const extensions = [{ name: 'subjectAltName' as const, altNames }]
  const { cert } = await generate([{ name: 'commonName', value: 'a.example' }], { keyType: 'ec', extensions })
  der = Buffer.from(new X509Certificate(cert).raw)
})

/** A stand-in for a socket whose handshake failed after this certificate, with a trusted chain. */
const socketWith = (shown: object) => ({ _handle: { getPeerCertificate: () => shown } }) as unknown as TLSSocket

type Presented = CertificateResult & { kind: 'presented' }

function verdict(bytes: Buffer, host: string) {
  try {
    new X509Certificate(bytes)
  } catch {
    return null // OpenSSL rejects it in the handshake
  }
  const { der, ...verdict } = certificateAfterFailure(socketWith({ raw: bytes }), host, 'default') as Presented
  assert.ok(der === undefined || bytes.subarray(0, der.length).equals(der))
  return verdict
}

test('a name of the certificate is valid, and another one is not', () => {
  for (const host of ['a.example', 'www.b.example', 'xn--bcher-kva.example']) {
    assert.deepEqual(verdict(der, host), { kind: 'presented', error: null })
  }
  for (const host of ['www.a.example', 'b.example', 'a.b.b.example']) {
    assert.deepEqual(verdict(der, host), { kind: 'presented', error: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  }
})

test('an unreadable certificate is for other names', () => {
  const shown = {
    get raw() {
      throw new Error('Operation failed')
    },
  }
  assert.deepEqual(certificateAfterFailure(socketWith(shown), 'a.example', 'default'), {
    kind: 'presented',
    error: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
})

test('whatever bytes are in the names, there is a verdict', () => {
  const from = der.indexOf('a.example') - 12
  const to = der.lastIndexOf(NAMES[2]!) + 24
  const change = fc.tuple(fc.integer({ min: from, max: to - 1 }), fc.integer({ min: 0, max: 255 }))
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.constantFrom('a.example', 'c.example'),
      (all, host) => {
        const bytes = Buffer.from(der)
        for (const [at, byte] of all) bytes[at] = byte
        const found = verdict(bytes, host)
        if (found !== null) assert.equal(found.kind, 'presented')
      },
    ),
    { numRuns: 5000 },
  )
})
