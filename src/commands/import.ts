/** `domaindex import`: applies the observations of a file, or of standard input. */

import { on } from 'node:events'
import { fstatSync, openSync, type Stats } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Command } from 'commander'
import { loadSettings } from '../config.ts'
import { plainWords, StoreFault } from '../store/fault.ts'
import { AHEAD_SECONDS, ingestPrepared, type Outcome } from '../store/ingest.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { CommandFault, plainCause } from './fault.ts'
import type { Batch, Order, Task } from './import/batch.ts'
import { rowsOf } from './import/columns.ts'
import { rejectsTo } from './import/rejects.ts'
import { progressOf } from './progress.ts'
import { listenForStop } from './stop.ts'

type Source = { fd: number; path: string; stats: Stats }
/** `line`: up to which line the file was applied. */
type Tally = { read: number; applied: number; unchanged: number; stale: number; refused: number; line: number }
/** How the file ended; `stopped` by a signal. */
type End = NonNullable<Batch['end']> | 'stopped'

const SOME_REFUSED = 2
/** Batches outlive a young generation of any size; one that does not grow takes half the memory at the same speed. */
const SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'
const HELP = `
FILE holds one observation a line (JSON Lines, UTF-8), plain or compressed by gzip or zstd; - is standard input.
Applying a file twice changes nothing, so an import that was stopped is simply run again.

Exit codes: 0 all was applied, 1 the import failed or the file is cut off, 2 lines were refused.`

export function define(command: Command): void {
  command
    .argument('<file>', 'the file, or - for standard input')
    .option('--rejects <file>', 'keep refused lines: JSON Lines of line, reason, length and text (4 KiB at most)')
    .option('--strict', 'stop at the first refused line')
    .addHelpText('after', HELP)
    .action(importFile)
}

async function importFile(path: string, options: { rejects?: string; strict?: boolean }): Promise<void> {
  const { store: url, secret, pool } = loadSettings()
  setFlagsFromString(SMALL_YOUNG_GENERATION)
  const source = openSource(path)
  const rejects = rejectsTo(options.rejects ?? null, source.stats)
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const progress = progressOf('lines')
  const tally: Tally = { read: 0, applied: 0, unchanged: 0, stale: 0, refused: 0, line: 0 }
  const reader = startReader(source, options.strict ?? false)
  const stop = listenForStop()
  const work = async (): Promise<void> => {
    const end = await applyAll(store, reader, stop.signal, (batch, outcomes) => {
      count(tally, batch, outcomes)
      rejects.keep(batch.rejects)
      progress.show(tally.line, source.stats.size > 0 ? batch.bytes / source.stats.size : null)
    })
    progress.end()
    console.log(summary(tally, progress.seconds()))
    conclude(end, tally, path)
  }
  const close = async (): Promise<void> => {
    progress.end()
    rejects.close()
    reader.unref()
    await store.close().finally(stop.end)
  }
  await work()
    .finally(close)
    .catch((error) => {
      throw withLine(error, tally, path)
    })
}

/** What a user can mend of the store, with how far the file came. */
function withLine(error: unknown, { line }: Tally, path: string): unknown {
  const words = error instanceof StoreFault ? error.message : plainWords(error)
  return words === null ? error : new CommandFault(`${words}; ${path} is applied up to line ${line}: run it again`)
}

/** Throws CommandFault for what cannot be read. */
function openSource(path: string): Source {
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r')
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return { fd, path, stats }
  } catch (error) {
    throw new CommandFault(`${path} cannot be read: ${plainCause(error)}`)
  }
}

function startReader({ fd, path }: Source, strict: boolean): Worker {
  const workerData: Task = { fd, path, strict }
  return new Worker(new URL('./import/reader.ts', import.meta.url), { workerData })
}

/** Applies batch after batch while the reader makes the next one ready; `each` is told of every one that is applied. */
async function applyAll(
  store: Store,
  reader: Worker,
  signal: AbortSignal,
  each: (batch: Batch, outcomes: readonly Outcome[]) => void,
): Promise<End> {
  const order = async (): Promise<void> =>
    reader.postMessage({ latest: (await store.now()) + AHEAD_SECONDS } satisfies Order)
  try {
    await order()
    for await (const [batch] of on(reader, 'message', { signal }) as AsyncIterable<[Batch]>) {
      if (batch.end === null) await order()
      each(batch, await ingestPrepared(store, rowsOf(batch.observations)))
      if (batch.end !== null) return batch.end
      if (signal.aborted) return 'stopped'
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
  return 'stopped'
}

function count(tally: Tally, { rejects, line, read }: Batch, outcomes: readonly Outcome[]): void {
  tally.read += read
  tally.line = line
  tally.refused += rejects.length
  for (const outcome of outcomes) tally[outcome === 'ahead' || outcome === 'lost' ? 'refused' : outcome]++
}

function summary({ read, applied, unchanged, stale, refused }: Tally, seconds: number): string {
  const rate = Math.round(read / Math.max(seconds, 0.001))
  return `read ${read}, applied ${applied}, unchanged ${unchanged}, stale ${stale}, refused ${refused} (${seconds.toFixed(1)} s, ${rate} lines/s)`
}

/** Says how it ended where that is not simply the end of the file, and sets the exit code. */
function conclude(end: End, { refused, line }: Tally, path: string): void {
  if (end === 'stopped') console.error(`stopped after line ${line} of ${path}; run it again to go on`)
  else if (end === 'refused')
    console.error(`stopped at line ${line} of ${path}, which is refused; nothing of its batch is applied`)
  else if (end !== 'done') throw new CommandFault(`${path}: ${end.fault}; applied up to line ${line}`)
  if (refused > 0) process.exitCode = SOME_REFUSED
}
