/** The rows of the DNSDB API: the sets of records of owners, and the owners of data, in batches as they are read. */

import { periodsOf, recordSpans } from '../../export/cof.ts'
import { readTimelines, recordOfSpan, type TypeTimeline } from '../../export/timelines.ts'
import type { NameFilter } from '../../search/name-query.ts'
import type { NameSearch } from '../../search/pattern.ts'
import type { InverseReader, InverseSpan, TimeFence } from '../../store/port/inverse.ts'
import type { FactsReader } from '../../store/port/store.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { type DomainName, parseName, registrableDomain } from '../../values/domain-name.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import { formatAbsolutePresentation, formatPresentation } from '../../values/records/presentation.ts'
import type { Instant } from '../../values/time.ts'
import type { RrsetTarget } from './lookup-request.ts'
import { isSoaOf, type RdataSearch } from './raw-data.ts'

/**
 * A row: the data of a set, or of one record. `bailiwick` null: the row is that of one record. `count`: how many
 * observations of it are known by their time, which are the first and the last of each uninterrupted time.
 */
export type DnsdbRow = {
  name: DomainName
  type: RecordType
  rdata: readonly string[]
  bailiwick: DomainName | null
  first: Instant
  last: Instant
  count: number
}

/** Batches of rows, which may be empty. Returns whether the bound of a request ended them. */
export type RowBatches = AsyncGenerator<DnsdbRow[], boolean>

type RowReaders = { facts: FactsReader; inverse: InverseReader }

/** The newest states of each type of a name that is asked for alone, and of one found by a wildcard. */
const MAX_STATES = 1_000
const MAX_STATES_OF_FOUND = 100
/** The names that a wildcard or a flexible search may find, and how many are read at once. */
const MAX_OWNERS = 50_000
const OWNERS_PER_PAGE = 100
/** Pages of names that a flexible search reads of which few match. Each reads at most 20,000 names. */
const MAX_POOR_PAGES = 20
const OWNERS_AT_ONCE = 10
/** The spans and the pages of spans that one request reads. */
const MAX_SPANS = 300_000
const MAX_SPAN_PAGES = 400
const MIN_SPANS_PER_PAGE = 100
const MAX_SPANS_PER_PAGE = 1_000

/** The sets of records of a target: of each name by type, the latest first. */
export async function* rrsetRows(readers: RowReaders, target: RrsetTarget, isAggregated: boolean): RowBatches {
  const { name, match, types } = target
  if (name === null || types.length === 0) return false
  if (match === 'below' && target.bailiwick?.endsWith(`.${name}`))
    return yield* zoneRows(readers, target.bailiwick, types, isAggregated)
  if (match !== 'exact') return yield* wildcardRows(readers, name, { ...target, match }, isAggregated)
  const owner = name as DomainName
  if (!isInBailiwick(owner, target.bailiwick)) return false
  const timelines = await readTimelines(readers.facts, owner, types, MAX_STATES)
  yield timelines.flatMap((timeline) => setRows(owner, timeline, isAggregated))
  return timelines.some(({ more }) => more)
}

/** Of a zone and all names below it. No other name is read, so a client can read a large domain zone by zone. */
async function* zoneRows(
  readers: RowReaders,
  zone: string,
  types: RrsetTarget['types'],
  isAggregated: boolean,
): RowBatches {
  const all = { types, bailiwick: null }
  const isCut = yield* rrsetRows(readers, { ...all, name: parseName(zone), match: 'exact' }, isAggregated)
  const isCutBelow = yield* rrsetRows(readers, { ...all, name: zone, match: 'below' }, isAggregated)
  return isCut || isCutBelow
}

type WildcardTarget = RrsetTarget & { match: 'below' | 'starting' }

async function* wildcardRows(
  readers: RowReaders,
  name: string,
  { match, types, bailiwick }: WildcardTarget,
  isAggregated: boolean,
): RowBatches {
  const query = { by: match === 'below' ? 'below' : 'start', text: match === 'below' ? name : `${name}.` } as const
  const isAsked = (owner: DomainName): boolean => isInBailiwick(owner, bailiwick)
  const rowsOf: RowsOfType = (owner, timeline) => setRows(owner, timeline, isAggregated)
  return yield* foundRows(readers, { query, filter: null }, isAsked, types, rowsOf)
}

