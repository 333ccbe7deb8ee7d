/** The lab's certificate log: one tree, served as static tiles and by RFC 6962, with faults that can be switched on. */

import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { listenAsLog } from './listen.ts'
import { consistencyOf, leafHashOf, pathOf, rootOf } from './tree.ts'

/** An entry: a certificate, or the TBSCertificate of a precertificate. `at`: milliseconds. */
export type LabEntry = { der: Buffer; isTbs: boolean; at: number }

/**
 * `tamperedTile`: changes a byte of this path. `splitView`: signs another root. `wrongKey`: signs with another key.
 * `status`, `retryAfter`: answers with this status. `maxEntries`: get-entries returns at most so many. `withoutPartials`:
 * removes partial tiles whose full one exists. `headSize`: serves an older head. `headTime`: signs it with this
 * time, in milliseconds.
 */
export type LogFaults = {
  tamperedTile?: RegExp
  splitView?: boolean
  wrongKey?: boolean
  status?: number
  retryAfter?: number
  maxEntries?: number
  withoutPartials?: boolean
  headSize?: number
  headTime?: number
}

export type LabLog = {
  url: string
  /** SubjectPublicKeyInfo, DER. */
  key: Buffer
  entries: LabEntry[]
  faults: LogFaults
  requests: string[]
  close(): Promise<void>
}

const TILE = 256
/** A vector with its length before it (RFC 8446, section 3.4). */
export const vector = (bytes: Uint8Array, lengthBytes: number): Buffer => {
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(bytes.length, 0, lengthBytes)
  return Buffer.concat([length, bytes])
}

/** A TimestampedEntry (RFC 6962, section 3.4). */
export function timestamped({ der, isTbs, at }: LabEntry): Buffer {
  const head = Buffer.alloc(10)
  head.writeBigUInt64BE(BigInt(at))
  head.writeUInt16BE(isTbs ? 1 : 0, 8)
  return Buffer.concat([
    head,
    isTbs ? Buffer.alloc(32, 7) : Buffer.alloc(0),
    vector(der, 3),
    vector(Buffer.alloc(0), 2),
  ])
}

const leafOf = (entry: LabEntry): Buffer => Buffer.concat([Buffer.from([0, 0]), timestamped(entry)])

/** An entry of a data tile, with a chain of one certificate. */
function tileEntry(entry: LabEntry): Buffer {
  const precertificate = entry.isTbs ? vector(entry.der, 3) : Buffer.alloc(0)
  return Buffer.concat([timestamped(entry), precertificate, vector(Buffer.alloc(32, 9), 2)])
}

export async function startCertificateLog(
  entries: LabEntry[],
  { algorithm = 'ec' as 'ec' | 'rsa', now = Date.now } = {},
): Promise<LabLog> {
  const makeKeys = () =>
    algorithm === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      : generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const keys = [makeKeys(), makeKeys()]
  const { url, close } = await listenAsLog((request, response) =>
    answer(
      log,
      keys.map(({ privateKey }) => privateKey),
      now,
      request,
      response,
    ),
  )
  const log: LabLog = {
    url: `${url}log/`,
    key: keys[0]!.publicKey.export({ format: 'der', type: 'spki' }),
    entries,
    faults: {},
    requests: [],
    close,
  }
  return log
}

type Head = { size: number; root: Buffer; at: number; signature: Buffer }

function signedHead({ entries, faults }: LabLog, [key, otherKey]: KeyObject[], now: () => number): Head {
  const size = faults.headSize ?? entries.length
  const hashes = entries.slice(0, size).map((entry) => leafHashOf(leafOf(entry)))
  if (faults.splitView) hashes[0] = Buffer.alloc(32, 1)
  const [root, at] = [rootOf(hashes), faults.headTime ?? now()]
  const signed = Buffer.alloc(50)
  signed[1] = 1
  signed.writeBigUInt64BE(BigInt(at), 2)
  signed.writeBigUInt64BE(BigInt(size), 10)
  root.copy(signed, 18)
  const chosen = faults.wrongKey ? otherKey! : key!
  const bytes = createSign('sha256').update(signed).sign(chosen)
  const signature = Buffer.concat([Buffer.from([4, key!.asymmetricKeyType === 'rsa' ? 1 : 3]), vector(bytes, 2)])
  return { size, root, at, signature }
}

