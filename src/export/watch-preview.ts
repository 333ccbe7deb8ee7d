/**
 * What a watch would have matched since a moment, as far as the store keeps it. Each part is one key, or a range of keys
 * of which a bounded number is read.
 */

import { BrandLookalikes } from '../lookalikes/lookalikes.ts'
import { type NameSearch, parseSearch } from '../search/pattern.ts'
import type { InverseQuery, InverseReader, TimeFence } from '../store/port/inverse.ts'
import type { FactsReader, NameSummary } from '../store/port/store.ts'
import { yieldToEventLoop } from '../store/shared/event-loop.ts'
import type { DomainName } from '../values/domain-name.ts'
import { parseNetwork } from '../values/ip-address.ts'
import { dayOf, type Instant } from '../values/time.ts'
import { type DifferenceType, typesOfKind, type WatchKind } from '../values/watch-kind.ts'
import { brandOfValue, type WatchRule } from '../watch/watch.ts'
import { readNameChanges } from './name-changes.ts'

/**
 * A change that a watch would have matched. `name`: null for a certificate that a log published. `observed_at`: of what
 * disappeared, its last observation; null for a name that a list added and nobody has observed.
 */
export type PreviewRow = { name: DomainName | null; observed_at: Instant | null; type: DifferenceType }
/** `types`: the differences that were looked for. `isComplete`: whether there are no further rows of these types. */
export type WatchPreview = { rows: PreviewRow[]; types: readonly DifferenceType[]; isComplete: boolean }

type Readers = { facts: FactsReader; inverse: InverseReader }
type Position = Uint8Array | null
/**
 * One part of a preview, page by page. `position`: where the next page starts; null at the end. `isCut`: whether rows of
 * the page are missing.
 */
type Part = (position: Position) => Promise<{ rows: PreviewRow[]; position: Position; isCut?: boolean }>
type Question = Readers & Pick<WatchRule, 'value' | 'threshold'> & { since: Instant }
/** `types`: the differences of the kind that the store can say something about. */
type KindPreview = { types: readonly DifferenceType[]; parts: (question: Question) => Part[] }

/** Maximum of rows of a preview. */
export const MAX_PREVIEW_ROWS = 100
/** Pages of one part that are read at most, and names or spans of a page. */
const MAX_PAGES = 4
const PAGE_SIZE = 1_000
/** Certificates of which a page reads who presented them. */
const CERTIFICATES_PER_PAGE = 50

/** Null: nothing that the store keeps says it. The texts of former start pages are not kept. */
const KIND_PREVIEWS: Record<WatchKind, KindPreview | null> = {
  name: { types: typesOfKind('name'), parts: (question) => [partOfName(question)] },
  suffix: {
    types: ['new'],
    parts: (question) => [newNames(question, { query: { by: 'below', text: question.value }, filter: null })],
  },
  pattern: {
    types: ['new'],
    parts: (question) => [newNames(question, parseSearch(question.value) as NameSearch)],
  },
  address: { types: ['records'], parts: (question) => spansOf(question, [addressQuery(question.value)]) },
  nameserver: { types: ['records'], parts: (question) => spansOf(question, hostQueries(question.value, 'NS')) },
  mailserver: { types: ['records'], parts: (question) => spansOf(question, hostQueries(question.value, 'MX')) },
  redirect: { types: ['redirect'], parts: redirectParts },
  certificate: { types: ['certificate'], parts: (question) => [partOfCertificates(question)] },
  text: null,
  lookalikes: { types: ['new'], parts: (question) => [newLookalikes(question)] },
}

/**
 * Reads a preview: at most 100 rows, those of a name newest first, others in the order of the index. Null if the kind has
 * none.
 */
export async function readWatchPreview(
  { facts, inverse }: Readers,
  { kind, value, types, threshold }: WatchRule,
  since: Instant,
): Promise<WatchPreview | null> {
  const preview = KIND_PREVIEWS[kind]
  if (preview === null) return null
  const asked = preview.types.filter((type) => types === null || types.includes(type))
  const rows = new Map<string, PreviewRow>()
  let isComplete = true
  for (const part of asked.length === 0 ? [] : preview.parts({ facts, inverse, value, threshold, since })) {
    let position: Position = null
    for (let pages = 0; pages < MAX_PAGES && rows.size <= MAX_PREVIEW_ROWS; pages++) {
      const page = await part(position)
      for (const row of page.rows)
        if (asked.includes(row.type)) rows.set(`${row.type} ${row.observed_at} ${row.name}`, row)
      if (page.isCut) isComplete = false
      position = page.position
      if (position === null) break
      await yieldToEventLoop()
    }
    if (position !== null) isComplete = false
  }
  return {
    rows: [...rows.values()].slice(0, MAX_PREVIEW_ROWS),
    types: asked,
    isComplete: isComplete && rows.size <= MAX_PREVIEW_ROWS,
  }
}

