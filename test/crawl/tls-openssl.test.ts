/** The verdict on certificates is that of openssl at the same clock: on real ones, and on ones made for what those lack. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createServer, getCACertificates, type TlsOptions } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { handshake } from '../../src/crawl/http-dial.ts'
import { makeTrust, type Trust } from '../../src/crawl/tls.ts'
import { WEB_LIMITS } from '../../src/crawl/web-limits.ts'
import type { Address } from '../../src/words/address.ts'
import { makeClock } from './clock.ts'
import { HOST, makeCertificates } from './made-certificates.ts'
import { askOpenssl, hasOpenssl } from './openssl.ts'
import type { Shown } from './shown.ts'

const CERTIFICATES = fileURLToPath(new URL('../../../shared/data/web/badssl-certs', import.meta.url))
const PROGRAM = fileURLToPath(new URL('./shown.ts', import.meta.url))

/** Between them every one of the certificates is in its time once, and before it and after it. */
const CLOCKS = ['2015-04-11', '2016-12-01', '2018-06-26', '2020-04-30', '2021-12-01', '2022-06-01']

const WEAK = 'DEFAULT@SECLEVEL=0' // lets a server hold certificates that are no good

const folder = mkdtempSync(join(tmpdir(), 'domaindex-certificates-'))
const roots = join(folder, 'roots.pem')
writeFileSync(roots, getCACertificates('default').join('\n'))
test.after(() => rmSync(folder, { recursive: true }))

const skip = (!hasOpenssl && 'openssl is not here') || (!existsSync(CERTIFICATES) && 'the sample data is not here')

async function shownAt(at: number, which: 'all' | 'current', env: NodeJS.ProcessEnv = process.env): Promise<Shown[]> {
  const program = [PROGRAM, CERTIFICATES, roots, String(at), which]
  const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const piece of child.stdout) text += piece
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Shown)
}

function agree(all: readonly Shown[], when: string): void {
  const said = (whose: 'ours' | 'theirs') => all.map((row) => `${when} ${row.file} ${row.host}: ${row[whose]}`)
  assert.deepEqual(said('ours'), said('theirs'))
}

test('today real certificates have the verdict that openssl gives', { skip }, async () => {
  const all = await shownAt(Math.floor(Date.now() / 1000), 'all')
  assert.equal(all.length, readdirSync(CERTIFICATES).length)
  agree(all, 'today')
})

test('in the years of real certificates they had the verdict that openssl gives at that clock', { skip }, async (t) => {
  const clock = makeClock(folder)
  if (clock === null) return t.skip('no C compiler, so that OpenSSL in Node cannot be told another time')
  const shown: Shown[] = []
  for (const day of CLOCKS) {
    const at = Date.parse(day) / 1000
    const all = await shownAt(at, day === CLOCKS[0] ? 'all' : 'current', clock(at))
    agree(all, day)
    shown.push(...all)
  }
  const inTime = shown.filter(({ ours }) => ours !== 'CERT_NOT_YET_VALID')
  assert.deepEqual(new Set(inTime.map(({ file }) => file)), new Set(readdirSync(CERTIFICATES)))
  const codes = new Set(shown.map(({ ours }) => ours))
  for (const code of [
    null,
    'CERT_NOT_YET_VALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'UNSPECIFIED',
  ])
    assert.ok(codes.has(code), `none was judged ${code}`)
})

test('certificates of every other sort have the verdict that openssl gives, and the same from a server of TLS 1.0', {
  skip: !hasOpenssl && 'openssl is not here',
}, async (t) => {
  const { roots: own, rows } = await makeCertificates()
  const roots = join(folder, 'own.pem')
  writeFileSync(roots, own)
  const trust = makeTrust([own])
  for (const [what, identity] of rows) {
    await t.test(`one ${what}`, async (t) => {
      const recent = await serve(t, { ...identity, ciphers: WEAK })
      const old = await serve(t, { ...identity, ciphers: WEAK, minVersion: 'TLSv1', maxVersion: 'TLSv1' })
      const theirs = await askOpenssl({ port: recent, host: HOST, roots })
      assert.equal(await verdictAt(recent, trust), theirs)
      const again = await verdictAt(old, trust)
      assert.equal(again?.replace(/^.*_TOO_(?:SMALL|WEAK)$/, 'UNSPECIFIED') ?? null, theirs)
    })
  }
})

async function serve(t: TestContext, options: TlsOptions): Promise<number> {
  const server = createServer(options, (socket) => socket.on('error', () => {}).end())
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function verdictAt(port: number, trust: Trust): Promise<string | null> {
  const reach = { doors: [{ address: '127.0.0.1' as Address, port }], barred: false }
  const certificate = await handshake(reach, { host: HOST, trust, limits: WEB_LIMITS, opened() {} })
  assert.ok(certificate.kind === 'shown')
  return certificate.error
}
