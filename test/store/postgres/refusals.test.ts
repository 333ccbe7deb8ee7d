/** A PostgreSQL that cannot be used as its URL says, and the messages about it. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../../src/store/open.ts'
import { StoreFault } from '../../../src/store/port/fault.ts'
import { toStoreFault } from '../../../src/store/postgres/database/errors.ts'
import { unsupportedReason } from '../../../src/store/postgres/open.ts'
import { noPostgres, postgresServer } from './server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null, pool: 2 } as const

const isReported = (words: RegExp) => (fault: unknown) => {
  assert.ok(fault instanceof StoreFault, String(fault))
  assert.match(fault.message, words)
  return true
}

test('URL parameters that do not fit the server or this machine are reported in a sentence', {
  skip: noPostgres,
}, async (t) => {
  const { url, drop } = await (await postgresServer()).schema()
  t.after(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const hasTls = (await client.query('show ssl')).rows[0].ssl === 'on'
  await client.end()
  const withoutTls = [
    'sslmode',
    'verify-full',
    /the server does not support TLS: set ssl = on there, or remove sslmode$/,
  ]
  for (const [key, value, words] of [
    ...(hasTls ? [] : [withoutTls as [string, string, RegExp]]),
    ['sslrootcert', '/nowhere.pem', /a file in the URL cannot be read: \/nowhere\.pem$/],
    ['options', '-cbanana=1', /the server refuses the connection: .*banana/],
  ] as const) {
    const place = new URL(url)
    place.searchParams.set(key, value)
    await assert.rejects(openStore(place.href, OPTIONS), isReported(words))
  }
})

test('a server that is too old is rejected', () => {
  assert.match(
    unsupportedReason({ encoding: 'UTF8', version: 14 })!,
    /^is PostgreSQL 14: version 15 or later is required$/,
  )
  assert.equal(unsupportedReason({ encoding: 'UTF8', version: 15 }), null)
})

test('a database with tables of another program is rejected', { skip: noPostgres }, async (t) => {
  const { url, drop } = await (await postgresServer()).schema()
  t.after(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table account (theirs int)')
  await client.end()
  await assert.rejects(
    openStore(url, OPTIONS),
    isReported(/it contains tables of another program: use a separate database/),
  )
})

/** Requests a password as SCRAM does, https://www.postgresql.org/docs/current/protocol-message-formats.html. */
function askForPassword(socket: Socket): void {
  const ask = (kind: number, text: string): Buffer => {
    const message = Buffer.from(`R\0\0\0\0\0\0\0\0${text}`)
    message.writeInt32BE(message.length - 1, 1)
    message.writeInt32BE(kind, 5)
    return message
  }
  socket.once('data', () => {
    socket.write(ask(10, 'SCRAM-SHA-256\0\0'))
    socket.once('data', () => socket.write(ask(11, 'r=nonce,s=c2FsdA==,i=4096')))
  })
}

test('a server that requires a password missing from the URL is reported without waiting', async (t) => {
  delete process.env.PGPASSWORD // would replace the password of the URL
  const server = createServer(askForPassword).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'end'))
  const url = `postgres://me@127.0.0.1:${(server.address() as AddressInfo).port}/data`
  await assert.rejects(openStore(url, OPTIONS), isReported(/the server requires a password, but the URL has none$/))
  await closed
})

test('an untrusted certificate is reported with what to do', () => {
  const reported = (message: string, code: string) =>
    (toStoreFault(Object.assign(new Error(message), { code }), 'postgres://u:secret@h/d') as Error).message
  assert.match(
    reported('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    /set sslrootcert=PATH to the certificate of its authority/,
  )
  assert.match(
    reported('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    /sslrootcert=PATH to the certificate of its authority$/,
  )
  assert.match(
    reported("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'),
    /another host name/,
  )
})
