/** `domaindex import`: applies the observations of a file or of standard input. */

import { on } from 'node:events'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { PreparedObservation } from '../../apply/prepare.ts'
import { CommandFault, PARTLY_DONE, UsageFault } from '../../config/command-fault.ts'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import { loadSettings } from '../../config/settings.ts'
import type { BatchRequest, ImportBatch, ReaderTask } from '../../import/batch.ts'
import { IMPORT_FORMATS, type ImportFormatName } from '../../import/formats/import-formats.ts'
import { type ImportSource, openImportSource } from '../../import/import-source.ts'
import {
  addBatchToTally,
  describeImportPosition,
  formatImportSummary,
  type ImportTally,
  importSummaryJson,
  observationCount,
} from '../../import/import-tally.ts'
import { preparedFromColumns, releaseColumns } from '../../import/observation-columns.ts'
import { openRejectsFile } from '../../import/rejects.ts'
import { withInverseMaintenance } from '../../inverse/maintainer.ts'
import { openStoreWaitingForSpace } from '../../server/disk-space.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { userMessageOf } from '../../store/engines.ts'
import { type IngestOutcome, ingestPrepared, MAX_AHEAD_SECONDS } from '../../store/ingest.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { StoreFault } from '../../store/port/fault.ts'
import type { Store } from '../../store/port/store.ts'
import { type Instant, parseInstant } from '../../values/time.ts'
import { parseDayArgument } from '../program/arguments.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'
import {
  importInbox,
  importRegistrations,
  REGISTRATION_FORMATS,
  type RegistrationFormat,
  type RegistrationOptions,
} from './registrations.ts'

type InputFormat = ImportFormatName | RegistrationFormat | typeof OBSERVATIONS_FORMAT
type Options = RegistrationOptions & { format: InputFormat; observedAt?: Instant; inbox?: boolean }
/** How the import of the file ended. `stopped`: by a signal. */
type ImportEnd = NonNullable<ImportBatch['end']> | 'stopped'

const OBSERVATIONS_FORMAT = 'observations'
/**
 * Batches outlive a young generation of any size. One that does not grow uses half the memory at the same speed. That of
 * the reader, which starts later, has 4 MB instead of one: its lines leave less to copy.
 */
const YOUNG_GENERATION_FLAGS = ['--semi-space-growth-factor=1', '--min-semi-space-size=4']
/**
 * V8 collects the old generation when it has doubled since the last collection. By default, it may wait for four times
 * as much if the limit of the heap is at least LARGE_HEAP_BYTES, and for at most twice as much below it.
 */
const OLD_GENERATION_FLAG = '--heap-growing-percent=100'
const LARGE_HEAP_BYTES = 2 ** 31
const IMPORT_HELP = `
FILE has one observation per line (JSON Lines, UTF-8), plain or compressed with gzip or zstd. - is
standard input.

Formats of other tools: zdns (JSON), massdns (-o J, F or S) and cof (passive DNS, Common Output
Format). The import first sorts the lines of such a file by name and time. It sorts large files in a
temporary file in the folder TMPDIR.

Formats of registrations: zone (a master file, RFC 1035) and names (one name per line, or RANK,NAME;
# starts a comment). --date, the file's name or the zone's serial gives the day. With
--no-registrations, names are added without a registration day. With --inbox, all files in the
folder DOMAINDEX_INBOX are imported.

Importing a file twice changes nothing. If an import was stopped, run it again.

Exit codes: 0 everything was applied, 1 the import failed or the file is truncated (nothing of a
truncated zone or list is imported), 2 wrong usage, 3 some lines were rejected.`

