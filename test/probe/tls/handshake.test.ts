/** The verdict on certificates, from real handshakes with servers of all kinds. */

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { createSecureServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import type { CertificateResult } from '../../../src/probe/probe-result.ts'
import {
  answer,
  authority,
  certify,
  HOME,
  Internet,
  type KeyAndCertificate,
  makeAuthority,
  page,
  paths,
  verdictOf,
} from '../internet.ts'
import { showing } from './keyless.ts'

const site = paths({ '/': page() })
const valid = await certify(['example.com', '*.example.org'], authority)

/** The verdict on a server with this identity, from a probe of a name. */
async function verdict(
  t: TestContext,
  identity: KeyAndCertificate & TlsOptions,
  host = 'example.com',
): Promise<CertificateResult | undefined> {
  const internet = new Internet(t).name(host, HOME)
  await internet.secure(site, identity)
  const seen = await internet.look(host)
  assert.equal(seen?.bare.hops[0]?.status, 200, 'the page is seen whatever the certificate')
  const der = seen?.certificate.kind === 'presented' && seen.certificate.der
  assert.ok(der && new X509Certificate(identity.cert).raw.equals(der), 'its bytes are known whatever the verdict')
  return verdictOf(seen)
}

const shown = (error: string | null): CertificateResult => ({ kind: 'presented', error })

test('a certificate that the system trusts for the name is valid', async (t) => {
  assert.deepEqual(await verdict(t, valid), shown(null))
})

test('a wildcard stands for one whole label', async (t) => {
  await t.test('of a host', async (t) => assert.deepEqual(await verdict(t, valid, 'any.example.org'), shown(null)))
  for (const host of ['example.org', 'a.b.example.org']) {
    await t.test(`but not in ${host}`, async (t) =>
      assert.deepEqual(await verdict(t, valid, host), shown('ERR_TLS_CERT_ALTNAME_INVALID')),
    )
  }
})

test('expired, future, self-signed, untrusted and misnamed certificates are distinguished, and the page is still read', async (t) => {
  const stranger = await makeAuthority('A stranger')
  const cases: [string, KeyAndCertificate, string][] = [
    ['expired', await certify(['example.com'], authority, { from: -30, to: -1 }), 'CERT_HAS_EXPIRED'],
    ['not yet valid', await certify(['example.com'], authority, { from: 1, to: 30 }), 'CERT_NOT_YET_VALID'],
    ['self-signed', await certify(['example.com'], null), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['of an untrusted authority', await certify(['example.com'], stranger), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['for another name', await certify(['example.net'], authority), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ]
  for (const [what, identity, code] of cases)
    await t.test(what, async (t) => assert.deepEqual(await verdict(t, identity), shown(code)))
})

test('a server that only speaks TLS 1.0 is probed', async (t) => {
  const old = { ...valid, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  assert.deepEqual(await verdict(t, old), shown(null))
})

test('a server that requires a client certificate has presented its own', async (t) => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const internet = new Internet(t).name('example.com', HOME)
    await internet.refuse(80)
    await internet.secure(site, { ...valid, maxVersion, requestCert: true, rejectUnauthorized: true })
    const seen = await internet.look('example.com')
    assert.deepEqual([seen?.bare.end, verdictOf(seen)], ['no_response', shown(null)], maxVersion)
  }
})

/** Configurations that OpenSSL accepts by default, or supports only on request. */
const RARE: [string, TlsOptions][] = [
  ['X448 alone', { ecdhCurve: 'X448' }],
  ['only X448 with TLS 1.2', { ecdhCurve: 'X448', maxVersion: 'TLSv1.2' }],
  ['ffdhe2048 alone', { ecdhCurve: 'ffdhe2048', minVersion: 'TLSv1.3' }],
  ['ffdhe8192 alone', { ecdhCurve: 'ffdhe8192', minVersion: 'TLSv1.3' }],
  ['X25519MLKEM768 alone', { ecdhCurve: 'X25519MLKEM768', minVersion: 'TLSv1.3' }],
  ['only a Brainpool group', { ecdhCurve: 'brainpoolP256r1', maxVersion: 'TLSv1.2' }],
  ['Camellia alone', { ciphers: 'ECDHE-ECDSA-CAMELLIA128-SHA256', maxVersion: 'TLSv1.2' }],
  ['ARIA alone', { ciphers: 'ECDHE-ECDSA-ARIA256-GCM-SHA384', maxVersion: 'TLSv1.2' }],
  ['CCM alone', { ciphers: 'ECDHE-ECDSA-AES128-CCM', maxVersion: 'TLSv1.2' }],
  ['only CCM with TLS 1.3', { ciphers: 'TLS_AES_128_CCM_SHA256', minVersion: 'TLSv1.3' }],
  ['no encryption at all', { ciphers: 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0', maxVersion: 'TLSv1.2' }],
]

for (const [what, options] of RARE) {
  test(`a server of ${what} is probed, and judged by its certificate`, async (t) => {
    assert.deepEqual(await verdict(t, { ...options, ...valid }), shown(null))
    const expired = await certify(['example.com'], authority, { from: -30, to: -1 })
    assert.deepEqual(await verdict(t, { ...options, ...expired }), shown('CERT_HAS_EXPIRED'))
  })
}

test('a server without authentication has no certificate', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  await internet.secure(site, { ...valid, ciphers: 'AECDH-AES128-SHA:@SECLEVEL=0', maxVersion: 'TLSv1.2' })
  assert.deepEqual(verdictOf(await internet.look('example.com')), { kind: 'none' })
})

test('a server that only speaks HTTP/2 presents its certificate', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  const answers = (stream: ServerHttp2Stream): void => stream.respond({ ':status': 200 }, { endStream: true })
  await internet.stand(createHttp2Server(valid).on('stream', answers), 443, HOME)
  assert.deepEqual(verdictOf(await internet.look('example.com')), shown(null))
})

test('a server that presents its certificate and then closes, resets or stops has presented it', async (t) => {
  const chain = [new X509Certificate(valid.cert)]
  const ends: [string, (socket: Socket) => void][] = [
    ['hangs up', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['sends nothing more', () => {}],
  ]
  for (const [what, end] of ends) {
    await t.test(what, async (t) => {
      const internet = new Internet(t).name('example.com', HOME)
      await internet.refuse(80)
      await internet.stand(createServer(showing(chain, end)), 443, HOME)
      const seen = await internet.look('example.com', { handshakeMs: 300 })
      assert.deepEqual([seen?.bare.end, verdictOf(seen)], ['no_response', shown(null)])
    })
  }
})

test('an old server gets a second, compatible handshake, and a recent one does not', async (t) => {
  const old = { ...valid, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  for (const [identity, handshakes] of [
    [valid, 1],
    [old, 2],
  ] as const) {
    const internet = new Internet(t).name('example.com', HOME)
    await internet.plain(site)
    await internet.secure(site, identity)
    assert.deepEqual(verdictOf(await internet.look('example.com')), shown(null))
    assert.equal(internet.taken.filter((door) => door.endsWith(':443')).length, handshakes)
  }
})

test('without a listener, without TLS, or if the handshake hangs or ends before a certificate, there is none', async (t) => {
  const alert = Buffer.from([21, 3, 3, 0, 2, 2, 40]) // handshake_failure
  const halfHello = Buffer.from([22, 3, 3, 0, 80, 2, 0, 0, 76, 3, 3])
  const servers: [string, (socket: Socket) => void][] = [
    ['that hangs', () => {}],
    ['that closes the connection', (socket) => socket.destroy()],
    ['that closes the connection in order', (socket) => socket.end()],
    ['that sends an alert', (socket) => socket.end(alert)],
    ['that ends within its hello', (socket) => socket.end(halfHello)],
    ['that stops within its hello', (socket) => socket.write(halfHello)],
    ['that speaks plain HTTP', (socket) => socket.end(page())],
    ['that sends noise', (socket) => socket.write(Buffer.alloc(100_000, 0xa5))],
  ]
  for (const [what, converse] of servers) {
    await t.test(`a server ${what}`, async (t) => {
      const internet = new Internet(t).name('example.com', HOME)
      await internet.refuse(80)
      await internet.stand(createServer(converse), 443, HOME)
      const seen = await internet.look('example.com', { handshakeMs: 200 })
      assert.deepEqual(seen?.bare, { hops: [], end: 'no_response', page: null })
      assert.deepEqual(verdictOf(seen), { kind: 'none' })
    })
  }
})

test('if nothing listens on port 443, there is no certificate', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(site)
  await internet.refuse(443)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, verdictOf(seen)], ['answered', { kind: 'none' }])
})

test('if port 443 cannot be probed for a local reason, the certificate is unknown', async (t) => {
  const internet = new Internet(t).name('example.com', HOME) // whose port 443 the guard blocks
  await internet.plain(site)
  assert.deepEqual(verdictOf(await internet.look('example.com')), { kind: 'unknown' })
})

test('a handshake that the end of the probe interrupts gives no verdict', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(site)
  await internet.stand(createServer(), 443, HOME)
  const seen = await internet.look('example.com', { probeMs: 300 })
  assert.deepEqual(verdictOf(seen), { kind: 'unknown' })
})

test('if the chain made no handshake with the name, one is made only for the verdict', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(site)
  await internet.secure(site, valid)
  const seen = await internet.look('example.com')
  assert.equal(seen?.bare.hops.length, 1)
  assert.deepEqual(verdictOf(seen), shown(null))
  assert.deepEqual(internet.taken.filter((door) => door.endsWith(':443')).length, 1)
})

