/** What changed: the records of one state, and the list of all changes, newest first. */

import { useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { formatDay, formatUtc, parseInstant } from '../../../parts/text/times.ts'
import { Day } from '../../../parts/time.tsx'
import type { Span } from './history-data.ts'

const DAY_MS = 86_400_000

/** `A from 2026-01-02 until 2026-03-04`, or `until now`. A state of less than a day has its times. */
export function spanTitle(span: Span): string {
  const { type, since, until } = span
  const end = until === null ? new Date() : parseInstant(until)
  const format = end.getTime() - parseInstant(since).getTime() < DAY_MS ? formatUtc : formatDay
  return `${type} from ${format(parseInstant(since))} until ${until === null ? 'now' : format(end)}`
}

/** The records of a state. Those that came are marked, and those that went are struck out. */
export function SpanDetail({ span }: { span: Span }) {
  const marksCame = span.hasPrevious
  return (
    <section class="span-detail" aria-label="Selected state">
      <h3>
        {spanTitle(span)} <span class="hint">{durationOf(span)}</span>
      </h3>
      <ul class="record-changes">
        {span.records.map((record) => (
          <RecordChange key={record} record={record} kind={marksCame && span.came.includes(record) ? 'came' : 'same'} />
        ))}
        {span.records.length === 0 && <li class="hint">No records of this type.</li>}
        {span.went.map((record) => (
          <RecordChange key={`went ${record}`} record={record} kind="went" />
        ))}
      </ul>
    </section>
  )
}

type ChangeKind = 'came' | 'went' | 'same'
const CHANGE_WORDS: Record<ChangeKind, string> = { came: 'new', went: 'removed', same: '' }

function RecordChange({ record, kind }: { record: string; kind: ChangeKind }) {
  return (
    <li class={`record-change ${kind}`}>
      {kind !== 'same' && (
        <span class="change-mark">
          <Icon name={kind === 'came' ? 'plus' : 'minus'} />
          <span class="hidden">{CHANGE_WORDS[kind]}: </span>
        </span>
      )}
      <span class="mono wrap">{record}</span>
    </li>
  )
}

/** How long a state lasted, in days. */
function durationOf({ since, until }: Span): string {
  const end = until === null ? Date.now() : parseInstant(until).getTime()
  const days = Math.round((end - parseInstant(since).getTime()) / DAY_MS)
  return days < 1 ? 'less than a day' : `${days} ${days === 1 ? 'day' : 'days'}`
}

/** The changes that the list shows at first. */
const FIRST_CHANGES = 30

export function ChangeList({ spans }: { spans: readonly Span[] }) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? spans : spans.slice(0, FIRST_CHANGES)
  const withTimes = changesTwiceADay(spans)
  return (
    <section class="changes" aria-labelledby="changes">
      <h3 id="changes">Changes</h3>
      <ol>
        {shown.map((span) => (
          <li key={`${span.type} ${span.since}`} class="change">
            <span class="change-day">
              <Day at={span.since} withTime={withTimes} />
            </span>
            <span class="change-type">{span.type}</span>
            <ChangedRecords span={span} />
          </li>
        ))}
      </ol>
      {shown.length < spans.length && (
        <Button kind="quiet" isSmall onClick={() => setIsWhole(true)}>
          Show the other {spans.length - shown.length}
        </Button>
      )}
    </section>
  )
}

/** Whether a type changed twice on one day, so that the day alone does not tell its states apart. */
function changesTwiceADay(spans: readonly Span[]): boolean {
  const days = new Set(spans.map(({ type, since }) => `${type} ${formatDay(parseInstant(since))}`))
  return days.size < spans.length
}

function ChangedRecords({ span: { came, went, records, hasPrevious } }: { span: Span }) {
  const added = hasPrevious ? came : records
  return (
    <ul class="record-changes">
      {added.map((record) => (
        <RecordChange key={record} record={record} kind={hasPrevious ? 'came' : 'same'} />
      ))}
      {went.map((record) => (
        <RecordChange key={`went ${record}`} record={record} kind="went" />
      ))}
    </ul>
  )
}