export function defineImport(command: Command): void {
  command
    .argument('[file]', 'the file, or - for standard input')
    .addOption(
      new Option('--format <name>', 'the format of the file')
        .choices([OBSERVATIONS_FORMAT, ...Object.keys(IMPORT_FORMATS), ...REGISTRATION_FORMATS])
        .default(OBSERVATIONS_FORMAT),
    )
    .option('--observed-at <time>', 'time of entries without a time, such as 2026-11-20T03:04:05Z', parseTimeArgument)
    .option('--date <day>', 'zone, names: the day of the file, such as 2026-11-20', parseDayArgument)
    .option('--tld <name>', 'zone: the name of the zone, if the file does not begin with its SOA')
    .option('--list <name>', 'names: the name of the list; a later list of the same name and day replaces it')
    .option('--no-registrations', 'names: add the names without a registration day')
    .option('--accept-loss', 'zone: import it even if it lacks more than half of the names of the earlier zone')
    .option('--inbox', 'import the files in the inbox instead of a file')
    .option(
      '--rejects <file>',
      'write rejected lines to a file: JSON Lines of line, reason, length and text (at most 4 KiB)',
    )
    .option('--strict', 'stop at the first rejected line')
    .option('--json', 'print one JSON object: the counts; with --inbox: files, each with its outcome')
    .addHelpText('after', IMPORT_HELP)
    .action(runImportCommand)
}

function parseTimeArgument(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new InvalidArgumentError('It must be an RFC 3339 time such as 2026-11-20T03:04:05Z.')
  return instant
}

async function runImportCommand(path: string | undefined, options: Options, command: Command): Promise<void> {
  const { format } = options
  requireCompatibleOptions(path, options, command)
  if (options.inbox) return importInbox(options.json)
  if (format === 'zone' || format === 'names') return importRegistrations(format, path!, options)
  return importFile(path!, { ...options, format: format === OBSERVATIONS_FORMAT ? null : format })
}

/** Throws UsageFault if options contradict each other. */
function requireCompatibleOptions(
  path: string | undefined,
  { format, inbox, registrations }: Options,
  command: Command,
): void {
  if ((path === undefined) !== (inbox === true))
    throw new UsageFault(
      inbox ? '--inbox cannot be used with a file: omit one of them' : 'name the file, or - for standard input',
    )
  const kinds: Record<string, readonly InputFormat[]> = {
    observedAt: Object.keys(IMPORT_FORMATS) as ImportFormatName[],
    date: REGISTRATION_FORMATS,
    tld: ['zone'],
    acceptLoss: ['zone'],
    list: ['names'],
    registrations: ['names'],
  }
  for (const option of command.options) {
    const { long } = option
    const attributeName = option.attributeName()
    const isGiven = command.getOptionValueSource(attributeName) === 'cli'
    const kind = kinds[attributeName]
    if (isGiven && kind !== undefined && !kind.includes(format))
      throw new UsageFault(`${long} is only for --format ${kind.join(', ')}`)
    if (isGiven && inbox && attributeName !== 'inbox' && attributeName !== 'json')
      throw new UsageFault(`${long} cannot be used with --inbox`)
    if (isGiven && !registrations && (attributeName === 'date' || attributeName === 'list'))
      throw new UsageFault(`${long} cannot be used with --no-registrations: omit one of them`)
  }
}

function boundHeap(): void {
  for (const flag of YOUNG_GENERATION_FLAGS) setFlagsFromString(flag)
  if (getHeapStatistics().heap_size_limit >= LARGE_HEAP_BYTES) setFlagsFromString(OLD_GENERATION_FLAG)
}

type FileOptions = Pick<Options, 'observedAt' | 'rejects' | 'strict' | 'json'> & { format: ImportFormatName | null }