/**
 * One row for each name of a flexible search and type of its records, without data: from the first to the last time
 * that it had some.
 */
export function flexibleRows(
  readers: RowReaders,
  search: NameSearch,
  exclude: NameFilter | null,
  types: readonly RecordType[],
): RowBatches {
  const isAsked = (owner: DomainName): boolean => exclude === null || !exclude(owner)
  return foundRows(readers, search, isAsked, types, (owner, timeline) =>
    mergeRows(setRows(owner, timeline, true), () => '').map((row) => ({ ...row, rdata: [] })),
  )
}

type RowsOfType = (owner: DomainName, timeline: TypeTimeline) => DnsdbRow[]

/** The rows of found names, by name and type. */
async function* foundRows(
  { facts, inverse }: RowReaders,
  { query, filter }: NameSearch,
  isAsked: (owner: DomainName) => boolean,
  types: readonly RecordType[],
  rowsOf: RowsOfType,
): RowBatches {
  let position: Uint8Array | null = null
  let isCut = false
  for (let owners = 0, poor = 0; owners < MAX_OWNERS && poor < MAX_POOR_PAGES; owners += OWNERS_PER_PAGE) {
    const page = await inverse.names(query, filter, position, OWNERS_PER_PAGE)
    const names = page.names.filter(isAsked)
    for (let at = 0; at < names.length; at += OWNERS_AT_ONCE) {
      const some = names.slice(at, at + OWNERS_AT_ONCE)
      const found = await Promise.all(some.map((each) => readTimelines(facts, each, types, MAX_STATES_OF_FOUND)))
      isCut ||= found.some((timelines) => timelines.some(({ more }) => more))
      yield found.flatMap((timelines, index) => timelines.flatMap((each) => rowsOf(some[index]!, each)))
      await yieldToEventLoop()
    }
    if (page.position === null) return isCut
    position = page.position
    if (page.names.length < OWNERS_PER_PAGE) poor++
  }
  return true
}

/** Whether a name is the bailiwick or below it. Where a zone begins is not observed. */
function isInBailiwick(name: DomainName, bailiwick: string | null): boolean {
  return bailiwick === null || bailiwick === '.' || name === bailiwick || name.endsWith(`.${bailiwick}`)
}

/** One row for each set and uninterrupted time, or for each set. A time without records has no row. */
function setRows(name: DomainName, { type, timeline }: TypeTimeline, isAggregated: boolean): DnsdbRow[] {
  const rows: DnsdbRow[] = []
  for (const { first_seen, last_seen, records } of periodsOf(timeline)) {
    if (records.length === 0) continue
    const rdata = records.map((record) => formatAbsolutePresentation(type, record))
    rows.push({ ...timesOf(first_seen, last_seen), name, type, rdata, bailiwick: registrableDomain(name) })
  }
  const merged = isAggregated ? mergeRows(rows, ({ rdata }) => JSON.stringify(rdata)) : rows
  return merged.sort((a, b) => b.last - a.last || b.first - a.first)
}

function timesOf(first: Instant, last: Instant): Pick<DnsdbRow, 'first' | 'last' | 'count'> {
  return { first, last, count: first === last ? 1 : 2 }
}

function mergeRows(rows: readonly DnsdbRow[], keyOf: (row: DnsdbRow) => string): DnsdbRow[] {
  return [...Map.groupBy(rows, keyOf).values()].map((same) => ({
    ...same[0]!,
    first: Math.min(...same.map(({ first }) => first)),
    last: Math.max(...same.map(({ last }) => last)),
    count: same.reduce((sum, { count }) => sum + count, 0),
  }))
}

/** How the spans of searches are read. `wanted`: how many rows the request can use. */
type SpanSelection = { fence: TimeFence; isAggregated: boolean; wanted: number }

/** The owners of data, one search after the other, in the order of the index. */
export async function* rdataRows(
  readers: RowReaders,
  searches: readonly RdataSearch[],
  selection: SpanSelection,
): RowBatches {
  const budget: SpanBudget = { spans: MAX_SPANS, pages: MAX_SPAN_PAGES, isExceeded: false }
  let isCut = false
  for (const search of searches) {
    for await (const spans of mergedSpans(readers.inverse, search, selection, budget)) {
      const { rows, more } = await readRows(readers.facts, search, selection, spans)
      isCut ||= more
      yield rows
      await yieldToEventLoop()
    }
    if (budget.isExceeded) return true
  }
  return isCut
}