function answer(
  log: LabLog,
  keys: KeyObject[],
  now: () => number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const path = request.url!.slice('/log/'.length)
  log.requests.push(path)
  const { status, retryAfter, tamperedTile } = log.faults
  if (status !== undefined)
    return void response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }).end()
  const body = path.startsWith('ct/v1/')
    ? rfc6962(log, keys, now, new URL(request.url!, 'http://x'))
    : tiles(log, keys, now, path)
  if (body === null) return void response.writeHead(404).end()
  if (tamperedTile?.test(path)) body[Math.floor(body.length / 2)]! ^= 1
  if (path.startsWith('tile/data/')) response.setHeader('content-encoding', 'gzip').end(gzipSync(body))
  else response.end(body)
}

function rfc6962(log: LabLog, keys: KeyObject[], now: () => number, { pathname, searchParams }: URL): Buffer | null {
  const hashes = (size: number): Buffer[] => log.entries.slice(0, size).map((entry) => leafHashOf(leafOf(entry)))
  const number = (name: string): number => Number(searchParams.get(name))
  const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
  const base64 = (each: Buffer): string => each.toString('base64')
  switch (pathname.split('/').at(-1)) {
    case 'get-sth': {
      const { size, root, at, signature } = signedHead(log, keys, now)
      return text({
        tree_size: size,
        timestamp: at,
        sha256_root_hash: base64(root),
        tree_head_signature: base64(signature),
      })
    }
    case 'get-entries': {
      const end = Math.min(number('end') + 1, number('start') + (log.faults.maxEntries ?? 256))
      const found = log.entries
        .slice(number('start'), end)
        .map((entry) => ({ leaf_input: base64(leafOf(entry)), extra_data: '' }))
      if (log.faults.tamperedTile?.test('get-entries') && found[3])
        found[3].leaf_input = base64(leafOf({ ...log.entries[0]!, at: 5 }))
      return text({ entries: found })
    }
    case 'get-sth-consistency':
      return text({ consistency: consistencyOf(number('first'), hashes(number('second'))).map(base64) })
    case 'get-proof-by-hash': {
      const all = hashes(number('tree_size'))
      const index = all.findIndex((hash) => base64(hash) === searchParams.get('hash'))
      return index < 0 ? null : text({ leaf_index: index, audit_path: pathOf(index, all).map(base64) })
    }
    default:
      return null
  }
}

function tiles(log: LabLog, keys: KeyObject[], now: () => number, path: string): Buffer | null {
  if (path === 'checkpoint') return checkpoint(log, keys, now)
  const [, level = '', place = '', partial] = /^tile\/(data|\d+)\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d+))?$/.exec(path) ?? []
  if (place === '') return null
  const tile = Number(place.replaceAll(/[x/]/g, ''))
  const size = level === 'data' ? log.entries.length : Math.floor(log.entries.length / TILE ** Number(level))
  const width = partial === undefined ? TILE : Number(partial)
  if (tile * TILE + width > size || width > TILE) return null
  if (partial !== undefined && log.faults.withoutPartials && (tile + 1) * TILE <= size) return null
  if (level === 'data') return Buffer.concat(log.entries.slice(tile * TILE, tile * TILE + width).map(tileEntry))
  const span = TILE ** Number(level)
  const nodes = Array.from({ length: width }, (_, index) => (tile * TILE + index) * span)
  return Buffer.concat(
    nodes.map((at) => rootOf(log.entries.slice(at, at + span).map((entry) => leafHashOf(leafOf(entry))))),
  )
}

/** A signed note (c2sp.org/signed-note) with the signature of static-ct-api. */
function checkpoint(log: LabLog, keys: KeyObject[], now: () => number): Buffer {
  const { size, root, at, signature } = signedHead(log, keys, now)
  const origin = 'lab.test/log'
  const logId = createHash('sha256').update(log.key).digest()
  const keyId = createHash('sha256')
    .update(`${origin}\n`)
    .update(Buffer.from([5]))
    .update(logId)
    .digest()
    .subarray(0, 4)
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(at))
  const line = Buffer.concat([keyId, time, signature]).toString('base64')
  return Buffer.from(`${origin}\n${size}\n${root.toString('base64')}\n\n— other AAAAAAAA\n— ${origin} ${line}\n`)
}
