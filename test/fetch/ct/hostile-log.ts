/** Certificate logs with a valid tree whose entries and bodies are as large as a hostile log can make them. */

import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listenAsLog } from '../../../lab/certificate-log/listen.ts'
import { consistencyOf, leafHashOf, pathOf, rootOf } from '../../../lab/certificate-log/tree.ts'

const TILE = 256
const MEBIBYTE = 2 ** 20
/** Below the 16 MiB that a certificate of an entry can have. */
export const HUGE_CERTIFICATE = Buffer.alloc(15 * MEBIBYTE, 0x30)

/**
 * `certificates`: of the entries in turn, as TBSCertificates. `entries`: size of the tree. `perResponse`: entries that
 * get-entries returns. `isPlain`: without gzip. `bodies`: other bodies, by a part of the path.
 */
export type HostileLog = {
  kind: 'tiles' | 'rfc6962'
  certificates: readonly Buffer[]
  entries: number
  perResponse?: number
  isPlain?: boolean
  bodies?: Readonly<Record<string, Buffer>>
}

/** Prefixes the length, as DER does. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const head = Buffer.from([tag, 0x83, 0, 0, 0])
  head.writeUIntBE(content.length, 2, 3)
  return Buffer.concat([head, content])
}

/** A TBSCertificate of nothing but its names. */
export function certificateOf(names: readonly (string | Buffer)[]): Buffer {
  const list = der(0x30, ...names.map((name) => der(0x82, Buffer.from(name as string))))
  return der(0x30, der(0xa3, der(0x30, der(0x30, Buffer.from([6, 3, 0x55, 0x1d, 0x11]), der(4, list)))))
}

/** Certificates of distinct registrable domains. */
export function certificatesOfManyNames(count: number, names: number, prefix: string): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    certificateOf(Array.from({ length: names }, (_, name) => `www.${prefix}${index * names + name}.test`)),
  )
}

const vector = (bytes: Uint8Array, lengthBytes: number): Buffer => {
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(bytes.length, 0, lengthBytes)
  return Buffer.concat([length, bytes])
}

/** A TimestampedEntry of a precertificate (RFC 6962, section 3.4). */
function timestamped(certificate: Buffer): Buffer {
  const head = Buffer.alloc(42, 7)
  head.writeBigUInt64BE(BigInt(Date.UTC(2026, 10, 20)))
  head.writeUInt16BE(1, 8)
  return Buffer.concat([head, vector(certificate, 3), Buffer.alloc(2)])
}

/** What logs with the same certificates share: the entries, their hashes, and packed bodies by name. */
type Prepared = { leaves: Buffer[]; pool: Buffer[]; packed: Map<string, Buffer> }
const preparedOf = new WeakMap<readonly Buffer[], Prepared>()

function prepare(certificates: readonly Buffer[]): Prepared {
  const known = preparedOf.get(certificates)
  if (known !== undefined) return known
  const leaves = certificates.map(timestamped)
  const pool = leaves.map((leaf) => leafHashOf(Buffer.concat([Buffer.alloc(2), leaf])))
  const prepared = { leaves, pool, packed: new Map() }
  preparedOf.set(certificates, prepared)
  return prepared
}

