/** Certificates of a small test authority, strong and weak, valid and invalid. */

import { type CertificateExtension, generate } from 'selfsigned'

/** PEM texts. `cert`: the site's own certificate, then those above it. */
export type Made = { key: string; cert: string }

type Options = NonNullable<Parameters<typeof generate>[1]>

const DAY = 86_400_000
const SIGNS: CertificateExtension[] = [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
]
const SHA1: Options = { algorithm: 'sha1' }
const RSA: Options = { keyType: 'rsa' }
const SHORT: Options = { keyType: 'rsa', keySize: 1024 }
const PLAIN: CertificateExtension = { name: 'basicConstraints', cA: false }

export const HOST = 'example.com'

/** `roots` are trusted. Each row describes a certificate. All are for example.com unless the row says otherwise. */
export async function makeCertificates(): Promise<{ roots: string; rows: [string, Made][] }> {
  const root = await make('A root', { ...SHA1, extensions: SIGNS })
  const issuer = await make('An intermediate', { extensions: SIGNS }, root)
  const rsaRoot = await make('A root of RSA', { ...RSA, extensions: SIGNS })
  const leaf = await make(HOST, {}, issuer)
  const rows: [string, Made | Promise<Made>][] = [
    ['of 256 bits on a curve', leaf],
    ['of 384 bits on a curve', make(HOST, { curve: 'P-384' }, issuer)],
    ['of 2048 bits RSA', make(HOST, RSA, rsaRoot)],
    ['of 1024 bits RSA', make(HOST, SHORT, rsaRoot)],
    ['of 1960 bits RSA', make(HOST, { ...RSA, keySize: 1960 as 2048 }, rsaRoot)],
    ['of 2000 bits RSA', make(HOST, { ...RSA, keySize: 2000 as 2048 }, rsaRoot)],
    ['of 2040 bits RSA', make(HOST, { ...RSA, keySize: 2040 as 2048 }, rsaRoot)],
    [
      'whose intermediate has 1024 bits',
      make(HOST, RSA, await make('A short one', { ...SHORT, extensions: SIGNS }, rsaRoot)),
    ],
    ['signed with SHA-1', make(HOST, SHA1, issuer)],
    ['signed with SHA-1 in RSA', make(HOST, { ...RSA, ...SHA1 }, rsaRoot)],
    [
      'whose intermediate is signed with SHA-1',
      make(HOST, {}, await make('A weak one', { ...SHA1, extensions: SIGNS }, root)),
    ],
    ['of which only the root is signed with SHA-1', make(HOST, {}, root)],
    ['that has expired', make(HOST, days(-400, -35), issuer)],
    ['that has expired, for another name', make('example.net', days(-400, -35), issuer)],
    ['that is not yet valid', make(HOST, days(30, 60), issuer)],
    [
      'whose intermediate has expired',
      make(HOST, {}, await make('An old one', { ...days(-400, -35), extensions: SIGNS }, root)),
    ],
    ['that is self-signed', make(HOST, {})],
    ['that is self-signed and has expired', make(HOST, days(-400, -35))],
    ['of an untrusted authority', make(HOST, {}, await make('A stranger', { extensions: SIGNS }))],
    ['without its intermediate', { key: leaf.key, cert: first(leaf) }],
    ['with the root instead of its intermediate', { key: leaf.key, cert: first(leaf) + root.cert }],
    ['for another name', make('example.net', {}, issuer)],
    ['for a wildcard that does not match the name', make('*.example.com', {}, issuer)],
    ['with the name only in the subject', make(HOST, { extensions: [PLAIN] }, issuer)],
    [
      'with the name in the subject and another alternative name',
      make(HOST, { extensions: named('example.net') }, issuer),
    ],
    ['for clients', make(HOST, { extensions: [...named(HOST), { name: 'extKeyUsage', clientAuth: true }] }, issuer)],
    ['issued by a certificate that is not an authority', make(HOST, {}, await make('example.net', {}, issuer))],
  ]
  const made = rows.map(async ([what, row]): Promise<[string, Made]> => [what, await row])
  return { roots: root.cert + rsaRoot.cert, rows: await Promise.all(made) }
}

/** `above` null: self-signed. */
async function make(commonName: string, options: Options, above: Made | null = null): Promise<Made> {
  const made = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: named(commonName),
    ...days(-1, 30),
    ...(above !== null && { ca: { key: above.key, cert: first(above) } }),
    ...options,
  })
  return { key: made.private, cert: `${made.cert.trimEnd()}\n${above?.cert ?? ''}` }
}

function named(host: string): CertificateExtension[] {
  return [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }]
}

function days(from: number, to: number) {
  const now = Date.now()
  return { notBeforeDate: new Date(now + from * DAY), notAfterDate: new Date(now + to * DAY) }
}

function first({ cert }: Made): string {
  const next = cert.indexOf('-----BEGIN', 1)
  return next < 0 ? cert : cert.slice(0, next)
}
