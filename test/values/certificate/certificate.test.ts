/** What is kept of a certificate: held against OpenSSL, on real certificates, and on broken ones. */

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { generate } from 'selfsigned'
import { certificateToJson, parseCertificate } from '../../../src/observe/certificate-json.ts'
import { type Certificate, readCertificate } from '../../../src/values/certificate/certificate.ts'
import { labCertificates } from '../../fetch/ct/world.ts'

const REAL = new URL('../../../../shared/data/web/badssl-certs/', import.meta.url)

/** What OpenSSL reads. Its issuer is in the opposite order, one part a line. */
function openSslFields(certificate: X509Certificate) {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey
  const curve =
    details?.namedCurve === 'prime256v1' ? 'p256' : details?.namedCurve?.replace('secp', 'p').replace('r1', '')
  return {
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    issuer: certificate.issuer.split('\n').reverse().join(','),
    not_before: certificate.validFromDate.getTime() / 1000,
    not_after: certificate.validToDate.getTime() / 1000,
    key: type === 'ec' ? `ec-${curve}` : details?.modulusLength ? `${type}-${details.modulusLength}` : type,
  }
}

function fieldsOf({ names: _, ...fields }: Certificate) {
  return fields
}

test('the fields of certificates are those that OpenSSL reads, also of real ones', async () => {
  const certificates = (await labCertificates()).map((der) => new X509Certificate(der))
  for (const options of [{ keySize: 2048 }, { keyType: 'ec', curve: 'P-384' }] as const)
    certificates.push(new X509Certificate((await generate([{ name: 'commonName', value: 'a.example' }], options)).cert))
  for (const file of existsSync(REAL) ? readdirSync(REAL).filter((name) => name.endsWith('.pem')) : []) {
    const text = readFileSync(new URL(file, REAL), 'utf8')
    for (const [pem] of text.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g))
      certificates.push(new X509Certificate(pem))
  }
  for (const certificate of certificates) {
    const read = readCertificate(certificate.raw)
    assert.deepEqual(read && fieldsOf(read), openSslFields(certificate))
  }
})

test('the names are canonical, in byte order, each once, at most 100, without what is no domain name', async () => {
  const altNames = ['*.B.example', 'a.example', 'A.example', 'b c.example', '*.*.example', '*', 'localhost', '']
  const named = async (values: readonly string[]) => {
    const extensions = [
      { name: 'subjectAltName', altNames: values.map((value) => ({ type: 2 as const, value })) },
    ] as const
    const { cert } = await generate([], { keyType: 'ec', extensions: [...extensions] })
    return readCertificate(new X509Certificate(cert).raw)?.names
  }
  assert.deepEqual(await named(altNames), ['*.b.example', 'a.example'])
  const many = Array.from({ length: 300 }, (_, index) => `n${299 - index}.example`)
  assert.deepEqual(await named(many), many.toSorted().slice(0, 100))
})

test('a broken certificate gives null, or a certificate that an observation file can contain', async () => {
  const ders = await labCertificates()
  const outcomes = { read: 0, unreadable: 0 }
  const edit = fc.record({ at: fc.nat(900), byte: fc.nat(255) })
  fc.assert(
    fc.property(fc.nat(ders.length - 1), fc.array(edit, { maxLength: 5 }), fc.nat(5_000), (index, edits, length) => {
      const bytes = Buffer.from(ders[index]!.subarray(0, length < 500 ? length : undefined))
      for (const { at, byte } of edits) if (at < bytes.length) bytes[at] = byte
      const read = readCertificate(bytes)
      if (read !== null) assert.deepEqual(parseCertificate(certificateToJson(read)), read)
      outcomes[read === null ? 'unreadable' : 'read']++
    }),
    { numRuns: 3_000 },
  )
  assert.ok(outcomes.read > 100 && outcomes.unreadable > 100, JSON.stringify(outcomes))
})
