/** `domaindex import`: applies the observations of a file, or of standard input. */

import { on } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { PreparedObservation } from '../apply/prepare.ts'
import { CommandFault, PARTLY_DONE, UsageFault } from '../config/command-fault.ts'
import { probeIntervalsOf } from '../config/probe-intervals.ts'
import { loadSettings } from '../config/settings.ts'
import type { BatchRequest, ImportBatch, ReaderTask } from '../import/batch.ts'
import { IMPORT_FORMATS, type ImportFormatName } from '../import/formats/import-formats.ts'
import { type ImportSource, openImportSource } from '../import/import-source.ts'
import {
  addBatchToTally,
  describeImportPosition,
  formatImportSummary,
  type ImportTally,
  importSummaryJson,
  observationsMade,
} from '../import/import-tally.ts'
import { preparedFromColumns } from '../import/observation-columns.ts'
import { openRejectsFile } from '../import/rejects.ts'
import { openStoreWaitingForSpace } from '../server/disk-space.ts'
import { type IngestOutcome, ingestPrepared, MAX_AHEAD_SECONDS } from '../store/ingest.ts'
import { StoreFault, userMessageOf } from '../store/port/fault.ts'
import type { Store } from '../store/port/store.ts'
import { type Day, type Instant, parseDay, parseInstant } from '../values/time.ts'
import {
  importInbox,
  importRegistrations,
  REGISTRATION_FORMATS,
  type RegistrationFormat,
  type RegistrationOptions,
} from './import/registrations.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

type InputFormat = ImportFormatName | RegistrationFormat | typeof OBSERVATIONS_FORMAT
type Options = RegistrationOptions & { format: InputFormat; observedAt?: Instant; inbox?: boolean }
/** How the file ended; `stopped` by a signal. */
type ImportEnd = NonNullable<ImportBatch['end']> | 'stopped'

const OBSERVATIONS_FORMAT = 'observations'
/** Batches outlive a young generation of any size; one that does not grow takes half the memory at the same speed. */
const V8_SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'
const IMPORT_HELP = `
FILE holds one observation a line (JSON Lines, UTF-8), plain or compressed by gzip or zstd; - is standard input.
--format reads other crawls: zdns (its JSON), massdns (-o J, F or S), cof (passive DNS, Common Output Format). The lines of
such a file are put in the order of name and time first, in a temporary file where there are many (TMPDIR says where).
zone (a master file, RFC 1035) and names (a name a line, or RANK,NAME; # begins a comment) say what was registered on a day:
--date, or the file's name, or the zone's serial say on which. --no-registrations makes the names known and no more. --inbox takes all that lies in the folder DOMAINDEX_INBOX instead of a file.
Applying a file twice changes nothing, so an import that was stopped is simply run again.

Exit codes: 0 all was applied, 1 the import failed or the file is cut off (of a zone or list nothing is taken then), 2 wrong
usage, 3 lines were refused.`

export function defineImport(command: Command): void {
  command
    .argument('[file]', 'the file, or - for standard input')
    .addOption(
      new Option('--format <name>', 'what the file holds')
        .choices([OBSERVATIONS_FORMAT, ...Object.keys(IMPORT_FORMATS), ...REGISTRATION_FORMATS])
        .default(OBSERVATIONS_FORMAT),
    )
    .option('--observed-at <time>', 'when that was seen which carries no time, as in 2026-11-20T03:04:05Z', readTime)
    .option('--date <day>', 'zone, names: the day that it is of, as in 2026-11-20', readDate)
    .option('--tld <name>', 'zone: the name of the zone, where its SOA does not say it first')
    .option('--list <name>', 'names: what the list is called; a later one of that name and day takes its place')
    .option('--no-registrations', 'names: make the names known, without a day on which they were registered')
    .option('--accept-loss', 'zone: take it although it lacks more than half of the names of the day before')
    .option('--inbox', 'take what lies in the inbox, instead of a file')
    .option('--rejects <file>', 'keep refused lines: JSON Lines of line, reason, length and text (4 KiB at most)')
    .option('--strict', 'stop at the first refused line')
    .option('--json', 'print one JSON object: the counts; with --inbox: files, each with what became of it')
    .addHelpText('after', IMPORT_HELP)
    .action(runImportCommand)
}

function readTime(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new InvalidArgumentError('It must be an RFC 3339 time such as 2026-11-20T03:04:05Z.')
  return instant
}

function readDate(text: string): Day {
  const day = parseDay(text)
  if (day === null) throw new InvalidArgumentError('It must be a day such as 2026-11-20.')
  return day
}

