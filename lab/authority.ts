/** The certificates of the lab, valid and invalid, issued at start by its own authority. */

import { generate } from 'selfsigned'

/**
 * The kinds of certificates. `valid`: correct, sent with its chain. `wildcard`: only `*.` and the name. `subject_only`: the
 * name is only in the subject. `untrusted`: from an untrusted authority. `incomplete`: sent without its intermediate.
 * `leaf`: issued by a certificate that is not an authority. `client`: for clients only. `weak`: signed with SHA-1.
 */
export type Kind =
  | 'valid'
  | 'wildcard'
  | 'subject_only'
  | 'expired'
  | 'not_yet_valid'
  | 'self'
  | 'untrusted'
  | 'other'
  | 'incomplete'
  | 'leaf'
  | 'client'
  | 'weak'

/** PEM texts. `cert` is what a server sends: its own certificate first, then the chain. */
export type Identity = { key: string; cert: string }

/** `root`: PEM. `identity`: returns one certificate of a kind for all given hosts. */
export type Authority = { root: string; identity(kind: Kind, hosts: readonly string[]): Promise<Identity> }

type LeafOptions = {
  hosts: readonly string[]
  from?: number
  to?: number
  client?: boolean
  bare?: boolean
  weak?: boolean
}

const DAY = 86_400_000
const YEAR = 365 * DAY

/** Creates a root and an intermediate. Certificates are valid from `now` (milliseconds). */
export async function makeAuthority(now: number): Promise<Authority> {
  const root = await makeIssuer('Lab Root', now)
  const intermediate = await makeIssuer('Lab Intermediate', now, root)
  const sign = async (options: LeafOptions, issuer: Identity | null = intermediate): Promise<Identity> => {
    const leaf = await makeLeaf(options, now, issuer)
    return issuer === intermediate ? { key: leaf.key, cert: leaf.cert + intermediate.cert } : leaf
  }
  return { root: root.cert, identity: (kind, hosts) => MAKERS[kind]({ hosts, sign, now }) }
}

type Sign = (options: LeafOptions, issuer?: Identity | null) => Promise<Identity>
type Order = { hosts: readonly string[]; sign: Sign; now: number }

const MAKERS: Record<Kind, (order: Order) => Promise<Identity>> = {
  valid: ({ hosts, sign }) => sign({ hosts }),
  wildcard: ({ hosts, sign }) => sign({ hosts: hosts.map((host) => `*.${host}`) }),
  subject_only: ({ hosts, sign }) => sign({ hosts, bare: true }),
  expired: ({ hosts, sign }) => sign({ hosts, from: -400 * DAY, to: -35 * DAY }),
  not_yet_valid: ({ hosts, sign }) => sign({ hosts, from: 30 * DAY, to: YEAR }),
  self: ({ hosts, sign }) => sign({ hosts }, null),
  untrusted: async ({ hosts, sign, now }) => sign({ hosts }, await makeIssuer('Stranger Root', now)),
  other: ({ sign }) => sign({ hosts: ['somebody-else.example'] }),
  incomplete: async ({ hosts, sign }) => firstOnly(await sign({ hosts })),
  leaf: ({ hosts, sign }) => signedByLeaf(hosts, sign),
  client: ({ hosts, sign }) => sign({ hosts, client: true }),
  weak: ({ hosts, sign }) => sign({ hosts, weak: true }),
}

function firstOnly({ key, cert }: Identity): Identity {
  return { key, cert: cert.slice(0, cert.indexOf('-----BEGIN', 1)) }
}

async function signedByLeaf(hosts: readonly string[], sign: Sign): Promise<Identity> {
  const between = await sign({ hosts: ['no-authority.example'] })
  const { key, cert } = await sign({ hosts }, firstOnly(between))
  return { key, cert: cert + between.cert }
}

/** Creates the certificate of an authority, or a root without `issuer`. */
async function makeIssuer(commonName: string, now: number, issuer?: Identity): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: commonName }], {
    ...curve(now - DAY, now + 10 * YEAR),
    ...(issuer !== undefined && { ca: issuer }),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return { key, cert: ended(cert) }
}

async function makeLeaf(options: LeafOptions, now: number, issuer: Identity | null): Promise<Identity> {
  const { hosts, from = -DAY, to = YEAR, client = false, bare = false, weak = false } = options
  const { private: key, cert } = await generate([{ name: 'commonName', value: hosts[0] ?? 'nobody' }], {
    ...curve(now + from, now + to),
    ...(weak && { algorithm: 'sha1' }),
    ...(issuer !== null && { ca: issuer }),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: !client, clientAuth: client },
      ...(bare
        ? []
        : [{ name: 'subjectAltName' as const, altNames: hosts.map((value) => ({ type: 2 as const, value })) }]),
    ],
  })
  return { key, cert: ended(cert) }
}

function curve(notBefore: number, notAfter: number) {
  const days = { notBeforeDate: new Date(notBefore), notAfterDate: new Date(notAfter) }
  return { keyType: 'ec' as const, curve: 'P-256' as const, algorithm: 'sha256', ...days }
}

/** Ends a PEM block with a line break, so that blocks can be joined. */
function ended(pem: string): string {
  return `${pem.trimEnd()}\n`
}
