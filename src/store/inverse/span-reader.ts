/** Reads pages of the spans of the inverse index. */

import { positionOf, startEvent } from '../../inverse/entries/block.ts'
import {
  addressKey,
  certificateKey,
  hostItselfPrefix,
  hostKey,
  hostPrefix,
  latin1Bytes,
  namedHostPrefix,
  nameOfSetKey,
  nameSetKey,
  type ParsedKey,
  parseEntryKey,
  parseNamedHostKey,
  redirectPrefix,
  SOA_ROLES,
  textKey,
} from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { addressFamily } from '../../values/ip-address.ts'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import type {
  CertificateSpanPage,
  HostType,
  InverseQuery,
  InverseSpan,
  NamedHostPage,
  RedirectSpanPage,
  SpanData,
  SpanPage,
  TimeFence,
} from '../port/inverse.ts'
import { clockOfPart, type StoredClocks } from '../shared/columns.ts'
import {
  furtherLabels,
  type InverseRead,
  joinPosition,
  type KeyRange,
  prefixRange,
  readKeys,
  scan,
  splitPosition,
  successor,
} from './scan.ts'

/** Entries of one page that are read at most, about 10 milliseconds: a fence may exclude all of them. */
const MAX_SCANNED_ENTRIES = 10_000
/** Hosts after whose labels others follow (`example.*`), of one page. */
const MAX_HOSTS_PER_PAGE = 100
/** The entries of one page as spans. `end`: the position after the last one. */
type FoundSpans = { spans: OpenSpan[]; end: string | null; scanned: number }
/** `last` is null while the record was still there at the newest observation of its type. */
type OpenSpan = { data: FoundData; name: DomainName; first: Instant; last: Instant | null }
type FoundData = SpanData | { type: 'web'; host: DomainName } | { type: 'certificate' }
type FoundSpan = OpenSpan & { last: Instant }

/** Reads one page of spans (`InverseReader.spans`). */
export function* readSpans(
  query: InverseQuery,
  fence: TimeFence,
  position: Uint8Array | null,
  limit: number,
): InverseRead<SpanPage> {
  const after = position === null ? null : Buffer.from(position).toString('latin1')
  if (query.by === 'hosts' && query.match === 'starting') return yield* readHostsStarting(query, fence, after, limit)
  const types = query.by === 'hosts' ? query.types : null
  const bounds = { limit, maxScanned: MAX_SCANNED_ENTRIES }
  const found = yield* readRanges(rangesOf(query), types, fence, after, bounds)
  return yield* pageOf(query, fence, found.spans, found.end)
}

/** Reads one page of redirects (`InverseReader.redirects`). */
export function* readRedirects(
  target: DomainName,
  fence: TimeFence,
  position: Uint8Array | null,
  limit: number,
): InverseRead<RedirectSpanPage> {
  const found = yield* readPrefix(redirectPrefix(target), fence, position, limit)
  const spans = found.spans.map(({ data, name, first, last }) => {
    return { host: (data as Extract<FoundData, { type: 'web' }>).host, name, first, last }
  })
  return { spans, position: found.position }
}

/** Reads one page of the times in which names presented a certificate (`InverseReader.presented`). */
export function* readPresented(
  sha256: string,
  position: Uint8Array | null,
  limit: number,
): InverseRead<CertificateSpanPage> {
  const found = yield* readPrefix(certificateKey(sha256), {}, position, limit)
  return { spans: found.spans.map(({ name, first, last }) => ({ name, first, last })), position: found.position }
}

/** Reads one page of names in certificates (`InverseReader.namedHosts`). */
export function* readNamedHosts(
  name: DomainName,
  position: Uint8Array | null,
  limit: number,
): InverseRead<NamedHostPage> {
  const after = position === null ? null : splitPosition(Buffer.from(position).toString('latin1')).host
  const range = prefixRange(namedHostPrefix(name))
  const { keys, end } = yield* readKeys(range, after === null ? null : positionOf(after, 0), limit)
  return { hosts: keys.map(parseNamedHostKey), position: end === null ? null : latin1Bytes(end) }
}

/** Reads one page of the spans whose keys begin with a prefix. */
function* readPrefix(
  prefix: string,
  fence: TimeFence,
  position: Uint8Array | null,
  limit: number,
): InverseRead<{ spans: FoundSpan[]; position: Uint8Array | null }> {
  const after = position === null ? null : Buffer.from(position).toString('latin1')
  const bounds = { limit, maxScanned: MAX_SCANNED_ENTRIES }
  const found = yield* readRanges([prefixRange(prefix)], null, fence, after, bounds)
  const spans = yield* closedSpans(fence, found.spans)
  return { spans, position: found.end === null ? null : latin1Bytes(found.end) }
}

/**
 * The hosts that start with labels, one after another, each with its spans. A position is that of a host in the set of
 * known hosts, its length, and the position in the spans of the host.
 */
function* readHostsStarting(
  query: Extract<InverseQuery, { by: 'hosts' }>,
  fence: TimeFence,
  after: string | null,
  limit: number,
): InverseRead<SpanPage> {
  const start = after === null ? null : splitPosition(after)
  const set = furtherLabels(nameSetKey('knownHost', query.host))
  const hosts = yield* readKeys(set, start === null ? null : positionOf(start.host, 0), MAX_HOSTS_PER_PAGE)
  const spans: OpenSpan[] = []
  let scanned = 0
  for (const [index, key] of hosts.keys.entries()) {
    const inner = index === 0 && start?.host === key ? start.inner : null
    const ranges = hostRanges(nameOfSetKey(key), query.types)
    const bounds = { limit: limit - spans.length, maxScanned: MAX_SCANNED_ENTRIES - scanned }
    const found = yield* readRanges(ranges, query.types, fence, inner, bounds)
    spans.push(...found.spans)
    scanned += found.scanned + 1
    if (found.end === null && spans.length < limit && scanned < MAX_SCANNED_ENTRIES) continue
    const next = found.end === null ? hosts.keys[index + 1] : key
    const end = next === undefined ? hosts.end : joinPosition(next, found.end ?? '')
    return yield* pageOf(query, fence, spans, end)
  }
  return yield* pageOf(query, fence, spans, hosts.end)
}