function partOfName({ facts, value, since }: Question): Part {
  const name = value as DomainName
  return async () => {
    const [summary] = await facts.summaries([name])
    if (summary == null) return { rows: [], position: null }
    const { changes, isCut } = await readNameChanges(facts, name, since, MAX_PREVIEW_ROWS)
    const rows = changes.map(({ type, at }): PreviewRow => ({ name, observed_at: at, type }))
    if (isNewSince(summary, since)) rows.push({ name, observed_at: summary.first_seen, type: 'new' })
    return { rows, position: null, isCut }
  }
}

/** A name that a zone or a list reported earlier was known before its first observation. */
function isNewSince({ first_seen, registered }: NameSummary, since: Instant): boolean {
  if (registered !== null) return registered >= dayOf(since)
  return first_seen !== null && first_seen >= since
}

function newNames(question: Question, { query, filter }: NameSearch): Part {
  return async (after) => {
    const { names, position } = await question.inverse.names(query, filter, after, PAGE_SIZE)
    return { rows: await newAmong(question, names), position }
  }
}

/** The candidates of a brand are found at once, as `/lookalikes` finds them, without those below every threshold. */
function newLookalikes(question: Question): Part {
  return async () => {
    const brand = new BrandLookalikes(brandOfValue(question.value))
    await yieldToEventLoop()
    const { names, isComplete } = await question.inverse.namesOfParts(brand.parts)
    const alike = names.filter((name) => (brand.judge(name)?.score ?? 0) >= question.threshold!).sort()
    const rows = await newAmong(question, alike.slice(0, PAGE_SIZE))
    return { rows, position: null, isCut: !isComplete || alike.length > PAGE_SIZE }
  }
}

/** The names that are new among some, at most 1,000. */
async function newAmong({ facts, since }: Question, names: readonly DomainName[]): Promise<PreviewRow[]> {
  const summaries = await facts.summaries(names)
  return names.flatMap((name, index): PreviewRow[] => {
    const summary = summaries[index]
    return summary != null && isNewSince(summary, since) ? [{ name, observed_at: summary.first_seen, type: 'new' }] : []
  })
}

function addressQuery(value: string): InverseQuery {
  const { first, last } = parseNetwork(value.includes('/') ? value : `${value}/${value.includes(':') ? 128 : 32}`)!
  return { by: 'addresses', first, last }
}

/** A host and those below it. */
function hostQueries(host: string, type: 'NS' | 'MX'): InverseQuery[] {
  return (['exact', 'below'] as const).map((match) => ({ by: 'hosts', host, match, types: [type] }))
}

/** The spans that began, and those that ended. */
function fencesOf(since: Instant): [began: TimeFence, ended: TimeFence] {
  return [{ firstAfter: since - 1 }, { lastAfter: since - 1, isEnded: true }]
}

function spansOf({ inverse, since }: Question, queries: readonly InverseQuery[]): Part[] {
  return fencesOf(since).flatMap((fence) =>
    queries.map(
      (query): Part =>
        async (after) => {
          const { spans, position } = await inverse.spans(query, fence, after, PAGE_SIZE)
          return { rows: rowsOf(spans, fence, 'records'), position }
        },
    ),
  )
}

function redirectParts({ inverse, value, since }: Question): Part[] {
  return fencesOf(since).map(
    (fence): Part =>
      async (after) => {
        const { spans, position } = await inverse.redirects(value as DomainName, fence, after, PAGE_SIZE)
        return { rows: rowsOf(spans, fence, 'redirect'), position }
      },
  )
}

type Span = { name: DomainName; first: Instant; last: Instant }

function rowsOf(spans: readonly Span[], { isEnded }: TimeFence, type: DifferenceType): PreviewRow[] {
  return spans.map(({ name, first, last }) => ({ name, observed_at: isEnded ? last : first, type }))
}

/** When names presented certificates with a name, its wildcard or a name below it, and when logs published them. */
function partOfCertificates({ facts, inverse, value, since }: Question): Part {
  return async (after) => {
    const { hosts, position } = await inverse.namedHosts(value as DomainName, after, CERTIFICATES_PER_PAGE)
    const sha256s = [...new Set(hosts.map(({ sha256 }) => sha256))]
    const known = await facts.certificates(sha256s)
    const logged = known.map((each) => each?.logged_at ?? 0).filter((at) => at >= since)
    const pages = await Promise.all(sha256s.map((sha256) => inverse.presented(sha256, null, PAGE_SIZE)))
    const began = pages.flatMap(({ spans }) => spans).filter(({ first }) => first >= since)
    const isCut = pages.some((page) => page.position !== null)
    const rows = [
      ...rowsOf(began, {}, 'certificate'),
      ...logged.map((at): PreviewRow => ({ name: null, observed_at: at, type: 'certificate' })),
    ]
    return { rows, position, isCut }
  }
}
