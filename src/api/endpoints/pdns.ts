/** GET /pdns/query/QUERY: passive DNS of a name or an address, for clients of the Common Output Format. */

import { cofLine, cofLines } from '../../export/cof.ts'
import { readTimelines, recordOfSpan } from '../../export/timelines.ts'
import { HOST_TYPES, type InverseQuery, type InverseReader, type InverseSpan } from '../../store/port/inverse.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { type Network, parseNetwork, parseQueryAddress } from '../../values/ip-address.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import { formatPresentation } from '../../values/records/presentation.ts'
import { ApiError } from '../http/errors.ts'
import { type Parameters, readLimitParameter, readNameParameter, readQueryParameter } from '../http/parameters.ts'
import { NDJSON_TYPE } from '../http/request.ts'
import { authorizeHistory, maxStatesOf } from './dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from './endpoint.ts'
import {
  CURSOR_ERRORS,
  indexPositionText,
  parseIndexPosition,
  type RequestedPage,
  readPage,
  signNextCursor,
} from './paging.ts'
import { Type } from './schema.ts'

/** Spans that are read and formatted at once. */
const SPANS_PER_READ = 1_000
/** Reads of the index in one response. */
const MAX_READS = 100

export const pdns: Endpoint = {
  name: 'pdns',
  summary: 'Passive DNS of a name, an address or a network',
  description:
    'Lines of the passive DNS Common Output Format: one for each record and uninterrupted time in which it was seen. A ' +
    'name has the plan and the ceilings of `/dnshistory`, an address or a network those of `/reverseip`. After its own records, a name ' +
    'has those of other names that name it as a host (NS, MX, CNAME, SOA). It is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    query: Type.String({
      description: 'A domain, an address, or a network such as 192.0.2.0,24.',
      examples: ['example.com'],
    }),
  }),
  response: null,
  file: null,
  errors: ['plan_required', 'domain_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete'],
  authorize(caller, parameters) {
    if (readNetwork(parameters) === null) authorizeHistory(caller)
  },
  handle(call) {
    const network = readNetwork(call.parameters)
    return network === null ? handleName(call) : handleNetwork(call, network)
  },
}

/** The addresses of a query; null if it is not an address or a network. dnsdbq sends `ADDRESS,LENGTH` for a network. */
function readNetwork(parameters: Parameters): Network | null {
  const query = readQueryParameter(parameters)
  const address = parseQueryAddress(query)
  return address === null ? parseNetwork(query.replace(',', '/')) : { first: address, last: address }
}

/**
 * On the first page, the history of all types: at most as many states of each as the plan includes. Then the records of
 * other names that name it as a host. While the index of them is incomplete, they are left out.
 */
async function handleName(call: EndpointCall): Promise<EndpointResult> {
  const { parameters, caller, facts, inverse } = call
  const name = readNameParameter(parameters)
  const page = readPage(call, 'pdns', name)
  const maxStates = maxStatesOf(caller)
  const limit = readLimitParameter(parameters, maxStates, maxStates)
  const timelines = page.position === null ? await readTimelines(facts, name, RECORD_TYPES, limit) : []
  const lines = timelines.flatMap(({ type, timeline }) => cofLines(name, type, timeline))
  const truncated = timelines.filter(({ more }) => more).map(({ type }) => type)
  const headers = truncated.length === 0 ? [] : ['Truncated-Types', truncated.join(', ')]
  const query: InverseQuery = { by: 'hosts', host: name, match: 'exact', types: HOST_TYPES }
  const found = (await isComplete(inverse)) ? await readBackward(page, query, name) : NOTHING
  return {
    body: linesBody([...lines, ...found.lines]),
    type: NDJSON_TYPE,
    headers: [...headers, ...cursorHeader(page, found.position)],
    lastObserved: await facts.clocks(name),
  }
}

/** The domains that were ever on the addresses, and when. */
async function handleNetwork(call: EndpointCall, { first, last }: Network): Promise<EndpointResult> {
  const range = first === last ? first : `${first} to ${last}`
  const page = readPage(call, 'pdns', range)
  await requireCompleteIndex(call.inverse)
  const { lines, position } = await readBackward(page, { by: 'addresses', first, last }, null)
  if (lines.length === 0 && position === null && page.position === null)
    throw new ApiError('no_data', { msg: `No domain was ever observed on ${range}.` })
  const headers = cursorHeader(page, position)
  return { body: linesBody(lines), type: NDJSON_TYPE, headers, lastObserved: null }
}

/** Lines of an answer, and where the next page starts; null at the end. */
type BackwardPage = { lines: string[]; position: Uint8Array | null }
const NOTHING: BackwardPage = { lines: [], position: null }

/** One line for each span of a page of a query. `except`: the owner whose own records are left out. */
async function readBackward(
  { call: { facts, inverse }, limit, position: after }: RequestedPage,
  query: InverseQuery,
  except: DomainName | null,
): Promise<BackwardPage> {
  const lines: string[] = []
  let position = parseIndexPosition(after)
  for (let reads = 0; reads < MAX_READS && lines.length < limit; reads++) {
    const page = await inverse.spans(query, {}, position, Math.min(SPANS_PER_READ, limit - lines.length))
    const spans = page.spans.filter(({ name }) => name !== except)
    lines.push(...(await Promise.all(spans.map((span) => spanLine(facts, span)))).flat())
    position = page.position
    if (position === null) break
    await yieldToEventLoop()
  }
  return { lines, position }
}

async function spanLine(facts: EndpointCall['facts'], span: InverseSpan): Promise<string[]> {
  const { name, data, first, last } = span
  const record = await recordOfSpan(facts, span)
  return record === null ? [] : [cofLine(name, data.type, formatPresentation(data.type, record), first, last)]
}

/** Throws `index_incomplete` while the index of a store that is older than it is filled. */
export async function requireCompleteIndex(inverse: InverseReader): Promise<void> {
  const { share } = await inverse.progress()
  if (share >= 1) return
  const msg = `The index of records is being built (${Math.floor(share * 100)} % done): try again later.`
  throw new ApiError('index_incomplete', { msg, retryAfter: INDEX_RETRY_SECONDS })
}

const INDEX_RETRY_SECONDS = 60

async function isComplete(inverse: InverseReader): Promise<boolean> {
  return (await inverse.progress()).share >= 1
}

function cursorHeader({ call, scope }: RequestedPage, position: Uint8Array | null): string[] {
  if (position === null) return []
  return ['Next-Cursor', signNextCursor(call, scope, indexPositionText(position)!)]
}

function linesBody(lines: readonly string[]): string[] {
  return [lines.map((line) => `${line}\n`).join('')]
}
