/** `domaindex export`: writes what the store knows about all names as lines of a format. */

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Argument, type Command } from 'commander'
import { CommandFault } from '../config/command-fault.ts'
import { EXPORT_FORMATS, type ExportFormat, exportNames } from '../export/export.ts'
import { withJobLock } from '../jobs/job-lock.ts'
import { SYSTEM_CLOCK } from '../server/system-clock.ts'
import { processHolderName } from '../store/named-lock.ts'
import type { Store } from '../store/port/store.ts'
import { withExistingStore } from './program/existing-store.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

const EXPORT_HELP = `
observations: lines that domaindex import reads. They restore every state, the times of observation
and the current facts, except the text of start pages, which the store does not keep.
cof: passive DNS in the Common Output Format, one line per record and time in which it was seen.

The names are in byte order. The store may be in use, but a snapshot cannot be built meanwhile. A file
appears under its name when it is whole; if its name ends in .gz, it is gzipped.

Exit codes: 0 all names were written, 1 it failed or was stopped, 2 wrong usage.`

type ExportOptions = { output?: string; json?: true }
type ExportCounts = { names: number; lines: number }

export function defineExport(command: Command): void {
  command
    .addArgument(new Argument('<format>', 'the format of the lines').choices([...EXPORT_FORMATS]))
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--json', 'print one JSON object at the end: names and lines (needs --output)')
    .addHelpText('after', EXPORT_HELP)
    .action(runExport)
}

async function runExport(format: ExportFormat, { output, json }: ExportOptions): Promise<void> {
  if (json && output === undefined) throw new CommandFault('--json needs --output: standard output has the lines')
  const stop = listenForStop()
  const progress = startProgress('names')
  try {
    const written = await withExistingStore('write', (store) =>
      exportStore(store, format, output, stop.signal, progress),
    )
    progress.end()
    if (json) console.log(JSON.stringify(written))
    else if (output !== undefined) console.log(`wrote ${written.lines} lines of ${written.names} names to ${output}`)
  } catch (error) {
    if (isClosedPipe(error)) return // the reader has what it wanted
    if (!stop.signal.aborted) throw error
    console.error('stopped before the end; no file was written')
    process.exitCode = 1
  } finally {
    progress.end()
    stop.end()
  }
}

/** Holds the lock of snapshots, because a store has one listing at a time. */
async function exportStore(
  store: Store,
  format: ExportFormat,
  output: string | undefined,
  stopped: AbortSignal,
  progress: Pick<ReturnType<typeof startProgress>, 'show'>,
): Promise<ExportCounts> {
  const owner = { jobs: store.jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
  const done = await withJobLock('snapshot', owner, stopped, async ({ signal }) => {
    const listing = await store.listing.start({ signal })
    const counts: ExportCounts = { names: 0, lines: 0 }
    async function* pieces() {
      for await (const { text, names, lines } of exportNames(store, listing, format, signal)) {
        counts.names += names
        counts.lines += lines
        progress.show(counts.names, listing.estimatedNames ? Math.min(1, counts.names / listing.estimatedNames) : null)
        yield text
      }
    }
    try {
      await (output === undefined ? pipeline(pieces(), standardOutput()) : writeFile(output, pieces()))
    } finally {
      await listing.close()
    }
    return counts
  })
  if (done === null) throw new CommandFault('a snapshot or another export is running: wait until it has finished')
  return done.result
}

/** Writes a file under a temporary name, and renames it when it is whole. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.${process.pid}.part`
  try {
    const file = createWriteStream(temporary, { flush: true, mode: 0o644 })
    await (path.endsWith('.gz') ? pipeline(pieces, createGzip(), file) : pipeline(pieces, file))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    const { syscall, message } = error as NodeJS.ErrnoException
    throw syscall === undefined ? error : new CommandFault(`${path}: cannot be written: ${message}`)
  }
}

/**
 * Standard output as a stream that can end without closing it. If the reader closes it, the write fails, so that the
 * lock is released before the process ends.
 */
function standardOutput(): Writable {
  process.stdout.removeAllListeners('error').on('error', () => {})
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void process.stdout.write(chunk, done),
  })
}

/** Whether the reader of standard output has closed it. */
function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE'
}
