/** `domaindex import`: applies the observations of a file, or of standard input. */

import { on } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Prepared } from '../apply/prepare.ts'
import { loadSettings } from '../config.ts'
import { FORMATS, type FormatName } from '../observe/formats/formats.ts'
import { plainWords, StoreFault } from '../store/fault.ts'
import { AHEAD_SECONDS, ingestPrepared, type Outcome } from '../store/ingest.ts'
import type { Store } from '../store/store.ts'
import { type Day, type Instant, parseDay, parseInstant } from '../words/time.ts'
import { CommandFault, PARTLY_DONE, UsageFault } from './fault.ts'
import type { Batch, Order, Task } from './import/batch.ts'
import { rowsOf } from './import/columns.ts'
import {
  importRegistrations,
  REGISTRATION_FORMATS,
  type RegistrationFormat,
  type RegistrationOptions,
  takeWholeInbox,
} from './import/registrations.ts'
import { rejectsTo } from './import/rejects.ts'
import { openSource, type Source } from './import/source.ts'
import { count, made, objectOf, placeOf, summary, type Tally } from './import/tally.ts'
import { progressOf } from './progress.ts'
import { print } from './result.ts'
import { rhythmOf } from './rhythm.ts'
import { openPatientStore } from './room.ts'
import { listenForStop } from './stop.ts'

type Format = FormatName | RegistrationFormat | typeof OWN
type Options = RegistrationOptions & { format: Format; observedAt?: Instant; inbox?: boolean }
/** How the file ended; `stopped` by a signal. */
type End = NonNullable<Batch['end']> | 'stopped'

const OWN = 'observations'
/** Batches outlive a young generation of any size; one that does not grow takes half the memory at the same speed. */
const SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'
const HELP = `
FILE holds one observation a line (JSON Lines, UTF-8), plain or compressed by gzip or zstd; - is standard input.
--format reads other crawls: zdns (its JSON), massdns (-o J, F or S), cof (passive DNS, Common Output Format). The lines of
such a file are put in the order of name and time first, in a temporary file where there are many (TMPDIR says where).
zone (a master file, RFC 1035) and names (a name a line, or RANK,NAME; # begins a comment) say what was registered on a day:
--date, or the file's name, or the zone's serial say on which. --no-registrations makes the names known and no more. --inbox takes all that lies in the folder DOMAINDEX_INBOX instead of a file.
Applying a file twice changes nothing, so an import that was stopped is simply run again.

Exit codes: 0 all was applied, 1 the import failed or the file is cut off (of a zone or list nothing is taken then), 2 wrong
usage, 3 lines were refused.`

export function define(command: Command): void {
  command
    .argument('[file]', 'the file, or - for standard input')
    .addOption(
      new Option('--format <name>', 'what the file holds')
        .choices([OWN, ...Object.keys(FORMATS), ...REGISTRATION_FORMATS])
        .default(OWN),
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
    .addHelpText('after', HELP)
    .action(importOf)
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

async function importOf(path: string | undefined, options: Options, command: Command): Promise<void> {
  const { format } = options
  expectFitting(path, options, command)
  if (options.inbox) return takeWholeInbox(options.json)
  if (format === 'zone' || format === 'names') return importRegistrations(format, path!, options)
  return importFile(path!, { ...options, format: format === OWN ? null : format })
}

/** Throws UsageFault where options do not go together. */
function expectFitting(path: string | undefined, { format, inbox, registrations }: Options, command: Command): void {
  if ((path === undefined) !== (inbox === true))
    throw new UsageFault(
      inbox ? '--inbox takes no file: leave one of both out' : 'name the file, or - for standard input',
    )
  const kinds: Record<string, readonly Format[]> = {
    observedAt: Object.keys(FORMATS) as FormatName[],
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

type FileOptions = Pick<Options, 'observedAt' | 'rejects' | 'strict' | 'json'> & { format: FormatName | null }

async function importFile(path: string, options: FileOptions): Promise<void> {
  const { format } = options
  const settings = loadSettings()
  const rhythm = rhythmOf(settings)
  setFlagsFromString(SMALL_YOUNG_GENERATION)
  const source = openSource(path)
  const rejects = rejectsTo(options.rejects ?? null, source.stats)
  const stop = listenForStop()
  const store = await openPatientStore(settings, [], stop.signal)
  const progress = progressOf('lines')
  const tally: Tally = { read: 0, applied: 0, unchanged: 0, stale: 0, refused: 0, passedOver: 0, line: 0 }
  const observedAt = options.observedAt ?? null
  const reader = startReader(source, { strict: options.strict ?? false, format, observedAt })
  const work = async (): Promise<void> => {
    const apply = (rows: Prepared[]): Promise<Outcome[]> => ingestPrepared(store, rows, { rhythm })
    const end = await applyAll({ apply, now: store.now }, reader, stop.signal, (batch, outcomes) => {
      count(tally, batch, outcomes)
      rejects.keep(batch.rejects)
      const share = source.stats.size > 0 ? batch.bytes / source.stats.size : null
      progress.show(tally.line, share, format === null ? {} : { more: `${made(tally)} observations` })
    })
    progress.end()
    const seconds = progress.seconds()
    print(options.json, objectOf(tally, seconds, format), [summary(tally, seconds, format)])
    conclude(end, tally, path, format)
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
      throw withPlace(error, placeOf(tally, path, format))
    })
}

/** What a user can mend of the store, with how far the file came. */
function withPlace(error: unknown, place: string): unknown {
  const words = error instanceof StoreFault ? error.message : plainWords(error)
  return words === null ? error : new CommandFault(`${words}; ${place}: run it again`)
}

function startReader({ fd, path }: Source, how: Pick<Task, 'strict' | 'format' | 'observedAt'>): Worker {
  const workerData: Task = { fd, path, ...how }
  return new Worker(new URL('./import/reader.ts', import.meta.url), { workerData })
}

/** Applies batch after batch while the reader makes the next one ready; `each` is told of every one that is applied. */
async function applyAll(
  { apply, now }: { apply: (rows: Prepared[]) => Promise<Outcome[]>; now: Store['now'] },
  reader: Worker,
  signal: AbortSignal,
  each: (batch: Batch, outcomes: readonly Outcome[]) => void,
): Promise<End> {
  const order = async (): Promise<void> => reader.postMessage({ latest: (await now()) + AHEAD_SECONDS } satisfies Order)
  try {
    await order()
    for await (const [batch] of on(reader, 'message', { signal }) as AsyncIterable<[Batch]>) {
      if (batch.end === null) await order()
      each(batch, await apply(rowsOf(batch.observations)))
      if (batch.end !== null) return batch.end
      if (signal.aborted) return 'stopped'
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
  return 'stopped'
}

/** Says how it ended where that is not simply the end of the file, and sets the exit code. */
function conclude(end: End, tally: Tally, path: string, format: FormatName | null): void {
  const { refused, line } = tally
  const place = placeOf(tally, path, format)
  if (end === 'stopped')
    console.error(`stopped after line ${line} of ${path}; ${format === null ? '' : `${place}; `}run it again to go on`)
  else if (end === 'refused')
    console.error(`stopped at line ${line} of ${path}, which is refused; nothing of its batch is applied`)
  else if (end !== 'done') {
    if ('unusable' in end) throw new CommandFault(`${path}: ${end.unusable}; ${place}`)
    throw new CommandFault(`${path}: ${end.fault}; applied up to line ${line}`)
  }
  if (refused > 0) process.exitCode = PARTLY_DONE
}
