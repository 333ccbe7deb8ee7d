/**
 * Saves a file of a server: resumes an earlier part, and renames it when its digest is verified; or writes it to
 * standard output.
 */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type DomaindexClient, type Download, DownloadError, type Resume } from '../../../client/src/client.ts'
import { UsageFault } from '../../config/command-fault.ts'
import { startProgress } from '../program/output.ts'

/** A name that is safe as that of a file in a folder. */
const FILE_NAME = /^\w[\w.-]{0,200}$/

type SaveOptions = { signal: AbortSignal; progress: Pick<ReturnType<typeof startProgress>, 'show'> }

/** Bytes are counted for the user in this unit. */
const MEGABYTE = 1_000_000

/**
 * Downloads the file `name` to `path` and returns its size in bytes. Until it is complete, its bytes are in
 * `PATH.ETAG.part`, which a later call continues. Throws the errors of the client library.
 */
export async function saveFile(
  client: DomaindexClient,
  name: string,
  path: string,
  { signal, progress }: SaveOptions,
): Promise<number> {
  await mkdir(dirname(path), { recursive: true })
  const resume = await readResume(path)
  const download = await client.downloadFile(name, { signal, resume }).catch((error) => {
    if (!(error instanceof DownloadError) || resume === undefined) throw error
    removeParts(path)
    return client.downloadFile(name, { signal })
  })
  if (resume?.etag !== download.etag) removeParts(path)
  const part = partPath(path, download.etag)
  const bytes = await writePart(download, part, resume?.etag === download.etag ? resume.from : 0, progress)
  await rename(part, path)
  return bytes
}

/** Writes the rest of a file behind its first `from` bytes. Removes the part if its digest is wrong. */
async function writePart(
  { body, size, filename }: Download,
  part: string,
  from: number,
  progress: SaveOptions['progress'],
): Promise<number> {
  const file = await open(part, from > 0 ? 'a' : 'w', 0o600)
  try {
    let bytes = from
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      await writeAll(file, chunk)
      bytes += chunk.length
      progress.show(Math.floor(bytes / MEGABYTE), size === null ? null : bytes / size, { more: filename })
    }
    if ((await file.stat()).size !== bytes)
      throw new DownloadError('digest_mismatch', `Another process writes to ${part}: run the command again.`)
    await file.sync()
    return bytes
  } catch (error) {
    if (error instanceof DownloadError) rmSync(part, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

/** The part file of a path. An entity tag with other characters is not kept, so that the part starts anew. */
function partPath(path: string, etag: string): string {
  const [, text = ''] = /^"([\w-]{1,100})"$/.exec(etag) ?? []
  return `${path}.${text}.part`
}

function partNames(path: string): string[] {
  const start = `${basename(path)}.`
  return readdirSync(dirname(path)).filter((name) => name.startsWith(start) && /\.[\w-]*\.part$/.test(name))
}

function removeParts(path: string): void {
  for (const name of partNames(path)) rmSync(join(dirname(path), name), { force: true })
}

/** What is there of an earlier download; undefined if there is none. */
async function readResume(path: string): Promise<Resume | undefined> {
  for (const name of partNames(path)) {
    const [, etag] = /\.([\w-]+)\.part$/.exec(name) ?? []
    const part = join(dirname(path), name)
    const from = existsSync(part) ? statSync(part).size : 0
    if (etag === undefined || from === 0) continue
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(part, { end: from - 1 })) hash.update(chunk)
    return { from, etag: `"${etag}"`, hash }
  }
  return undefined
}

/** Throws UsageFault if the bytes of a file would go to a terminal. */
export function requireFileOutput(output: string | undefined): void {
  if (output === '-' && process.stdout.isTTY)
    throw new UsageFault('the file is compressed: name another --output, or pipe standard output to gunzip')
}

/** Returns the path and its size in bytes; null if the file went to standard output. */
export async function downloadOneFile(
  client: DomaindexClient,
  name: string,
  output: string | undefined,
  signal: AbortSignal,
): Promise<{ path: string; bytes: number } | null> {
  if (!FILE_NAME.test(name)) throw new UsageFault('the server gave a file name that is not safe: name an --output')
  const progress = startProgress('MB')
  try {
    if (output === '-') return await writeToStandardOutput(client, name, signal)
    const path = outputPath(name, output)
    return { path, bytes: await saveFile(client, name, path, { signal, progress }) }
  } finally {
    progress.end()
  }
}

async function writeToStandardOutput(client: DomaindexClient, name: string, signal: AbortSignal): Promise<null> {
  const { body } = await client.downloadFile(name, { signal })
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
  return null
}

/** In a folder, the file keeps its name. */
function outputPath(name: string, output: string | undefined): string {
  if (output === undefined) return name
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? join(output, name) : output
}
