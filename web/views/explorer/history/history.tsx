/** /domain/NAME/history: a time line for each record type, and what changed from state to state. */

import { useState } from 'preact/hooks'
import { useLoaded } from '../../../client/loaded.ts'
import { pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../../parts/notice.tsx'
import { countOf } from '../../../parts/numbers.ts'
import { DataTools } from '../data/data-tools.tsx'
import { useFurtherPages } from '../data/pages.ts'
import { type HistoryBody, type HistoryState, profilePath, RECORD_TYPES, type RecordType } from '../data/responses.ts'
import { endpointCall } from '../data/snippets.ts'
import { ChangeList, SpanDetail } from './changes.tsx'
import { hasOlder, historyPath, historyTypeOf, typeSpans } from './history-data.ts'
import type { Span } from './records.ts'
import { TimeLine } from './time-line.tsx'

export function History({ name }: { name: string }) {
  const { loaded, retry } = useLoaded<HistoryBody>(historyPath(name, null))
  const type = historyTypeOf(useSignal(pageAddress).query)
  return (
    <LoadedView loaded={loaded} what={`the DNS history of ${name}`} onRetry={retry}>
      {(body) => (
        <div class="stack">
          <TypeChips name={name} body={body} current={type} />
          {type === null ? (
            <AllTypes name={name} body={body} />
          ) : (
            <OneType key={type} name={name} body={body} type={type} />
          )}
        </div>
      )}
    </LoadedView>
  )
}

function TypeChips({ name, body, current }: { name: string; body: HistoryBody; current: RecordType | null }) {
  const path = `${profilePath(name)}/history`
  return (
    <nav class="chips" aria-label="Record types">
      <a class="chip" href={path} aria-current={current === null ? 'page' : undefined}>
        All types
      </a>
      {RECORD_TYPES.map((type) => (
        <a key={type} class="chip" href={`${path}?type=${type}`} aria-current={type === current ? 'page' : undefined}>
          {type} <span class="chip-count">{body.meta.totals[type] ?? 0}</span>
        </a>
      ))}
    </nav>
  )
}

function AllTypes({ name, body }: { name: string; body: HistoryBody }) {
  const rows = RECORD_TYPES.map((type) => [type, typeSpans(body, type)] as const)
  const truncated = RECORD_TYPES.filter((type) => hasOlder(body, type))
  return (
    <>
      <HistoryView name={name} rows={rows.filter(([, spans]) => spans.length > 0)} json={body} type={null} />
      {truncated.length > 0 && (
        <p class="hint">
          Older states of {truncated.join(', ')} are not shown. Open a type to load them: 1 call for{' '}
          {countOf(body.meta.limit, 'state')}.
        </p>
      )}
    </>
  )
}

function OneType({ name, body, type }: { name: string; body: HistoryBody; type: RecordType }) {
  const oldest = body.result[type]?.at(-1)
  const first = hasOlder(body, type) && oldest !== undefined ? oldest.first_seen : null
  const further = useFurtherPages<HistoryState, HistoryBody & { meta: { next?: string } }>(
    `${name} ${type}`,
    first,
    (cursor) => historyPath(name, { type, before: cursor }),
    ({ result }) => result[type] ?? [],
  )
  const spans = typeSpans(body, type, further.rows, further.next === null)
  return (
    <>
      <HistoryView name={name} rows={[[type, spans]]} json={body.result[type]} type={type} />
      {further.error !== null && <ErrorBox error={further.error} onRetry={further.retry} />}
      {further.next !== null && further.error === null && (
        <Button onClick={further.more} isBusy={further.isLoading}>
          Load older states (1 call)
        </Button>
      )}
    </>
  )
}

type HistoryViewProps = {
  name: string
  rows: readonly (readonly [type: RecordType, spans: Span[]])[]
  json: unknown
  type: RecordType | null
}

function HistoryView({ name, rows, json, type }: HistoryViewProps) {
  const spans = rows.flatMap(([, each]) => each).toSorted((one, other) => (one.since < other.since ? 1 : -1))
  const [selected, setSelected] = useState<Span | null>(null)
  const shown = spans.find(({ type, since }) => type === selected?.type && since === selected.since) ?? spans[0]
  if (shown === undefined)
    return (
      <EmptyState title="No history">
        No {type ?? ''} record of {name} was ever observed.
      </EmptyState>
    )
  return (
    <Card title={type === null ? 'Time lines' : `Time line of ${type}`} aside="Hover a bar, or use the arrow keys">
      <TimeLine rows={rows} selected={shown} onSelect={setSelected} />
      <SpanDetail span={shown} />
      <ChangeList spans={spans} />
      <DataTools
        name={`${name}-history`}
        call={endpointCall('dnshistory', { query: name, ...(type !== null && { type }) })}
        json={json}
        rows={() => spans.flatMap(spanRows)}
      />
    </Card>
  )
}

/** One row for each record of a state; a state without records has one row without a record. */
function spanRows({ type, since, until, records }: Span) {
  const listed = records.length === 0 ? [''] : records
  return listed.map((record) => ({ type, first_seen: since, until: until ?? '', record }))
}
