/** Names of certificates: held against OpenSSL, on real certificates, and on broken ones. */

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { certificateNames } from '../../../src/values/certificate/certificate-names.ts'
import { MalformedCertificate } from '../../../src/values/certificate/der.ts'
import { CERTIFICATE_HOSTS, labCertificates, tbsOf } from '../../fetch/ct/world.ts'

const REAL = new URL('../../../../shared/data/web/badssl-certs/', import.meta.url)

/** The DNS names that OpenSSL finds. */
const namesOf = (certificate: X509Certificate): string[] =>
  [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,]+)/g)].map(([, name]) => name!)

test('the names of a certificate and of its TBSCertificate are those that OpenSSL finds', async () => {
  const ders = await labCertificates()
  for (const [index, der] of ders.entries()) {
    assert.deepEqual(certificateNames(der, false), CERTIFICATE_HOSTS[index])
    assert.deepEqual(certificateNames(tbsOf(der), true), namesOf(new X509Certificate(der)))
  }
})

test('the names of real certificates are those that OpenSSL finds', {
  skip: !existsSync(REAL) && 'no sample data',
}, () => {
  let names = 0
  for (const file of readdirSync(REAL).filter((name) => name.endsWith('.pem'))) {
    const text = readFileSync(new URL(file, REAL), 'utf8')
    for (const [pem] of text.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)) {
      const certificate = new X509Certificate(pem)
      const found = certificateNames(certificate.raw, false)
      assert.deepEqual(found, namesOf(certificate), file)
      names += found.length
    }
  }
  assert.ok(names > 30, `${names} names`)
})

test('a broken certificate gives names or MalformedCertificate, never another error', async () => {
  const ders = await labCertificates()
  const outcomes = { names: 0, malformed: 0 }
  const edit = fc.record({ at: fc.nat(4_000), byte: fc.nat(255) })
  const check = (bytes: Uint8Array, isTbs: boolean): void => {
    try {
      const names = certificateNames(bytes, isTbs)
      assert.ok(names.every((name) => name.length <= bytes.length))
      outcomes.names++
    } catch (error) {
      assert.ok(error instanceof MalformedCertificate, String(error))
      outcomes.malformed++
    }
  }
  fc.assert(
    fc.property(
      fc.nat(ders.length - 1),
      fc.array(edit, { maxLength: 5 }),
      fc.nat(5_000),
      fc.boolean(),
      (which, edits, end, isTbs) => {
        const der = Buffer.from(isTbs ? tbsOf(ders[which]!) : ders[which]!)
        for (const { at, byte } of edits) der[at % der.length] = byte
        check(der.subarray(0, end), isTbs)
      },
    ),
    { numRuns: 3_000 },
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), check), { numRuns: 3_000 })
  assert.ok(outcomes.names > 100 && outcomes.malformed > 1_000, JSON.stringify(outcomes))
  assert.throws(() => certificateNames(Buffer.alloc(262_145, 0x30), false), /more than 262144 bytes/)
})
