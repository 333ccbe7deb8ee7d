/** /domain/NAME/history: a time line for each record type, and what changed from state to state. */

import { useMemo, useState } from 'preact/hooks'
import { useLoaded } from '../../../client/loaded.ts'
import { historyPath, profilePath } from '../../../client/paths.ts'
import { pageAddress } from '../../../client/router.ts'
import { useSignal } from '../../../client/signal.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, LoadedView } from '../../../parts/notice.tsx'
import { countOf } from '../../../parts/text/numbers.ts'
import { parseInstant } from '../../../parts/text/times.ts'
import { DataTools } from '../data/data-tools.tsx'
import { useFurtherPages } from '../data/pages.ts'
import { type HistoryBody, type HistoryState, RECORD_TYPES, type RecordType } from '../data/responses.ts'
import { endpointCall } from '../data/snippets.ts'
import { ChangeList, SpanDetail, spanTitle } from './changes.tsx'
import type { Span } from './history-data.ts'
import {
  hasOlder,
  historyTypeOf,
  placeOf,
  scaleOf,
  type TimeScale,
  ticksOf,
  totalText,
  typeSpans,
} from './history-data.ts'

type TimeLineProps = {
  rows: readonly (readonly [type: RecordType, spans: Span[]])[]
  selected: Span
  onSelect: (span: Span) => void
}

type TypeRowProps = Omit<TimeLineProps, 'rows'> & { type: RecordType; spans: Span[]; scale: TimeScale }

/** The minimum width of a bar in percent, so that a short state can be seen and reached. */
const MIN_WIDTH = 1.2

type BarProps = { span: Span; scale: TimeScale; isSelected: boolean; isStop: boolean; onSelect: (span: Span) => void }

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
          {type} <span class="chip-count">{totalText(body, type)}</span>
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

/** A time line: one row of bars for each record type, one bar for each state. */
function TimeLine({ rows, selected, onSelect }: TimeLineProps) {
  const now = useMemo(() => Date.now(), [])
  const scale = scaleOf(
    rows.flatMap(([, spans]) => spans),
    now,
  )
  return (
    <div class="time-line">
      {rows.map(([type, spans]) => (
        <TypeRow key={type} type={type} spans={spans} scale={scale} selected={selected} onSelect={onSelect} />
      ))}
      <Axis scale={scale} />
    </div>
  )
}

function TypeRow({ type, spans, scale, selected, onSelect }: TypeRowProps) {
  const isHere = selected.type === type
  return (
    <div class="time-row">
      <span class="time-type">{type}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: HTML has no element for a group inside a drawing */}
      <svg class="time-bars" width="100%" height="30" role="group" aria-label={`${type}: ${spans.length} states`}>
        {spans.toReversed().map((span, index) => {
          const isSelected = isHere && span.since === selected.since
          const isStop = isHere ? isSelected : index === spans.length - 1
          return (
            <Bar
              key={span.since}
              span={span}
              scale={scale}
              isSelected={isSelected}
              isStop={isStop}
              onSelect={onSelect}
            />
          )
        })}
      </svg>
    </div>
  )
}

/** `isStop`: the tab key stops here; the arrow keys reach the other bars of the row. */
function Bar({ span, scale, isSelected, isStop, onSelect }: BarProps) {
  const start = placeOf(scale, parseInstant(span.since).getTime())
  const end = span.until === null ? 100 : placeOf(scale, parseInstant(span.until).getTime())
  const width = Math.max(MIN_WIDTH, end - start)
  const select = (): void => onSelect(span)
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML has no button inside a drawing
    <rect
      class={`bar${span.records.length === 0 ? ' empty-state' : ''}${isSelected ? ' selected' : ''}`}
      x={`${Math.min(start, 100 - width)}%`}
      y="3"
      width={`${width}%`}
      height="24"
      rx="3"
      role="button"
      tabindex={isStop ? 0 : -1}
      aria-label={`${spanTitle(span)}: ${span.records.join(', ') || 'no records'}`}
      aria-pressed={isSelected}
      onMouseEnter={select}
      onFocus={select}
      onClick={select}
      onKeyDown={moveFocus}
    />
  )
}

/** Moves the focus to the bar before or after this one. */
function moveFocus(event: KeyboardEvent): void {
  const bar = event.currentTarget as SVGElement
  const targets: Record<string, Element | null | undefined> = {
    ArrowLeft: bar.previousElementSibling,
    ArrowRight: bar.nextElementSibling,
    Home: bar.parentElement?.firstElementChild,
    End: bar.parentElement?.lastElementChild,
  }
  const target = targets[event.key]
  if (!(target instanceof SVGElement)) return
  event.preventDefault()
  target.focus()
}

/** The side of a label that is at its tick: labels at the ends of the axis stay within it. */
function anchorOf(place: number): 'start' | 'middle' | 'end' {
  if (place < 10) return 'start'
  return place > 90 ? 'end' : 'middle'
}

function Axis({ scale }: { scale: TimeScale }) {
  return (
    <div class="time-row" aria-hidden="true">
      <span class="time-type" />
      <svg class="time-axis" width="100%" height="22" aria-hidden="true">
        {ticksOf(scale).map(({ place, label }) => (
          <g key={place}>
            <line x1={`${place}%`} x2={`${place}%`} y1="0" y2="5" />
            <text x={`${place}%`} y="18" text-anchor={anchorOf(place)}>
              {label}
            </text>
          </g>
        ))}
      </svg>
    </div>
  )
}