test('the connection of the chain serves robots.txt, the page and the verdict', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.plain(paths({ '/': answer(301, { location: 'https://example.com/' }, 'moved') }))
  await internet.secure(paths({ '/': page(), '/robots.txt': answer(404) }), valid)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.bare.hops.length, verdictOf(seen)], ['answered', 2, shown(null)])
  assert.deepEqual(internet.taken, [`${HOME}:80`, `${HOME}:443`])
})

test('the first presented certificate is the verdict, whatever later connections present', async (t) => {
  const internet = new Internet(t).name('example.com', HOME)
  await internet.refuse(80)
  let connections = 0
  const once = createTlsServer(valid, (socket) =>
    socket.on('data', () => socket.end(answer(404, { connection: 'close' }))),
  )
  once.prependListener('connection', (socket: Socket) => ++connections > 1 && socket.destroy())
  await internet.stand(once, 443, HOME)
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, verdictOf(seen)], ['no_response', shown(null)])
})

test('the verdict is about the name that answers: www. if only that one does', async (t) => {
  const internet = new Internet(t).name('example.com', '127.0.0.2').name('www.example.com', '127.0.0.3')
  await internet.secure(site, await certify(['www.example.com'], authority), '127.0.0.3')
  for (const port of [80, 443])
    await internet.stand(
      createServer((socket) => socket.destroy()),
      port,
      '127.0.0.2',
    )
  await internet.plain(site, '127.0.0.3')
  const seen = await internet.look('example.com')
  assert.deepEqual([seen?.bare.end, seen?.www?.end, verdictOf(seen)], ['no_response', 'answered', shown(null)])
})

test('a certificate with thousands of names is read quickly', async (t) => {
  const names = Array.from({ length: 2000 }, (_, index) => `n${index}.example.net`)
  assert.deepEqual(await verdict(t, await certify([...names, 'example.com'], authority)), shown(null))
})
