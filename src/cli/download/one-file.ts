/** Downloads one file to the path that the user names, or to standard output. */

import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DomaindexClient } from '../../../client/src/client.ts'
import { UsageFault } from '../../config/command-fault.ts'
import { startProgress } from '../program/progress.ts'
import { saveFile } from './save-file.ts'

/** A name that is safe as that of a file in a folder. */
const FILE_NAME = /^\w[\w.-]{0,200}$/

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