/** The spans of entries in ranges, at most `limit`. `types`: of the records that name hosts; null for all entries. */
function* readRanges(
  ranges: readonly KeyRange[],
  types: readonly HostType[] | null,
  fence: TimeFence,
  after: string | null,
  { limit, maxScanned }: { limit: number; maxScanned: number },
): InverseRead<FoundSpans> {
  const spans: OpenSpan[] = []
  let scanned = 0
  let resume: string | null = null
  let valueKey: string | null = null
  let data: FoundData | null = null
  const { next } = yield* scan(ranges, after, limit, (entry, fromEvent) => {
    if (spans.length >= limit || scanned >= maxScanned) return false
    scanned++
    const key = entry.keyText()
    if (valueKey === null || !key.startsWith(valueKey)) {
      const { value, name } = parseEntryKey(key)!
      valueKey = key.slice(0, key.length - name.length)
      data = types === null || value.kind !== 'host' || types.includes(value.type as HostType) ? dataOf(value) : null
    }
    if (data === null) return true
    for (const span of spansOf(data, key.slice(valueKey.length) as DomainName, entry.events, fromEvent)) {
      if (!isWithin(span, fence)) continue
      if (spans.length === limit) {
        resume = positionOf(key, startEvent(span.first))
        return false
      }
      spans.push(span)
    }
    return true
  })
  return { spans, end: resume ?? next, scanned }
}

/** Whether the times of a span are inside a fence, as far as they are known without a clock. */
function isWithin({ first, last }: OpenSpan, fence: TimeFence): boolean {
  const { firstBefore, firstAfter, lastBefore, lastAfter, isEnded } = fence
  if (isEnded && last === null) return false
  if (firstBefore !== undefined && first >= firstBefore) return false
  if (firstAfter !== undefined && first <= firstAfter) return false
  if (lastBefore !== undefined && (last ?? first) >= lastBefore) return false
  return lastAfter === undefined || last === null || last > lastAfter
}

/**
 * The spans of an entry: its pairs of events from `fromEvent` on. An end before the first start belongs to a span that
 * began earlier. Starts without an end between them are one span.
 */
function spansOf(data: FoundData, name: DomainName, events: readonly number[], fromEvent: number): OpenSpan[] {
  const spans: OpenSpan[] = []
  let first: Instant | null = null
  for (const event of events) {
    if (event < fromEvent) continue
    const at = Math.floor(event / 2)
    if (event % 2 === 0) first ??= at
    else if (first !== null) {
      spans.push({ data, name, first, last: at })
      first = null
    }
  }
  if (first !== null) spans.push({ data, name, first, last: null })
  return spans
}

function* pageOf(
  query: InverseQuery,
  fence: TimeFence,
  found: readonly OpenSpan[],
  end: string | null,
): InverseRead<SpanPage> {
  const spans = (yield* closedSpans(fence, found)) as InverseSpan[]
  if (query.by === 'text') for (const span of spans) span.data = { type: 'TXT', parts: query.parts }
  return { spans, position: end === null ? null : latin1Bytes(end) }
}

/** The spans inside a fence. Open ones end at the clock of what they show. */
function* closedSpans(fence: TimeFence, spans: readonly OpenSpan[]): InverseRead<FoundSpan[]> {
  const open = spans.filter(({ last }) => last === null)
  if (open.length === 0) return spans as FoundSpan[]
  const clocks = (yield { needs: 'clocks', names: open.map(({ name }) => name) }) as StoredClocks[]
  for (const [index, span] of open.entries())
    span.last = Math.max(span.first, clockOfPart(span.data.type, clocks[index]!))
  return spans.filter((span) => isWithin(span, fence)) as FoundSpan[]
}

function dataOf(value: ParsedKey): FoundData {
  if (value.kind === 'text') return { type: 'TXT', parts: [] }
  if (value.kind === 'redirect') return { type: 'web', host: value.host as DomainName }
  if (value.kind === 'certificate') return { type: 'certificate' }
  if (value.kind === 'address') {
    const { address } = value
    return { type: addressFamily(address) === 4 ? 'A' : 'AAAA', address }
  }
  const { host, type, detail } = value
  if (type === 'MX') return { type, host, priority: detail.charCodeAt(0) * 256 + detail.charCodeAt(1) }
  if (type === 'SOA') return { type, host, role: SOA_ROLES[detail as keyof typeof SOA_ROLES] }
  return { type: type as Extract<RecordType, 'NS' | 'CNAME'>, host }
}

function rangesOf(query: InverseQuery): KeyRange[] {
  if (query.by === 'text') return [prefixRange(textKey(query.parts))]
  if (query.by === 'addresses') return [{ from: addressKey(query.first), to: successor(addressKey(query.last)) }]
  return query.match === 'exact' ? hostRanges(query.host, query.types) : [furtherLabels(hostPrefix(query.host))]
}

/** In the order of keys. */
function hostRanges(host: string, types: readonly HostType[]): KeyRange[] {
  if (types.length > 1) return [prefixRange(hostItselfPrefix(host))]
  return types.map((type) => prefixRange(hostKey(host, type)))
}
