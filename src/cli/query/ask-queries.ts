/**
 * Reads queries and asks them in order, several at a time; writes their rows, and says on standard error what is
 * missing.
 */

import { createReadStream } from 'node:fs'
import { UsageFault } from '../../config/command-fault.ts'
import { decompress } from '../../import/stream/decompress.ts'
import { createLineSplitter, type InputLine, lineText } from '../../import/stream/line-splitter.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import { parseFingerprint } from '../../values/certificate/fingerprint.ts'
import { type HostAlternative, hostAlternative } from '../../values/host-alternative.ts'
import { parseNetwork } from '../../values/ip-address.ts'
import { refang } from '../../values/pasted/defanged.ts'
import { parsePastedQuery } from '../../values/pasted/pasted-query.ts'
import { causeOf, EXIT_CODES, type ExitCause, isFinal } from '../program/client-fault.ts'
import { reportLine, startProgress } from '../program/output.ts'
import type { CallControl } from './batched-calls.ts'
import type { Row, RowWriter } from './row-writer.ts'

/** `value`: the domain or address in the text; null if there is none. `alternative`: see `hostAlternative`. */
export type Query = { text: string; value: string | null; alternative: HostAlternative | null }

/** The maximum number of queries of a command. Each costs a call. */
const MAX_QUERIES = 250_000

/** Longer texts are not queries. */
const MAX_QUERY_LENGTH = 2_048

/** The characters of a text that messages show. */
const MAX_SHOWN_LENGTH = 100

/** What to name if there is no query. */
const WANTED: Readonly<Record<QueryKind, string>> = {
  subject: 'domains or addresses',
  network: 'addresses or networks',
  text: 'texts or patterns',
}

/**
 * Rows, and the options that continue after them: one text for each list of rows that is not complete. `note`: what the
 * user should know about the rows.
 */
export type Page = { rows: readonly Row[]; rest: readonly string[]; note?: string | undefined }
/** The pages of a query. Calls end with an error when `signal` aborts. */
export type AskQuery = (query: ValidQuery, signal: AbortSignal) => AsyncGenerator<Page, void, void>
type ValidQuery = Query & { value: string }

type PendingQuery = { query: Query; pages: AsyncIterator<Page>; first: Promise<IteratorResult<Page>> }
/** `unanswered`: the queries that a stop or a final failure left without an answer. */
type Tally = {
  answered: number
  partial: number
  rows: number
  failures: Set<ExitCause>
  final: ExitCause | null
  unanswered: Query[]
}

type AskOptions = {
  ask: AskQuery
  calls: CallControl
  writer: RowWriter
  /** Whether the user has limited the rows, so that further rows are no lack. */
  isLimited: boolean
  /** Why the local store failed; null if it did not. */
  fault: () => unknown
  signal: AbortSignal
}

/** Returns the exit code. Throws an error that no exit code of a client describes. */
export async function askQueries(queries: readonly Query[], options: AskOptions): Promise<number> {
  const { calls, signal } = options
  const tally: Tally = { answered: 0, partial: 0, rows: 0, failures: new Set(), final: null, unanswered: [] }
  const progress = startProgress('rows')
  const inFlight: PendingQuery[] = []
  let next = 0
  try {
    for (;;) {
      while (next < queries.length && inFlight.length < calls.queriesAtOnce && tally.final === null && !signal.aborted)
        inFlight.push(startQuery(queries[next++]!, options))
      const pending = inFlight.shift()
      if (pending === undefined) break
      const showProgress = (): void => {
        if (!process.stdout.isTTY) progress.show(tally.rows, (next - inFlight.length) / queries.length)
      }
      await writePages(pending, options, tally, showProgress)
    }
  } finally {
    progress.end()
  }
  const unanswered = [...tally.unanswered, ...queries.slice(next)]
  if (unanswered.length > 0 && queries.length > 1)
    reportLine(`not answered: ${unanswered.length} of ${queries.length} queries; the first is ${unanswered[0]!.text}`)
  return exitCodeOf(tally)
}

/** Starts the first call of a query. An error of it waits until its turn comes. */
function startQuery(query: Query, { ask, calls, signal }: AskOptions): PendingQuery {
  const { value } = query
  const pages = value === null ? noPages() : ask({ ...query, value }, signal)
  const first = pages.next()
  first.then(({ value: page }) => calls.countWaitingRows(page?.rows.length ?? 0)).catch(() => {})
  return { query, pages, first }
}

// biome-ignore lint/correctness/useYield: it has no page, only an error
async function* noPages(): AsyncGenerator<Page, void, void> {
  throw new UsageFault('this is neither a domain, nor one address, nor the SHA-256 of a certificate')
}

