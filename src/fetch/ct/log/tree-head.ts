/** Signed tree heads of certificate logs: as JSON (RFC 6962, section 4.3) and as checkpoints (static-ct-api). Pure. */

import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'
import type { Instant } from '../../../values/time.ts'
import { type CertificateLog, LogFault } from '../log.ts'
import { HASH_BYTES } from './merkle-tree.ts'

/** A verified head. `time`: when the log signed it. */
export type TreeHead = { size: number; root: Buffer; time: Instant }

/** The type of a note signature that contains a signed tree head (static-ct-api, Checkpoints). */
const NOTE_SIGNATURE_TYPE = 5
const MAX_CHECKPOINT_SIGNATURES = 64
/** SHA-256 with RSA or ECDSA (RFC 5246, section 7.4.1.4.1). */
const SHA256_CODE = 4
const SIGNATURE_CODES: Readonly<Record<string, number>> = { rsa: 1, ec: 3 }

/** Returns the ID of a log: the SHA-256 of its key, base64. */
export function logIdOf(key: Uint8Array): string {
  return hash('sha256', key, 'base64')
}

/** Throws LogFault unless the key is one that logs use: ECDSA with P-256, or RSA with 2,048 bits or more. */
export function requireLogKey(der: Buffer): KeyObject {
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
    if (namedCurve === 'prime256v1' || (key.asymmetricKeyType === 'rsa' && modulusLength >= 2_048)) return key
  } catch {
    // reported below
  }
  throw new LogFault('its key is neither ECDSA with P-256 nor RSA')
}

/** Parses the response of get-sth. Throws LogFault if it is invalid or its signature is wrong. */
export function parseSignedTreeHead(log: CertificateLog, text: string): TreeHead {
  const sth = parseJson(text)
  const { tree_size: size, timestamp, sha256_root_hash: root, tree_head_signature: signature } = sth
  if (!isSize(size) || !isSize(timestamp) || typeof root !== 'string' || typeof signature !== 'string')
    throw new LogFault('its tree head is not one of RFC 6962')
  const head = { size, root: Buffer.from(root, 'base64'), milliseconds: timestamp }
  return verifiedHead(log, head, Buffer.from(signature, 'base64'))
}

/** Parses a checkpoint, a signed note. Throws LogFault if it is invalid or has no valid signature of the log. */
export function parseCheckpoint(log: CertificateLog, text: string): TreeHead {
  const end = text.indexOf('\n\n')
  const [origin = '', sizeText = '', root = ''] = text.slice(0, end).split('\n')
  if (end < 0 || origin === '' || !/^(0|[1-9]\d{0,15})$/.test(sizeText))
    throw new LogFault('its checkpoint is malformed')
  const keyId = hash('sha256', noteKeyBytes(origin, log), 'buffer').subarray(0, 4)
  for (const line of text
    .slice(end + 2)
    .split('\n')
    .slice(0, MAX_CHECKPOINT_SIGNATURES)) {
    const [dash, name, base64 = ''] = line.split(' ')
    const bytes = Buffer.from(base64, 'base64')
    if (dash !== '—' || name !== origin || !bytes.subarray(0, 4).equals(keyId) || bytes.length < 12) continue
    const milliseconds = Number(bytes.readBigUInt64BE(4))
    const head = { size: Number(sizeText), root: Buffer.from(root, 'base64'), milliseconds }
    return verifiedHead(log, head, bytes.subarray(12))
  }
  throw new LogFault('its checkpoint has no signature of its key')
}

function noteKeyBytes(origin: string, { id }: CertificateLog): Buffer {
  return Buffer.concat([Buffer.from(`${origin}\n`), Buffer.from([NOTE_SIGNATURE_TYPE]), Buffer.from(id, 'base64')])
}

/** `signature`: a DigitallySigned of the tree head (RFC 6962, section 3.5). */
function verifiedHead(
  log: CertificateLog,
  { size, root, milliseconds }: { size: number; root: Buffer; milliseconds: number },
  signature: Buffer,
): TreeHead {
  const key = requireLogKey(log.key)
  const signed = Buffer.alloc(18 + HASH_BYTES)
  signed[1] = 1 // version 1, a tree hash
  signed.writeBigUInt64BE(BigInt(milliseconds), 2)
  signed.writeBigUInt64BE(BigInt(size), 10)
  root.copy(signed, 18)
  const isForm =
    root.length === HASH_BYTES &&
    signature.length > 4 &&
    signature[0] === SHA256_CODE &&
    signature[1] === SIGNATURE_CODES[key.asymmetricKeyType!] &&
    signature.readUInt16BE(2) === signature.length - 4
  if (!isForm || !verify('sha256', signed, key, signature.subarray(4)))
    throw new LogFault('the signature of its tree head is wrong')
  return { size, root, time: Math.floor(milliseconds / 1000) }
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // reported below
  }
  throw new LogFault('its tree head is not JSON')
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
