/** GET /search: the known names that contain a text, or match a pattern or a regular expression. */

import { type NameSearch, parseSearch } from '../../../search/pattern.ts'
import type { NameSummary } from '../../../store/port/store.ts'
import { yieldToEventLoop } from '../../../store/shared/event-loop.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { ApiError, SESSION_ERRORS } from '../../http/errors.ts'
import { readTextParameter } from '../../http/parameters.ts'
import { answerJson } from '../answer-json.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { instantJson } from '../profiles/moment.ts'
import {
  DomainSchema,
  exactObject,
  limitParameter,
  nullable,
  PageMetaSchemas,
  PageParameterSchemas,
  planLimitsText,
  RegisteredSchema,
  Type,
  UtcInstantSchema,
  yesNoSchema,
} from '../schema.ts'
import { FilterParameterSchemas, type NameFilters, readFilters } from './filters.ts'

const DEFAULT_ROWS = 100
/** Names whose facts are read at once. */
const NAMES_PER_READ = 500
/** Names whose facts one request reads, about 100 milliseconds: the filters may reject all of them. */
const MAX_SUMMARIES = 5_000
/** Reads of the index of one request that find fewer names than wanted. Each reads at most 20,000 names. */
const MAX_POOR_READS = 4

const RowSchemas = {
  name: DomainSchema,
  first_seen: nullable(UtcInstantSchema, 'The first observation of a record or a website; null: none yet.'),
  registered: RegisteredSchema,
  observed: nullable(UtcInstantSchema, 'The newest observation of its DNS; null: none yet.'),
  ip: nullable(Type.String(), 'As in `/lookup`; null: not known.'),
  has_website: nullable(yesNoSchema('Whether it has a website.'), 'Whether it has a website; null: not observed.'),
  redirects_to: nullable(DomainSchema, 'The other domain to which it redirects.'),
}
export const SEARCH_FIELDS = Object.keys(RowSchemas)

export const search: Endpoint = {
  name: 'search',
  summary: 'Find names by a part of them',
  description:
    'The known names that contain a text, also those that were never observed. `bank*` finds names that begin with a ' +
    'text, `*.bank` those below a suffix, `?` stands for one character and `[a-z]` for one of a set. Between slashes, ' +
    '`q` is a regular expression of RE2. Three fixed characters in a row are needed, without those of the last ' +
    'label at the end of the names. One text at the start or at the end may be shorter. Names that begin with the text ' +
    'come first, then in the order of what follows the text. A page may be short before the last. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    q: Type.String({
      description: 'A text, a pattern, or a regular expression between slashes.',
      examples: ['bank', 'bank*', '*.bank', 'paypa[l1]*.com', '/^(login|secure)-?bank/'],
    }),
    ...FilterParameterSchemas,
    limit: Type.Optional(limitParameter(DEFAULT_ROWS, `${planLimitsText('pageRows')}.`)),
    next: PageParameterSchemas.next,
  }),
  response: exactObject({
    meta: exactObject({ query: Type.String({ description: 'The `q` of the request.' }), ...PageMetaSchemas }),
    result: Type.Array(exactObject(RowSchemas)),
  }),
  file: null,
  errors: ['search_invalid', 'date_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  handle: findNames,
}

async function findNames(call: EndpointCall): Promise<EndpointResult> {
  const { parameters, caller, inverse } = call
  const text = readTextParameter(parameters, 'q', 'search_invalid')
  if (text === null) throw new ApiError('search_invalid')
  const found = parseSearch(text)
  if (typeof found === 'string') throw new ApiError('search_invalid', { msg: found })
  const filters = readFilters(parameters, caller.now)
  const limits = { fallback: DEFAULT_ROWS, max: caller.limits.pageRows }
  const page = readPage(call, 'search', JSON.stringify([text, filters.asked]), limits)
  await requireCompleteIndex(inverse)
  const start = parseIndexPosition(page.position)
  const { rows, position } = await readRows(call, withSuffix(found, filters), filters, start, page.limit)
  if (rows.length === 0 && position === null && start === null)
    throw new ApiError('no_data', { msg: 'No known name matches.' })
  return {
    body: pageBody(page, [`"query":${JSON.stringify(text)}`], rows, indexPositionText(position)),
    lastObserved: null,
  }
}

/** The search without the names outside of a suffix. */
function withSuffix({ query, filter }: NameSearch, { suffix }: NameFilters): NameSearch {
  if (suffix === null) return { query, filter }
  return { query, filter: (name) => name.endsWith(suffix) && (filter === null || filter(name)) }
}

/** Reads names until the page is full, or until the request has read as much as one may. */
async function readRows(
  call: EndpointCall,
  search: NameSearch,
  filters: NameFilters,
  start: Uint8Array | null,
  limit: number,
): Promise<{ rows: string[]; position: Uint8Array | null }> {
  const rows: string[] = []
  let position = start
  let [summaries, poor] = [0, 0]
  while (rows.length < limit && summaries < MAX_SUMMARIES && poor < MAX_POOR_READS) {
    const missing = limit - rows.length
    const names = filters.areNone ? missing : Math.max(missing, NAMES_PER_READ)
    const wanted = Math.min(names, MAX_SUMMARIES - summaries)
    const read = await readNames(call, search, filters, { position, wanted, missing })
    rows.push(...read.rows)
    position = read.position
    if (position === null) break
    summaries += read.names
    if (read.names < wanted && rows.length < limit) poor++
  }
  return { rows, position }
}

/**
 * Reads at most `wanted` names, and ends after the row number `missing`. A page of the index is used whole, because its
 * position is after its last name, so one with too many rows is read again up to the last of them.
 */
async function readNames(
  { facts, inverse }: EndpointCall,
  { query, filter }: NameSearch,
  filters: NameFilters,
  { position, wanted, missing }: { position: Uint8Array | null; wanted: number; missing: number },
): Promise<{ rows: string[]; names: number; position: Uint8Array | null }> {
  for (let count = wanted; ; ) {
    const page = await inverse.names(query, filter, position, count)
    const rows: string[] = []
    let end = 0
    while (end < page.names.length && rows.length < missing) {
      const names = page.names.slice(end, end + NAMES_PER_READ)
      const known = await facts.summaries(names)
      for (const [index, summary] of known.entries()) {
        end++
        if (summary !== null && filters.accepts(summary)) rows.push(rowJson(names[index]!, summary))
        if (rows.length === missing) break
      }
      await yieldToEventLoop()
    }
    if (end === page.names.length) return { rows, names: end, position: page.position }
    count = end
  }
}

function rowJson(name: DomainName, { first_seen, registered, dns, facts: { ip, web } }: NameSummary): string {
  const times = `"first_seen":${instantJson(first_seen)},"registered":${JSON.stringify(registered)},"observed":${instantJson(dns)}`
  const website = `"has_website":${answerJson(web?.has_website ?? null)},"redirects_to":${JSON.stringify(web?.redirects_to ?? null)}`
  return `{"name":"${name}",${times},"ip":${JSON.stringify(ip)},${website}}`
}
