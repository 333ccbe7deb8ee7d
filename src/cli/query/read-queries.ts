/** Reads the queries of a client command: from arguments, a file or standard input. */

import { createReadStream } from 'node:fs'
import { UsageFault } from '../../config/command-fault.ts'
import { decompress } from '../../import/stream/decompress.ts'
import { createLineSplitter, type InputLine, lineText } from '../../import/stream/line-splitter.ts'
import { parseListLine } from '../../import/stream/list-line.ts'
import { type HostAlternative, hostAlternative } from '../../values/host-alternative.ts'
import { parsePastedQuery } from '../../values/pasted-query.ts'

/** `value`: the domain or address in the text; null if there is none. `alternative`: see `hostAlternative`. */
export type Query = { text: string; value: string | null; alternative: HostAlternative | null }

/** The maximum number of queries of a command. Each costs a call. */
const MAX_QUERIES = 250_000
/** Longer texts are not queries. */
const MAX_QUERY_LENGTH = 2_048
/** The characters of a text that messages show. */
const MAX_SHOWN_LENGTH = 100

const NO_QUERY_MESSAGE = 'no query: name domains or addresses, or pass a list with --file or on standard input'

/** The queries in order. In a list, blank lines and comments after # are skipped. Throws UsageFault without any. */
export async function readQueries(texts: readonly string[], file: string | undefined): Promise<Query[]> {
  if (file !== undefined && texts.length > 0) throw new UsageFault('--file and queries in arguments exclude each other')
  const isPiped = texts.length === 0 ? !process.stdin.isTTY : texts.length === 1 && texts[0] === '-'
  const path = file ?? (isPiped ? '-' : null)
  const queries = path === null ? texts.map(parseQuery) : await readList(path)
  if (queries.length === 0) throw new UsageFault(NO_QUERY_MESSAGE)
  return queries
}

async function readList(path: string): Promise<Query[]> {
  const queries: Query[] = []
  const splitter = createLineSplitter()
  let lines = 0
  const add = (line: InputLine): void => {
    const text = parseListLine(lineText(line, ++lines) ?? `line ${lines}`)
    if (text !== '') queries.push(parseQuery(text))
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

function parseQuery(text: string): Query {
  const value = text.length > MAX_QUERY_LENGTH ? null : (parsePastedQuery(text)?.value ?? null)
  const alternative = value === null ? null : hostAlternative(text)
  return { text: value ?? text.slice(0, MAX_SHOWN_LENGTH), value, alternative }
}
