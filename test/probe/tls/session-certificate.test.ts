/** The certificate read from a TLS session equals the presented one. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect, createServer, type SecureVersion } from 'node:tls'
import fc from 'fast-check'
import { certificateFromSession } from '../../../src/probe/tls/handshake.ts'
import { authority, certify } from '../internet.ts'

const few = await certify(['example.com'], authority)
const many = await certify(
  Array.from({ length: 40 }, (_, index) => `host-${index}.example.com`),
  authority,
)

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  for (const [what, identity] of Object.entries({ 'of one name': few, 'of many names': many })) {
    test(`the session of ${version} contains the certificate ${what} as it was presented`, async (t) => {
      const { session, shown } = await sessionWith(t.after.bind(t), identity, version)
      assert.deepEqual(certificateFromSession(session), shown)
    })
  }
}

test('without a session there is no certificate, and arbitrary bytes give some of them or none', () => {
  assert.equal(certificateFromSession(undefined), null)
  const head = fc.constantFrom([0x30, 0x82], [0xa3, 0x82], [0xa3], [0x30, 0x82, 0, 6, 0xa3])
  const bytes = fc.array(fc.oneof(head, fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 })), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(bytes, (pieces) => {
      const given = Buffer.from(pieces.flat())
      const framed = Buffer.from([0x30, 0x82, given.length >> 8, given.length & 255, ...given])
      for (const each of [given, framed]) {
        const found = certificateFromSession(each)
        assert.ok(found === null || each.includes(found))
      }
    }),
  )
})

async function sessionWith(after: (end: () => void) => void, identity: object, version: SecureVersion) {
  const server = createServer({ ...identity, maxVersion: version })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', servername: 'example.com', rejectUnauthorized: false })
  after(() => {
    socket.destroy()
    server.close()
  })
  await once(socket, 'secureConnect')
  return { session: socket.getSession(), shown: socket.getPeerCertificate().raw }
}