async function runImportCommand(path: string | undefined, options: Options, command: Command): Promise<void> {
  const { format } = options
  requireCompatibleOptions(path, options, command)
  if (options.inbox) return importInbox(options.json)
  if (format === 'zone' || format === 'names') return importRegistrations(format, path!, options)
  return importFile(path!, { ...options, format: format === OBSERVATIONS_FORMAT ? null : format })
}

/** Throws UsageFault where options do not go together. */
function requireCompatibleOptions(
  path: string | undefined,
  { format, inbox, registrations }: Options,
  command: Command,
): void {
  if ((path === undefined) !== (inbox === true))
    throw new UsageFault(
      inbox ? '--inbox takes no file: leave one of both out' : 'name the file, or - for standard input',
    )
  const kinds: Record<string, readonly InputFormat[]> = {
    observedAt: Object.keys(IMPORT_FORMATS) as ImportFormatName[],
    date: REGISTRATION_FORMATS,
    tld: ['zone'],
    acceptLoss: ['zone'],
    list: ['names'],
    registrations: ['names'],
  }
  for (const { long, attributeName } of command.options.map((option) => ({
    long: option.long,
    attributeName: option.attributeName(),
  }))) {
    const isGiven = command.getOptionValueSource(attributeName) === 'cli'
    const kind = kinds[attributeName]
    if (isGiven && kind !== undefined && !kind.includes(format))
      throw new UsageFault(`${long} is for --format ${kind.join(', ')}`)
    if (isGiven && inbox && attributeName !== 'inbox' && attributeName !== 'json')
      throw new UsageFault(`${long} is not for --inbox`)
    if (isGiven && !registrations && (attributeName === 'date' || attributeName === 'list'))
      throw new UsageFault(`${long} is not for --no-registrations: leave one of both out`)
  }
}

type FileOptions = Pick<Options, 'observedAt' | 'rejects' | 'strict' | 'json'> & { format: ImportFormatName | null }

async function importFile(path: string, options: FileOptions): Promise<void> {
  const { format } = options
  const settings = loadSettings()
  const rhythm = probeIntervalsOf(settings)
  setFlagsFromString(V8_SMALL_YOUNG_GENERATION)
  const source = openImportSource(path)
  const rejects = openRejectsFile(options.rejects ?? null, source.stats)
  const stop = listenForStop()
  const store = await openStoreWaitingForSpace(settings, [], stop.signal)
  const progress = startProgress('lines')
  const tally: ImportTally = { read: 0, applied: 0, unchanged: 0, stale: 0, refused: 0, skipped: 0, line: 0 }
  const observedAt = options.observedAt ?? null
  const reader = startReaderThread(source, { strict: options.strict ?? false, format, observedAt })
  const work = async (): Promise<void> => {
    const apply = (rows: PreparedObservation[]): Promise<IngestOutcome[]> =>
      ingestPrepared(store, rows, { intervals: rhythm })
    const end = await applyBatches({ apply, now: store.now }, reader, stop.signal, (batch, outcomes) => {
      addBatchToTally(tally, batch, outcomes)
      rejects.write(batch.rejects)
      const share = source.stats.size > 0 ? batch.bytes / source.stats.size : null
      progress.show(tally.line, share, format === null ? {} : { more: `${observationsMade(tally)} observations` })
    })
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

/** What a user can mend of the store, with how far the file came. */
function withPosition(error: unknown, position: string): unknown {
  const message = error instanceof StoreFault ? error.message : userMessageOf(error)
  return message === null ? error : new CommandFault(`${message}; ${position}: run it again`)
}

function startReaderThread(
  { fd, path }: ImportSource,
  options: Pick<ReaderTask, 'strict' | 'format' | 'observedAt'>,
): Worker {
  const workerData: ReaderTask = { fd, path, ...options }
  return new Worker(new URL('../import/reader-thread.ts', import.meta.url), { workerData })
}

/** Applies batch after batch while the reader makes the next one ready; `each` is told of every one that is applied. */
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
      if (batch.end !== null) return batch.end
      if (signal.aborted) return 'stopped'
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
  return 'stopped'
}

/** Says how it ended where that is not simply the end of the file, and sets the exit code. */
function reportEnd(end: ImportEnd, tally: ImportTally, path: string, format: ImportFormatName | null): void {
  const { refused, line } = tally
  const position = describeImportPosition(tally, path, format)
  if (end === 'stopped')
    console.error(
      `stopped after line ${line} of ${path}; ${format === null ? '' : `${position}; `}run it again to continue`,
    )
  else if (end === 'refused')
    console.error(`stopped at line ${line} of ${path}, which is refused; nothing of its batch is applied`)
  else if (end !== 'done') {
    if ('unusable' in end) throw new CommandFault(`${path}: ${end.unusable}; ${position}`)
    throw new CommandFault(`${path}: ${end.problem}; applied up to line ${line}`)
  }
  if (refused > 0) process.exitCode = PARTLY_DONE
}