/** What one request may still read. */
type SpanBudget = { spans: number; pages: number; isExceeded: boolean }

type CountedSpan = InverseSpan & { count: number }

/**
 * The spans of a search in batches. If rows are aggregated, those of one name and data are one, from the first to the
 * last. A fence is then none of the index: it bounds the times of a row, not of a span.
 */
async function* mergedSpans(
  inverse: InverseReader,
  { query, priority, soa }: RdataSearch,
  { fence, isAggregated, wanted }: SpanSelection,
  budget: SpanBudget,
): AsyncGenerator<CountedSpan[]> {
  const isMerged = isAggregated || soa !== null
  let size = Math.min(MAX_SPANS_PER_PAGE, Math.max(MIN_SPANS_PER_PAGE, wanted))
  let open: CountedSpan | null = null
  let position: Uint8Array | null = null
  do {
    const page = await inverse.spans(query, isMerged ? {} : fence, position, size)
    position = page.position
    budget.spans -= page.spans.length
    budget.pages--
    size = Math.min(MAX_SPANS_PER_PAGE, size * 2)
    const ready: CountedSpan[] = []
    for (const span of page.spans) {
      if (priority !== null && !(span.data.type === 'MX' && span.data.priority === priority)) continue
      if (soa !== null && !(span.data.type === 'SOA' && span.data.role === 'primary_nameserver')) continue
      const counted: CountedSpan = { ...span, count: timesOf(span.first, span.last).count }
      if (open !== null && isMerged && isSameRecord(open, counted)) open = mergeSpans(open, counted)
      else {
        if (open !== null) ready.push(open)
        open = counted
      }
    }
    yield ready
  } while (position !== null && budget.spans > 0 && budget.pages > 0)
  budget.isExceeded = position !== null
  // a merged span at the bound may lack its later times, so it is left out
  if (open !== null && (position === null || !isMerged)) yield [open]
}

function isSameRecord(a: InverseSpan, b: InverseSpan): boolean {
  return a.name === b.name && JSON.stringify(a.data) === JSON.stringify(b.data)
}

function mergeSpans(a: CountedSpan, b: CountedSpan): CountedSpan {
  return { ...a, first: Math.min(a.first, b.first), last: Math.max(a.last, b.last), count: a.count + b.count }
}

type ReadRows = { rows: DnsdbRow[]; more: boolean }

async function readRows(
  facts: FactsReader,
  { soa }: RdataSearch,
  { isAggregated }: SpanSelection,
  spans: readonly CountedSpan[],
): Promise<ReadRows> {
  if (soa !== null) {
    const found = await Promise.all(spans.map(({ name }) => soaRows(facts, name, soa, isAggregated)))
    return { rows: found.flatMap(({ rows }) => rows), more: found.some(({ more }) => more) }
  }
  const records = await Promise.all(spans.map((span) => recordOfSpan(facts, span)))
  const rows = spans.flatMap(({ name, data: { type }, first, last, count }, index): DnsdbRow[] => {
    const record = records[index]!
    if (record === null) return []
    return [{ name, type, rdata: [formatAbsolutePresentation(type, record)], bailiwick: null, first, last, count }]
  })
  return { rows, more: false }
}

/** The times in which a name showed exactly this SOA: the index knows only the times of its names. */
async function soaRows(
  facts: FactsReader,
  name: DomainName,
  soa: Uint8Array,
  isAggregated: boolean,
): Promise<ReadRows> {
  const [found] = await readTimelines(facts, name, ['SOA'], MAX_STATES)
  const { timeline, more } = found!
  const states = timeline.states.map((state) => ({
    ...state,
    records: state.records.filter((record) => isSoaOf(formatPresentation('SOA', record), soa)),
  }))
  const [record] = states.flatMap(({ records }) => records)
  const rows = recordSpans('SOA', { ...timeline, states })
    .sort((a, b) => b.last - a.last)
    .map(({ first, last }) => ({
      ...timesOf(first, last),
      name,
      type: 'SOA' as const,
      rdata: [formatAbsolutePresentation('SOA', record!)],
      bailiwick: null,
    }))
  return { rows: isAggregated ? mergeRows(rows, () => '') : rows, more }
}