/** Writes the pages of a query. After a final failure of another query, it makes no further call. */
async function writePages(
  { query, pages, first }: PendingQuery,
  { calls, writer, isLimited, fault, signal }: AskOptions,
  tally: Tally,
  onRows: () => void,
): Promise<void> {
  let page: Page | null = null
  let isStopped = false
  try {
    const start = await first
    calls.countWaitingRows(-(start.value?.rows.length ?? 0))
    for (let each = start; !each.done; each = await pages.next()) {
      page = each.value
      if (page.note !== undefined) reportLine(page.note)
      await writer.write(page.rows)
      tally.rows += page.rows.length
      onRows()
      isStopped = page.rest.length > 0 && (tally.final !== null || signal.aborted)
      if (isStopped) break
    }
    tally.answered++
    if (page !== null && page.rest.length > 0 && (isStopped || !isLimited)) tally.partial++
  } catch (error) {
    if (fault() !== null) throw fault()
    if (page !== null) tally.partial++
    else if (signal.aborted) tally.unanswered.push(query)
    if (!signal.aborted) countFailure(query, error, page === null, tally)
  }
  if (page === null || page.rest.length === 0) return
  await writer.end() // the advice comes after the rows that it is about
  for (const options of page.rest) reportLine(`${query.text}: more rows follow: continue with ${options}`)
}

/** Reports a failed query; a final failure once. Throws an error that does not come from the server or the network. */
function countFailure(query: Query, error: unknown, isUnanswered: boolean, tally: Tally): void {
  const cause = causeOf(error)
  if (cause === null) throw error
  tally.failures.add(cause)
  const isRepeated = tally.final !== null && isFinal(cause)
  if (!isRepeated) reportLine(`${query.text}: ${(error as Error).message}`)
  if (!isFinal(cause)) return
  tally.final ??= cause
  if (isUnanswered) tally.unanswered.push(query)
}

function exitCodeOf({ answered, partial, failures, final }: Tally): number {
  if (final !== null) return EXIT_CODES[final][0]
  if (failures.size === 0) return EXIT_CODES[partial > 0 ? 'partial' : 'ok'][0]
  const [cause] = failures
  return EXIT_CODES[answered > 0 || partial > 0 || failures.size > 1 ? 'partial' : cause!][0]
}

/**
 * The queries in order. In a list, blank lines and comments after # are skipped. `kind`: what a
 * query is. Throws UsageFault without any.
 */
export async function readQueries(
  texts: readonly string[],
  file: string | undefined,
  kind: QueryKind,
): Promise<Query[]> {
  const parse = PARSERS[kind]
  if (file !== undefined && texts.length > 0) throw new UsageFault('--file and queries in arguments exclude each other')
  const isPiped = texts.length === 0 ? !process.stdin.isTTY : texts.length === 1 && texts[0] === '-'
  const path = file ?? (isPiped ? '-' : null)
  const queries = path === null ? texts.map(parse) : await readList(path, parse)
  if (queries.length === 0)
    throw new UsageFault(`no query: name ${WANTED[kind]}, or pass a list with --file or on standard input`)
  return queries
}

async function readList(path: string, parse: (text: string) => Query): Promise<Query[]> {
  const queries: Query[] = []
  const splitter = createLineSplitter()
  let lines = 0
  const add = (line: InputLine): void => {
    const text = parseListLine(lineText(line, ++lines) ?? `line ${lines}`)
    if (text !== '') queries.push(parse(text))
    if (queries.length > MAX_QUERIES) throw new UsageFault(`the list has more than ${MAX_QUERIES} queries: split it`)
  }
  try {
    for await (const chunk of decompress(path === '-' ? process.stdin : createReadStream(path), path))
      for (const line of splitter.split(chunk)) add(line)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new UsageFault(`${path} cannot be read: ${error.message}`)
  }
  const rest = splitter.rest()
  if (rest !== null) add(rest)
  return queries
}

/** What a query is: a domain, an address or a certificate; an address or a network; or a text to search for. */
export type QueryKind = 'subject' | 'network' | 'text'

const PARSERS: Readonly<Record<QueryKind, (text: string) => Query>> = {
  subject: parseQuery,
  network: parseAddressQuery,
  text: (text) => ({ text: text.slice(0, MAX_SHOWN_LENGTH), value: text, alternative: null }),
}

/** Returns the query of an address or a network. */
function parseAddressQuery(text: string): Query {
  const plain = refang(text.trim())
  if (parseNetwork(plain) !== null) return { text: plain, value: plain, alternative: null }
  const pasted = text.length > MAX_QUERY_LENGTH ? null : parsePastedQuery(text)
  const value = pasted?.kind === 'ip' ? pasted.value : null
  return { text: value ?? text.slice(0, MAX_SHOWN_LENGTH), value, alternative: null }
}

/** Returns the query of a domain, an address, or a certificate. The server says which of them an endpoint takes. */
function parseQuery(text: string): Query {
  const sha256 = parseFingerprint(text.trim())
  if (sha256 !== null) return { text: sha256, value: sha256, alternative: null }
  const value = text.length > MAX_QUERY_LENGTH ? null : (parsePastedQuery(text)?.value ?? null)
  const alternative = value === null ? null : hostAlternative(text)
  return { text: value ?? text.slice(0, MAX_SHOWN_LENGTH), value, alternative }
}
