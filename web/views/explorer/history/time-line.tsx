/** A time line: one row of bars for each record type, one bar for each state. */

import { useMemo } from 'preact/hooks'
import { parseInstant } from '../../../parts/time.tsx'
import type { RecordType } from '../data/responses.ts'
import { spanTitle } from './changes.tsx'
import { placeOf, scaleOf, type TimeScale, ticksOf } from './history-data.ts'
import type { Span } from './records.ts'

type TimeLineProps = {
  rows: readonly (readonly [type: RecordType, spans: Span[]])[]
  selected: Span
  onSelect: (span: Span) => void
}

export function TimeLine({ rows, selected, onSelect }: TimeLineProps) {
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

type TypeRowProps = Omit<TimeLineProps, 'rows'> & { type: RecordType; spans: Span[]; scale: TimeScale }

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

/** The minimum width of a bar in percent, so that a short state can be seen and reached. */
const MIN_WIDTH = 1.2

type BarProps = { span: Span; scale: TimeScale; isSelected: boolean; isStop: boolean; onSelect: (span: Span) => void }

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
