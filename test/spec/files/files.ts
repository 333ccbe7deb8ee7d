/** Files for the specification's tests: published in the world's file store, and downloaded as bytes. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type FileDescription, type FileManifest, parseFileName } from '../../../src/jobs/file-store/file-store.ts'
import { type Instant, parseInstant } from '../../../src/values/time.ts'
import type { World } from '../world.ts'

/** The default build time of files. */
export const BUILT = parseInstant('2026-11-20T02:00:00Z')!

export type Fetched = { status: number; headers: Headers; bytes: Buffer }

/** Publishes a file. */
export async function publish(
  { fileStore }: World,
  text: string,
  content: Uint8Array,
  given: Partial<FileDescription> = {},
): Promise<FileManifest> {
  const { name } = parseFileName(text)!
  const description = {
    generated: BUILT,
    rows: 0,
    plain_bytes: 0,
    plain_sha256: '',
    first: null,
    last: null,
    held: null,
  }
  return fileStore.publish(
    name,
    (async function* () {
      yield content
    })(),
    () => ({ ...description, ...given }),
  )
}

/** A gzipped list. */
export function listOf(...names: string[]): Buffer {
  return gzipSync(names.map((name) => `${name}\n`).join(''))
}

/** Bytes without a pattern. */
export function noise(length: number, seed = 'seed'): Buffer {
  return createHash('shake256', { outputLength: length }).update(seed).digest()
}

export async function fetchFile(world: World, path: string, how: RequestInit = {}): Promise<Fetched> {
  const response = await fetch(`${world.address}${path}`, how)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes }
}

export function post(parameters: object, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body: JSON.stringify(parameters), headers }
}

/** Asserts that the whole file was sent, with this name. */
export function assertWhole({ status, headers, bytes }: Fetched, content: Uint8Array, disposition: string): void {
  assert.equal(status, 200)
  assert.ok(bytes.equals(content))
  assert.equal(headers.get('content-type'), 'application/gzip')
  assert.equal(headers.get('content-length'), String(content.length))
  assert.equal(headers.get('content-disposition'), disposition)
  assert.equal(headers.get('content-encoding'), null)
}

export const httpDate = (instant: Instant): string => new Date(instant * 1000).toUTCString()
