/** Lists of certificate logs (version 3 of the schema that browsers use), by URL or from a file. */

import { createPublicKey, verify } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { errorCause, InputError } from '../../import/stream/input-error.ts'
import { isVettedTarget, publicOnly } from '../vetted-target.ts'
import type { LogGet } from './log/log-client.ts'
import { logIdOf, requireLogKey } from './log/tree-head.ts'
import { type CertificateLog, LogFault, LogUnavailable } from './log.ts'

/** States in which browsers accept the certificates of a log, so that certificates are submitted to it. */
const FOLLOWED_STATES = ['usable', 'qualified']
const MAX_LIST_BYTES = 16_777_216
const MAX_SIGNATURE_BYTES = 65_536
const MAX_LOGS = 1_000

/**
 * Reads a list. `keyPath`: a file with the public key (PEM) that signs the list; null to trust its source. The
 * signature is beside the list, with the ending `.sig`. Throws InputError if the list is unusable.
 */
export async function readLogList(source: string, keyPath: string | null, get: LogGet): Promise<CertificateLog[]> {
  const bytes = await readSource(source, MAX_LIST_BYTES, get)
  if (keyPath !== null) {
    const signature = await readSource(source.replace(/(\.json)?$/, '.sig'), MAX_SIGNATURE_BYTES, get)
    requireSignature(source, bytes, signature, keyPath)
  }
  const logs = parseLogList(source, bytes.toString('utf8'))
  if (isDownloaded(source)) requirePublicLogs(source, logs)
  if (logs.length === 0) throw new InputError(`${source} lists no log that is usable or qualified`)
  return logs
}

/** Whether somebody else may have written a list: a list in a file is the operator's, and may name any address. */
export function isDownloaded(source: string): boolean {
  return /^https?:\/\//.test(source)
}

function requirePublicLogs(source: string, logs: readonly CertificateLog[]): void {
  const mayConnect = publicOnly()
  const refused = logs.find(({ url }) => !isVettedTarget(new URL(url), mayConnect))
  if (refused === undefined) return
  const reason = 'which is no public address, or a port other than 80 and 443: a list in a file may name it'
  throw new InputError(`${source} has a log at ${refused.url.slice(0, 200)}, ${reason}`)
}

/** Returns the log at a URL: from the list, or with the key of a file (PEM). Throws InputError. */
export async function logAtUrl(
  url: string,
  { keyPath, listed, get }: { keyPath: string | null; listed: () => Promise<CertificateLog[]>; get: LogGet },
): Promise<CertificateLog> {
  const base = requireLogUrl(url)
  if (keyPath === null) {
    const known = (await listed()).find((log) => log.url === base)
    if (known !== undefined) return known
    throw new InputError(`${url} is not in the list of logs: name its key with --log-key`)
  }
  const key = readKey(keyPath)
  const kind = (await get(`${base}checkpoint`, MAX_SIGNATURE_BYTES)) === null ? 'rfc6962' : 'tiles'
  return { id: logIdOf(key), name: base, kind, url: base, key }
}

async function readSource(source: string, maxBytes: number, get: LogGet): Promise<Buffer> {
  if (!isDownloaded(source)) return readListFile(source, maxBytes)
  try {
    const bytes = await get(source, maxBytes)
    if (bytes !== null) return bytes
  } catch (error) {
    if (!(error instanceof LogUnavailable || error instanceof LogFault)) throw error
    throw new InputError(error.message)
  }
  throw new InputError(`${source} does not exist`)
}

function readListFile(path: string, maxBytes: number): Buffer {
  let bytes: Buffer
  try {
    bytes = readStart(path, maxBytes + 1)
  } catch (error) {
    throw new InputError(`${path} cannot be read: ${errorCause(error)}`)
  }
  if (bytes.length > maxBytes)
    throw new InputError(`${path} has more than ${maxBytes} bytes, the most that is accepted`)
  return bytes
}

/** The first bytes of a file, which may be a device. */
function readStart(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let left = maxBytes; left > 0; left -= pieces.at(-1)!.length) {
      const piece = Buffer.alloc(Math.min(left, 65_536))
      const bytes = readSync(file, piece)
      if (bytes === 0) break
      pieces.push(piece.subarray(0, bytes))
    }
    return Buffer.concat(pieces)
  } finally {
    closeSync(file)
  }
}

function requireSignature(source: string, list: Buffer, signature: Buffer, keyPath: string): void {
  let isValid = false
  try {
    isValid = verify('sha256', list, createPublicKey(readFileSync(keyPath)), signature)
  } catch (error) {
    throw new InputError(`${keyPath} cannot be used as a public key: ${errorCause(error)}`)
  }
  if (!isValid) throw new InputError(`${source} is not signed by the key in ${keyPath}: nothing of it is used`)
}

/** The DER of a public key in a PEM file. */
function readKey(path: string): Buffer {
  try {
    return createPublicKey(readFileSync(path)).export({ format: 'der', type: 'spki' })
  } catch (error) {
    throw new InputError(`${path} cannot be used as a public key: ${errorCause(error)}`)
  }
}

/** The logs in a followed state. Throws InputError if the list is not of the schema. */
function parseLogList(source: string, text: string): CertificateLog[] {
  const operators = parseOperators(source, text)
  const logs: CertificateLog[] = []
  for (const operator of operators) {
    const { logs: rfc6962, tiled_logs: tiled } = asObject(operator)
    for (const each of asList(rfc6962)) addLog(logs, source, 'rfc6962', each)
    for (const each of asList(tiled)) addLog(logs, source, 'tiles', each)
  }
  return logs
}

function parseOperators(source: string, text: string): unknown[] {
  try {
    const { operators } = asObject(JSON.parse(text))
    if (Array.isArray(operators)) return operators
  } catch {
    // reported below
  }
  throw new InputError(`${source} is not a list of certificate logs (version 3)`)
}

function addLog(logs: CertificateLog[], source: string, kind: CertificateLog['kind'], value: unknown): void {
  const { description, log_id: id, key, url, monitoring_url: monitoringUrl, state } = asObject(value)
  if (!FOLLOWED_STATES.some((each) => each in asObject(state))) return
  const address = kind === 'tiles' ? monitoringUrl : url
  if (typeof key !== 'string' || typeof address !== 'string')
    throw new InputError(`${source} has a log without a key or a URL: ${String(description).slice(0, 100)}`)
  if (logs.length === MAX_LOGS) throw new InputError(`${source} has more than ${MAX_LOGS} logs`)
  const der = Buffer.from(key, 'base64')
  if (logIdOf(der) !== id)
    throw new InputError(`${source} has a log whose ID is not that of its key: ${address.slice(0, 200)}`)
  const base = requireLogUrl(address)
  try {
    requireLogKey(der)
  } catch (error) {
    throw new InputError(`${source}, ${base}: ${(error as Error).message}`)
  }
  logs.push({ id: logIdOf(der), name: String(description ?? base).slice(0, 200), kind, url: base, key: der })
}

/** Returns the URL with a final slash. */
export function requireLogUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.password !== '')
    throw new InputError(`${text.slice(0, 200)} is not the URL of a log`)
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
