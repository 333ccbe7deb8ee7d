/** `domaindex export`: writes what the store knows about all names, as lines or as a Parquet file. */

import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Argument, type Command } from 'commander'
import { CommandFault, PARTLY_DONE, UsageFault } from '../../config/command-fault.ts'
import { LINE_FORMATS, type LineFormat, linesOfName, nameHistories } from '../../export/export.ts'
import type { NameHistory } from '../../export/name-history.ts'
import type { ParquetTable } from '../../export/parquet.ts'
import { withJobLock } from '../../jobs/job-lock.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { listenForStop, startProgress } from '../program/output.ts'

const EXPORT_HELP = `
observations: lines that domaindex import reads. They restore every state of the DNS records, the website
and the certificate, the times of observation and the current facts, except the text of start pages and
the social accounts of the past, which the store does not keep, and the certificates of logs.
cof: passive DNS in the Common Output Format, one line per record and time in which it was seen.
parquet: a table of the current facts, one row per name (needs --output).
parquet-history: a table of the DNS history, one row per state of a record type (needs --output).

The names are in byte order. The store may be in use, but a snapshot cannot be built meanwhile. A file
appears under its name when it is whole. Lines are gzipped if its name ends in .gz.

Exit codes: 0 all names were written, 1 it failed or was stopped, 2 wrong usage, 3 names are missing that
were changed during every try to read them.`

/** The formats that are tables, by the table. */
const TABLE_FORMATS: Readonly<Record<string, ParquetTable>> = { parquet: 'facts', 'parquet-history': 'states' }
type ExportFormat = LineFormat | 'parquet' | 'parquet-history'
type ExportOptions = { output?: string; json?: true }
/** `unread`: names that are missing, because they were written during every try to read them. */
type ExportCounts = { names: number; lines: number; unread: number }
type Progress = Pick<ReturnType<typeof startProgress>, 'show'>

export function defineExport(command: Command): void {
  command
    .addArgument(new Argument('<format>', 'the format').choices([...LINE_FORMATS, ...Object.keys(TABLE_FORMATS)]))
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--json', 'print one JSON object at the end: names, lines (or rows of a table), unread (needs --output)')
    .addHelpText('after', EXPORT_HELP)
    .action(runExport)
}

async function runExport(format: ExportFormat, { output, json }: ExportOptions): Promise<void> {
  if (json && output === undefined) throw new UsageFault('--json needs --output: standard output has the lines')
  const isTable = Object.hasOwn(TABLE_FORMATS, format)
  if (isTable && output === undefined) throw new UsageFault(`${format} needs --output`)
  const stop = listenForStop()
  const progress = startProgress('names')
  try {
    const written = await withExistingStore('write', (store) =>
      exportStore(store, format, output, stop.signal, progress),
    )
    progress.end()
    const what = `${written.lines} ${isTable ? 'rows' : 'lines'} of ${written.names} names`
    if (json) console.log(JSON.stringify(written))
    else if (output !== undefined) console.log(`wrote ${what} to ${output}`)
    reportUnread(written.unread)
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

/** A file without some names is no complete export. */
function reportUnread(unread: number): void {
  if (unread === 0) return
  console.error(`${unread} names are missing: they were changed during every try to read them; run it again`)
  process.exitCode = PARTLY_DONE
}

/** Holds the lock of snapshots, because a store has one listing at a time. */
async function exportStore(
  store: Store,
  format: ExportFormat,
  output: string | undefined,
  stopped: AbortSignal,
  progress: Progress,
): Promise<ExportCounts> {
  const owner = { jobs: store.jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
  const done = await withJobLock('snapshot', owner, stopped, async ({ signal }) => {
    const listing = await store.listing.start({ signal })
    const counts: ExportCounts = { names: 0, lines: 0, unread: 0 }
    const onUnread = (names: readonly string[]): void => {
      counts.unread += names.length
    }
    async function* histories() {
      for await (const batch of nameHistories(store, listing, signal, onUnread)) {
        counts.names += batch.length
        progress.show(counts.names, listing.estimatedNames ? Math.min(1, counts.names / listing.estimatedNames) : null)
        yield batch
      }
    }
    try {
      const table = TABLE_FORMATS[format]
      if (table !== undefined) counts.lines = await writeTable(table, output!, histories())
      else {
        const lines = textOf(format as LineFormat, histories(), listing.startedAt, counts)
        await (output === undefined ? pipeline(lines, standardOutput()) : writeLines(output, lines))
      }
    } finally {
      await listing.close()
    }
    return counts
  })
  if (done === null) throw new CommandFault('a snapshot or another export is running: wait until it has finished')
  return done.result
}

async function* textOf(
  format: LineFormat,
  histories: AsyncIterable<readonly NameHistory[]>,
  startedAt: Instant,
  counts: ExportCounts,
): AsyncGenerator<string> {
  for await (const batch of histories) {
    const lines = batch.flatMap((history) => linesOfName(format, history, startedAt))
    counts.lines += lines.length
    yield lines.map((line) => `${line}\n`).join('')
  }
}

/** The library that writes tables is loaded only if it is needed. */
async function writeTable(
  table: ParquetTable,
  path: string,
  histories: AsyncIterable<readonly NameHistory[]>,
): Promise<number> {
  const { writeParquet } = await import('../../export/parquet.ts')
  let rows = 0
  await writeWhole(path, async (temporary) => {
    rows = await writeParquet(table, temporary, histories)
    const file = await open(temporary)
    await file.sync().finally(() => file.close())
  })
  return rows
}

/** Writes a file, gzipped if its name ends in `.gz`. `mode`: its permissions, less those of the umask. */
export function writeLines(path: string, lines: AsyncIterable<string>, mode = 0o666): Promise<void> {
  return writeWhole(path, (temporary) => {
    const file = createWriteStream(temporary, { flush: true, mode })
    return path.endsWith('.gz') ? pipeline(lines, createGzip(), file) : pipeline(lines, file)
  })
}

/**
 * Writes a file under a temporary name, and renames it when it is whole. Throws CommandFault if it cannot be written.
 */
async function writeWhole(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${process.pid}.part`
  try {
    await write(temporary)
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
export function standardOutput(): Writable {
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
