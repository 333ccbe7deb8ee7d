/**
 * The verdict on certificates equals that of openssl with the same clock, for real certificates and for made-up ones.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { getCACertificates, type TlsOptions } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { makeClock } from '../clock.ts'
import { authority, certify, HOME, Internet, type KeyAndCertificate, page, paths } from '../internet.ts'
import type { Shown } from '../shown-text.ts'
import { askOpenssl, hasOpenssl } from './openssl.ts'
import { HOST, makeCertificates } from './test-certificates.ts'

const CERTIFICATES = fileURLToPath(new URL('../../../../shared/data/web/badssl-certs', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../shown-text.ts', import.meta.url))

/** Over these days, each certificate is valid once, not yet valid once, and expired once. */
const CLOCKS = ['2015-04-11', '2016-12-01', '2018-06-26', '2020-04-30', '2021-12-01', '2022-06-01']

const WEAK = 'DEFAULT@SECLEVEL=0' // allows a server to use weak certificates

const folder = mkdtempSync(join(tmpdir(), 'domaindex-certificates-'))
const roots = join(folder, 'roots.pem')
writeFileSync(roots, rootsFor(CERTIFICATES).join('\n'))
test.after(() => rmSync(folder, { recursive: true }))

const skip = (!hasOpenssl && 'openssl is not here') || (!existsSync(CERTIFICATES) && 'the sample data is not here')

/** The roots of Node that issued one of the certificates. openssl would read all of them each time. */
function rootsFor(path: string): string[] {
  if (!existsSync(path)) return []
  const text = readdirSync(path).map((file) => readFileSync(join(path, file), 'utf8'))
  const blocks = text.join('\n').match(/-----BEGIN.*?-----END CERTIFICATE-----/gs) ?? []
  const issuers = new Set(blocks.map((block) => new X509Certificate(block).issuer))
  return getCACertificates('default').filter((root) => issuers.has(new X509Certificate(root).subject))
}

async function shownAt(at: number, which: 'all' | 'current', env: NodeJS.ProcessEnv = process.env): Promise<Shown[]> {
  const program = [PROGRAM, CERTIFICATES, roots, String(at), which]
  const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const piece of child.stdout) text += piece
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Shown)
}

function agree(all: readonly Shown[], when: string): void {
  const output = (whose: 'ours' | 'theirs') => all.map((row) => `${when} ${row.file} ${row.host}: ${row[whose]}`)
  assert.deepEqual(output('ours'), output('theirs'))
  assert.ok(
    all.every(({ ours }) => ours !== undefined),
    'each was shown',
  )
}

test('with the current clock, real certificates have the verdict of openssl', { skip }, async () => {
  const all = await shownAt(Math.floor(Date.now() / 1000), 'all')
  assert.equal(all.length, readdirSync(CERTIFICATES).length)
  agree(all, 'today')
})

test('with the clocks of their years, real certificates have the verdict of openssl', { skip }, async (t) => {
  const clock = makeClock(folder)
  if (clock === null) return t.skip('no C compiler, so that OpenSSL in Node cannot be told another time')
  const verdicts = CLOCKS.map(async (day) => {
    const at = Date.parse(day) / 1000
    const all = await shownAt(at, day === CLOCKS[0] ? 'all' : 'current', clock(at))
    agree(all, day)
    return all
  })
  const shown = (await Promise.all(verdicts)).flat()
  const withTimeout = shown.filter(({ ours }) => ours !== 'CERT_NOT_YET_VALID')
  assert.deepEqual(new Set(withTimeout.map(({ file }) => file)), new Set(readdirSync(CERTIFICATES)))
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

test('certificates of every other kind have the verdict of openssl, also on a server of TLS 1.0', {
  skip: !hasOpenssl && 'openssl is not here',
}, async (t) => {
  const { roots: own, rows } = await makeCertificates()
  const roots = join(folder, 'own.pem')
  writeFileSync(roots, own)
  for (const [what, identity] of rows) {
    await t.test(`one ${what}`, async (t) => {
      const recent = await shownBy(t, own, { ...identity, ciphers: WEAK })
      const old = await shownBy(t, own, { ...identity, ciphers: WEAK, minVersion: 'TLSv1', maxVersion: 'TLSv1' })
      const theirs = await askOpenssl({ port: recent.port, host: HOST, roots })
      assert.equal(await recent.verdict(), theirs)
      const again = await old.verdict()
      assert.equal(again?.replace(/^.*_TOO_(?:SMALL|WEAK)$/, 'UNSPECIFIED') ?? null, theirs)
    })
  }
})

test('servers of a single group have the default verdict of openssl', {
  skip: !hasOpenssl && 'openssl is not here',
}, async (t) => {
  const file = join(folder, 'authority.pem')
  writeFileSync(file, authority.cert)
  const identity = await certify([HOST], authority)
  for (const group of ['X25519', 'P-256', 'X448', 'P-384', 'P-521', 'ffdhe2048', 'ffdhe3072']) {
    await t.test(group, async (t) => {
      const site = await shownBy(t, authority.cert, { ...identity, ecdhCurve: group })
      const theirs = await askOpenssl({ port: site.port, host: HOST, roots: file })
      assert.deepEqual([await site.verdict(), theirs], [null, null])
    })
  }
})

/** A website that presents this, and the verdict of a crawler that also trusts these roots. */
async function shownBy(t: TestContext, roots: string, identity: KeyAndCertificate & TlsOptions) {
  const internet = new Internet(t).name(HOST, HOME)
  internet.roots.push(roots)
  await internet.plain(paths({ '/': page() }))
  await internet.secure(paths({ '/': page() }), identity)
  const verdict = async (): Promise<string | null> => {
    const seen = await internet.look(HOST)
    assert.ok(seen?.certificate.kind === 'presented')
    return seen.certificate.error
  }
  return { port: internet.stands.at(-1)?.port ?? 0, verdict }
}