export async function startHostileLog(t: TestContext, log: HostileLog): Promise<{ url: string; key: Buffer }> {
  const { kind, certificates, entries, perResponse = 3, isPlain = false, bodies = {} } = log
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = publicKey.export({ format: 'der', type: 'spki' })
  const { leaves, pool, packed } = prepare(certificates)
  const hashes = Array.from({ length: entries }, (_, index) => pool[index % pool.length]!)
  const sign = headSigner(privateKey, entries, rootOf(hashes))
  const packOnce = (name: string, make: () => Buffer): Buffer => {
    if (!packed.has(name)) packed.set(name, isPlain ? make() : gzipSync(make(), { level: 1 }))
    return packed.get(name)!
  }
  const entriesFrom = (start: number, end: number): string[] =>
    Array.from({ length: Math.min(end + 1, start + perResponse, entries) - start }, (_, at) =>
      Buffer.concat([Buffer.alloc(2), leaves[(start + at) % leaves.length]!]).toString('base64'),
    )
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
  const answers: Record<string, (query: URLSearchParams) => Buffer> = {
    'get-sth': () => json(sign.sth()),
    'get-entries': (query) => {
      const start = Number(query.get('start'))
      const end = Number(query.get('end'))
      return packOnce(`${start % leaves.length} ${Math.min(end, start + perResponse - 1, entries - 1) - start}`, () =>
        json({ entries: entriesFrom(start, end).map((leaf) => ({ leaf_input: leaf, extra_data: '' })) }),
      )
    },
    'get-sth-consistency': (query) =>
      json({ consistency: consistencyOf(Number(query.get('first')), hashes).map((each) => each.toString('base64')) }),
    'get-proof-by-hash': () => json({ leaf_index: 0, audit_path: pathOf(0, hashes).map(String) }),
  }
  const tile = (level: string, place: number, width: number): Buffer => {
    if (level === 'data')
      return packOnce(`tile ${(place * TILE) % leaves.length} ${width}`, () =>
        Buffer.concat(
          Array.from({ length: width }, (_, at) =>
            Buffer.concat([leaves[(place * TILE + at) % leaves.length]!, Buffer.alloc(3), Buffer.alloc(2)]),
          ),
        ),
      )
    const span = TILE ** Number(level)
    return Buffer.concat(
      Array.from({ length: width }, (_, at) => rootOf(hashes.slice((place * TILE + at) * span).slice(0, span))),
    )
  }
  const { url, close } = await listenAsLog((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://log.test')
    const other = Object.entries(bodies).find(([part]) => pathname.includes(part))
    if (other !== undefined) return void response.setHeader('content-encoding', 'gzip').end(other[1])
    if (kind === 'tiles' && pathname === '/checkpoint') return void response.end(sign.checkpoint(key))
    const [, level, path = '', width = String(TILE)] =
      /^\/tile\/(data|\d+)\/([x\d/]+?)(?:\.p\/(\d+))?$/.exec(pathname) ?? []
    const answer = answers[pathname.split('/').at(-1)!]
    if (kind === 'tiles' ? level === undefined : answer === undefined) return void response.writeHead(404).end()
    const body =
      kind === 'tiles' ? tile(level!, Number(path.replaceAll(/[x/]/g, '')), Number(width)) : answer!(searchParams)
    if ((level === 'data' || pathname.endsWith('get-entries')) && !isPlain)
      response.setHeader('content-encoding', 'gzip')
    response.end(body)
  })
  t.after(close)
  return { url, key }
}

/** Signs the only head of a log, in both of its forms. */
function headSigner(privateKey: Parameters<ReturnType<typeof createSign>['sign']>[0], size: number, root: Buffer) {
  const signed = Buffer.alloc(50)
  const at = Date.UTC(2026, 10, 20)
  signed[1] = 1
  signed.writeBigUInt64BE(BigInt(at), 2)
  signed.writeBigUInt64BE(BigInt(size), 10)
  root.copy(signed, 18)
  const signature = Buffer.concat([
    Buffer.from([4, 3]),
    vector(createSign('sha256').update(signed).sign(privateKey), 2),
  ])
  return {
    sth: () => ({
      tree_size: size,
      timestamp: at,
      sha256_root_hash: root.toString('base64'),
      tree_head_signature: signature.toString('base64'),
    }),
    checkpoint(key: Buffer): string {
      const origin = 'hostile.test'
      const id = createHash('sha256').update(key).digest()
      const keyId = createHash('sha256').update(`${origin}\n\u0005`).update(id).digest().subarray(0, 4)
      const line = Buffer.concat([keyId, signed.subarray(2, 10), signature]).toString('base64')
      return `${origin}\n${size}\n${root.toString('base64')}\n\n— ${origin} ${line}\n`
    },
  }
}
