/** The options that client commands share, and the commands that answer queries. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageFault } from '../../config/command-fault.ts'
import { EXIT_CODES, EXIT_CODES_HELP, toClientFault } from '../program/client-fault.ts'
import { listenForStop } from '../program/output.ts'
import { askQueries, type QueryKind, readQueries } from './ask-queries.ts'
import { BatchedCalls, type QueryCalls, singleCalls } from './batched-calls.ts'
import type { AskEndpoint, PageOptions, SearchFilters, TimeOptions } from './pages.ts'
import { orRegistrableDomain } from './pages.ts'
import { type OutputOptions, openRowWriter, type RowShape, type RowWriter } from './row-writer.ts'
import { type AnswerSource, openAnswerSource, type ServerOptions } from './source.ts'

export type QueryOptions = ServerOptions &
  OutputOptions &
  PageOptions &
  TimeOptions &
  SearchFilters & { file?: string; date?: string }

const QUERY_HELP = `
A query may be a URL, and defanged, such as hxxps://example[.]com/. If nothing is on record for the host of a URL or for
a www. host, its registrable domain is asked for, and a line on standard error says so. A list has one query per line,
plain or compressed by gzip or zstd; empty lines and comments that start with # are skipped.`

const SEARCH_HELP = `
A search is a text that names contain, a pattern for whole names with *, ? and [a-z], or a regular expression between
slashes. Quote patterns, because the shell reads them too. A list has one search per line, plain or compressed by gzip or
zstd; empty lines and comments that start with # are skipped.`

/** Adds the options that name the server. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--server <url>', 'ask this server; by default DOMAINDEX_SERVER, otherwise the local store answers')
    .option('--token-file <path>', 'read the token from this file, which only its owner may access')
    .option(
      '--retry-time <seconds>',
      'repeat calls that the server or the network fails for this time (default: 60)',
      parseSeconds,
    )
}

/** Adds the options of the output. */
export function addOutputOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON object per row, as it does unless it prints to a terminal')
    .addOption(new Option('--csv', 'print CSV (RFC 4180) with a header').conflicts('json'))
    .option('--fields <names>', 'print these fields only, separated by commas')
}

/** Adds the options that follow pages. */
export function addPageOptions(command: Command, rows: string): Command {
  return command
    .addOption(
      new Option('--limit <rows>', `print at most this number of ${rows} for each query`).argParser(parseRowLimit),
    )
    .addOption(new Option('--all', `print all ${rows}; without --limit and --all, one page`).conflicts('limit'))
    .option('--next <cursor>', 'continue after an earlier page')
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of seconds.')
}

function parseRowLimit(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

export type QueryCommand = {
  /** The name of its argument in the help. */
  argument: string
  shape: RowShape
  ask: (calls: QueryCalls, options: QueryOptions) => AskEndpoint
  /** Whether its calls may be in batches. */
  isBatched?: (options: QueryOptions) => boolean
  /** What a query is; a domain, an address or a certificate by default. */
  kind?: QueryKind
  /** Whether a query has one row. */
  isSingle?: boolean
}

/** Defines a command that answers queries. Its own options are added by the caller. */
export function defineQueryCommand(command: Command, definition: QueryCommand): Command {
  command
    .argument('[query...]', definition.argument)
    .option('--file <list>', 'a file of queries; - is standard input, which is also read if there is no query')
    .addHelpText(
      'after',
      `${definition.kind === 'text' ? SEARCH_HELP : QUERY_HELP}\n\n${fieldsHelp(definition.shape)}\n\n${EXIT_CODES_HELP}`,
    )
    .action((texts: string[], options: QueryOptions) => runQueries(texts, options, definition))
  return addServerOptions(addOutputOptions(command))
}

function fieldsHelp({ fields, columns }: RowShape): string {
  const others = fields.join() === columns.join() ? '' : `; of CSV and tables: ${columns.join(', ')}`
  return `Fields: ${fields.join(', ')}${others}`
}

async function runQueries(
  texts: readonly string[],
  options: QueryOptions,
  { shape, ask, isBatched = () => true, isSingle = false, kind = 'subject' }: QueryCommand,
): Promise<void> {
  const queries = await readQueries(texts, options.file, kind)
  if (options.next !== undefined && queries.length > 1) throw new UsageFault('--next is for one query')
  const writer = openRowWriter(shape, options, isSingle && queries.length === 1)
  const isLimited = options.limit !== undefined
  await withAnswerSource(options, writer, async ({ client, isLocal, fault }, signal) => {
    const isList = !isLocal && queries.length > 1 && isBatched(options)
    const calls = isList ? new BatchedCalls(client, signal) : singleCalls(client)
    process.exitCode = EXIT_CODES.partial[0] // if the reader of standard output leaves, the process ends with this code
    process.exitCode = await askQueries(queries, {
      ask: orRegistrableDomain(calls, ask(calls, options), isSingle),
      ...{ calls, writer, isLimited, fault, signal },
    })
  })
}

/** Opens the server or the local store while `work` runs. The first signal to stop aborts `signal`. Ends the writer. */
export async function withAnswerSource(
  options: ServerOptions,
  writer: RowWriter,
  work: (source: AnswerSource, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = listenForStop()
  try {
    const source = await openAnswerSource(options)
    try {
      await work(source, stop.signal)
    } catch (error) {
      if (!stop.signal.aborted) throw source.fault() ?? toClientFault(error)
    } finally {
      await source.close()
      await writer.end()
    }
  } finally {
    stop.end()
  }
}