async function importFile(path: string, options: FileOptions): Promise<void> {
  const { format } = options
  const settings = loadSettings()
  const intervals = probeIntervalsOf(settings)
  boundHeap()
  const source = openImportSource(path)
  const rejects = openRejectsFile(options.rejects ?? null, source.stats)
  const stop = listenForStop()
  const store = await openStoreWaitingForSpace(settings, [], stop.signal)
  const progress = startProgress('lines')
  const tally: ImportTally = { read: 0, applied: 0, unchanged: 0, stale: 0, refused: 0, skipped: 0, line: 0 }
  const observedAt = options.observedAt ?? null
  const reader = startReaderThread(source, { strict: options.strict ?? false, format, observedAt })
  const indexing = { store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter: { progress() {} } }
  const applyAll = (keepUp: () => Promise<void>): Promise<ImportEnd> => {
    const apply = async (rows: PreparedObservation[]): Promise<IngestOutcome[]> => {
      const outcomes = await ingestPrepared(store, rows, { intervals })
      await keepUp()
      return outcomes
    }
    return applyBatches({ apply, now: store.now }, reader, stop.signal, (batch, outcomes) => {
      addBatchToTally(tally, batch, outcomes)
      rejects.write(batch.rejects)
      const share = source.stats.size > 0 ? batch.bytes / source.stats.size : null
      progress.show(tally.line, share, format === null ? {} : { more: `${observationCount(tally)} observations` })
    })
  }
  const work = async (): Promise<void> => {
    const end = await withInverseMaintenance(indexing, stop.signal, applyAll)
    progress.end()
    const seconds = progress.seconds()
    printResult(options.json, importSummaryJson(tally, seconds, format), [formatImportSummary(tally, seconds, format)])
    reportEnd(end, tally, path, format)
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
      throw withPosition(error, describeImportPosition(tally, path, format))
    })
}

/** Adds the position in the file to a store error that the user can fix. */
function withPosition(error: unknown, position: string): unknown {
  const message = error instanceof StoreFault ? error.message : userMessageOf(error)
  return message === null ? error : new CommandFault(`${message}; ${position}: run it again`)
}

function startReaderThread(
  { fd, path }: ImportSource,
  options: Pick<ReaderTask, 'strict' | 'format' | 'observedAt'>,
): Worker {
  const workerData: ReaderTask = { fd, path, ...options }
  return new Worker(new URL('../../import/reader-thread.ts', import.meta.url), { workerData })
}

/** Applies one batch while the reader prepares the next one. Calls `onBatch` after each applied batch. */
async function applyBatches(
  { apply, now }: { apply: (rows: PreparedObservation[]) => Promise<IngestOutcome[]>; now: Store['now'] },
  reader: Worker,
  signal: AbortSignal,
  onBatch: (batch: ImportBatch, outcomes: readonly IngestOutcome[]) => void,
): Promise<ImportEnd> {
  const requestBatch = async (): Promise<void> =>
    reader.postMessage({ latest: (await now()) + MAX_AHEAD_SECONDS } satisfies BatchRequest)
  try {
    await requestBatch()
    for await (const [batch] of on(reader, 'message', { signal }) as AsyncIterable<[ImportBatch]>) {
      if (batch.end === null) await requestBatch()
      onBatch(batch, await apply(preparedFromColumns(batch.observations)))
      releaseColumns(batch.observations)
      if (batch.end !== null) return batch.end
      if (signal.aborted) return 'stopped'
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
  return 'stopped'
}

/** Reports an import that ended before the end of the file, and sets the exit code. */
function reportEnd(end: ImportEnd, tally: ImportTally, path: string, format: ImportFormatName | null): void {
  const { refused, line } = tally
  const position = describeImportPosition(tally, path, format)
  if (end === 'stopped')
    console.error(
      `stopped after line ${line} of ${path}; ${format === null ? '' : `${position}; `}run it again to continue`,
    )
  else if (end === 'refused')
    console.error(`stopped at line ${line} of ${path}, which is rejected; nothing of its batch is applied`)
  else if (end !== 'done') {
    if ('unusable' in end) throw new CommandFault(`${path}: ${end.unusable}; ${position}`)
    throw new CommandFault(`${path}: ${end.problem}; applied up to line ${line}`)
  }
  if (refused > 0) process.exitCode = PARTLY_DONE
}
